"""When a verification ends: after the hold, early on what is hopeless, or when the time is up."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from sanare.api.policy import PolicySpec
from sanare.api.verdict import CheckResult, Result
from sanare.evaluator.converge import Convergence, Ended, first_probes_left
from sanare.evaluator.judge import assess, look_at, verdict_of
from sanare.evaluator.kinds import Kind
from sanare.evaluator.look import Look
from sanare.evaluator.seen import Seen, failed, passed, unknown
from tests.unit.evaluator.namespace import NOW, Namespace, ago, incident, shop

POLICY = PolicySpec.parse({"verify": {"convergeTimeout": "60s", "hold": "15s"}})
HEALTHY = [passed("rollout", "Deployment/web", "fine")]
WAITING = [failed("rollout", Kind.ROLLOUT_INCOMPLETE, "Deployment/web", "0 of 1 available")]


def look(at: float, namespace: Namespace | None = None) -> Look:
    """A look `at` seconds after the change."""
    taken = look_at((namespace or shop()).snapshot(), incident(), POLICY, now=NOW + timedelta(seconds=at))
    return replace(taken, since=NOW)


def state() -> Convergence:
    return Convergence(POLICY, NOW)


def end(answer: Ended | float) -> Ended:
    assert isinstance(answer, Ended)
    return answer


def test_healthy_once_is_not_enough() -> None:
    watched = state()
    assert watched.advance(look(2), HEALTHY) == 5.0
    assert watched.advance(look(14), HEALTHY) == pytest.approx(3.0)


def test_healthy_for_the_hold_ends_at_the_start_of_the_window() -> None:
    watched = state()
    watched.advance(look(2), HEALTHY)
    ended = end(watched.advance(look(17), HEALTHY))
    verdict = ended.stamped(verdict_of(ended.seen, look(17)))
    assert (verdict.result, verdict.healthy_since, verdict.observed_seconds) == (
        Result.FIXED,
        NOW + timedelta(seconds=2),
        2.0,
    )


def test_a_failure_in_between_starts_the_window_anew() -> None:
    watched = state()
    watched.advance(look(2), HEALTHY)
    watched.advance(look(10), WAITING)
    watched.advance(look(12), HEALTHY)
    assert isinstance(watched.advance(look(18), HEALTHY), float)
    assert end(watched.advance(look(27), HEALTHY)).healthy_since == NOW + timedelta(seconds=12)


def test_a_restart_during_the_hold_is_no_health() -> None:
    watched, restarted = state(), shop()
    watched.advance(look(2), HEALTHY)
    restarted.pod()["status"]["containerStatuses"][0]["restartCount"] = 1
    assert isinstance(watched.advance(look(20, restarted), HEALTHY), float)
    assert watched.healthy_since is None


def test_what_may_still_get_better_is_waited_for_until_the_time_is_up() -> None:
    watched = state()
    assert watched.advance(look(1), WAITING) == 5.0
    assert watched.advance(look(59), WAITING) == pytest.approx(2.0)
    ended = end(watched.advance(look(61), WAITING))
    verdict = ended.stamped(verdict_of(ended.seen, look(61)))
    assert verdict.result is Result.NOT_FIXED
    assert verdict.reason.endswith("0 of 1 available; still so after 1m")


def test_a_false_repair_ends_at_once() -> None:
    bitten = [failed("false-repair", Kind.SCALED_DOWN, "Deployment/web", "lowered", settles=0.0)]
    assert end(state().advance(look(1), bitten)).seen == bitten


def test_a_failure_that_stays_ends_early_and_one_that_goes_does_not() -> None:
    refused = [failed("reachability", Kind.UNREACHABLE, "Service/web", "refused", settles=5.0)]
    watched = state()
    assert watched.advance(look(1), refused) == 5.0
    watched.advance(look(3), WAITING)
    assert watched.advance(look(4), refused) == 5.0, "counted anew after it went"
    assert isinstance(watched.advance(look(9), refused), Ended)


@pytest.mark.parametrize(("kind", "held"), [(Kind.FORBIDDEN, True), (Kind.TIMEOUT, False), (Kind.UNKNOWN, False)])
def test_what_waiting_cannot_show_is_held_and_what_it_may_show_is_waited_for(kind: Kind, held: bool) -> None:
    blind = [unknown("list", kind, "Pod", "not seen")]
    watched = state()
    watched.advance(look(1), blind)
    assert (watched.healthy_since is not None) is held


def test_the_hold_lasts_until_the_kubelet_has_run_an_exec_probe_once() -> None:
    probed = shop(livenessProbe={"exec": {"command": ["check"]}, "initialDelaySeconds": 20, "periodSeconds": 10})
    probed.pod()["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] = ago(0)
    assert first_probes_left(look(10, probed)) == timedelta(seconds=22)
    assert first_probes_left(look(40, probed)) <= timedelta()


def settled(namespace: Namespace, kind: Kind, since: datetime) -> float | None:
    seen: list[Seen] = assess(replace(look_at(namespace.snapshot(), incident(), POLICY, now=NOW), since=since))
    return next(each.settles for each in seen if each.kind is kind and each.result is CheckResult.FAILED)


@pytest.mark.parametrize(
    ("restarts", "ran_after_change", "final"), [(3, True, True), (1, True, False), (3, False, False)]
)
def test_a_crash_loop_is_final_only_when_runs_after_the_change_crash(
    restarts: int, ran_after_change: bool, final: bool
) -> None:
    namespace = shop()
    status = namespace.pod()["status"]["containerStatuses"][0]
    status.update(restartCount=restarts, ready=False, state={"waiting": {"reason": "CrashLoopBackOff"}})
    status["lastState"] = {"terminated": {"exitCode": 1, "startedAt": ago(20), "finishedAt": ago(19)}}
    since = NOW - timedelta(seconds=30 if ran_after_change else 10)
    assert (settled(namespace, Kind.CRASH, since) is not None) is final


def test_an_image_error_of_before_the_change_is_not_final() -> None:
    namespace = shop()
    status = namespace.pod()["status"]["containerStatuses"][0]
    status.update(ready=False, state={"waiting": {"reason": "ImagePullBackOff", "message": "x: not found"}})
    assert settled(namespace, Kind.IMAGE_PULL, NOW) is None
    assert settled(namespace, Kind.IMAGE_PULL, NOW - timedelta(hours=2)) == 2.0
