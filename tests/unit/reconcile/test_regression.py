"""One look at what was fixed, and the memory of it in the Incident that meets it again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sanare import errors, telemetry
from sanare.api.attempt import Mutation
from sanare.api.incident import Incident
from sanare.api.policy import PolicySpec, Verify
from sanare.api.status import BaselineRef, ConditionType, Outcome, Phase
from sanare.api.verdict import CheckOutcome, CheckResult, Result, Verdict
from sanare.decision.conditions import find_condition, is_true
from sanare.reconcile.kit import digest_of, load_baseline
from sanare.reconcile.queue import Key
from sanare.reconcile.regression import recall, told_recurrence, watch
from sanare.reconcile.watchlist import Watchlist
from tests.unit.evaluator.namespace import NOW
from tests.unit.incidents import attempt, minutes, verdict
from tests.unit.reconcile.shelf import Shelf
from tests.unit.reconcile.stage import Eyes, about, staged, with_baseline

POLICY = PolicySpec(verify=Verify(converge_timeout=timedelta()))
MADE = attempt(
    result=Result.FIXED,
    undone=False,
    mutations=(Mutation(at=NOW, verb="patch", object="Service/web", summary="port: 1 -> 2"),),
)
CRASH = CheckOutcome(name="containers", result=CheckResult.FAILED, kind="Crash", message="web crashes")
SCALED = CheckOutcome(name="scale", result=CheckResult.FAILED, kind="ScaledDown", message="web was scaled down")


def repaired() -> Incident:
    return about(
        conditions={ConditionType.RESOLVED: ("True", "Fixed")},
        outcome=Outcome.FIXED,
        resolved_at=minutes(-5),
        watched_until=minutes(55),
        attempts=(MADE,),
        verdict=verdict(Result.FIXED, reason="all well"),
    )


def failing(*checks: CheckOutcome) -> Verdict:
    return verdict(kind=checks[0].kind).model_copy(update={"checks": checks})


async def looked(first: Verdict, *then: Verdict) -> Incident:
    """What is left of it after looks that saw these verdicts; the second comes when it is due."""
    shelf, watched = with_baseline(Shelf(repaired())), Watchlist()
    for said in (first, *then):
        kit, chronicle = staged(shelf, Eyes(said))
        await watch(kit, chronicle, POLICY, watched)
    return shelf.incident


async def test_what_fails_again_is_marked_and_the_verdict_keeps_its_words() -> None:
    labels = {"tier": "PlainRetry", "model": "runbook"}
    before = telemetry.REGISTRY.get_sample_value("sanare_regressions_total", labels) or 0.0
    seen = await looked(failing(CRASH), failing(CRASH))
    regressed = find_condition(seen.status.conditions, ConditionType.REGRESSED)
    assert regressed is not None
    assert (regressed.status, regressed.reason, regressed.message) == ("True", "TargetFailing", "web crashes")
    assert seen.status.verdict is not None
    assert (seen.status.verdict.reason, seen.status.verdict.regressed_at) == ("all well", NOW)
    assert (seen.status.phase, seen.status.outcome) == (Phase.REGRESSED, Outcome.FIXED)
    assert telemetry.REGISTRY.get_sample_value("sanare_regressions_total", labels) == before + 1


@pytest.mark.parametrize(
    "looks",
    [
        [verdict(Result.FIXED)],
        [verdict(Result.UNVERIFIED)],
        [failing(SCALED), failing(SCALED)],
        [failing(CRASH)],
        [failing(CRASH), verdict(Result.FIXED), failing(CRASH)],
        [failing(CRASH), verdict(Result.UNVERIFIED)],
    ],
    ids=["healthy", "unknown", "changed by people", "seen once", "a rollout that ends well", "unknown when due"],
)
async def test_what_does_not_fail_twice_is_left_as_it_is(looks: list[Verdict]) -> None:
    assert await looked(*looks) == repaired()


async def test_a_look_that_can_tell_nothing_acquits_nothing() -> None:
    seen = await looked(failing(CRASH), verdict(Result.UNVERIFIED), failing(CRASH))
    assert is_true(seen.status.conditions, ConditionType.REGRESSED)


async def test_what_nobody_can_tell_until_the_window_ends_is_left_as_it_is() -> None:
    ended = repaired().model_copy(update={"status": repaired().status.model_copy(update={"watched_until": NOW})})
    kit, chronicle = staged(with_baseline(Shelf(ended)), Eyes(verdict(Result.UNVERIFIED)))
    watched, key = Watchlist(), Key("shop", "web")
    watched.suspect(key, until=NOW)
    await watch(kit, chronicle, PolicySpec(), watched)
    assert watched.confirm(key) is None


async def test_a_failure_is_looked_at_again_after_the_time_that_a_cluster_needs() -> None:
    kit, chronicle = staged(with_baseline(Shelf(repaired())), Eyes(failing(CRASH)))
    watched, key = Watchlist(), Key("shop", "web")
    await watch(kit, chronicle, PolicySpec(), watched)
    assert watched.confirm(key) == NOW + PolicySpec().verify.converge_timeout


async def test_a_repair_whose_baseline_is_gone_is_not_refused_after_its_end() -> None:
    shelf = Shelf(repaired())
    kit, chronicle = staged(shelf, Eyes(failing(CRASH)))
    watched = Watchlist()
    watched.suspect(Key("shop", "web"), until=minutes(0))
    await watch(kit, chronicle, PolicySpec(), watched)
    assert shelf.incident == repaired()
    assert watched.confirm(Key("shop", "web")) is None


async def test_a_baseline_that_is_not_the_one_taken_is_refused() -> None:
    shelf = with_baseline(Shelf(about()))
    shelf.records["web-baseline-0"]["spec"]["data"] += " "
    kit, chronicle = staged(shelf, Eyes(verdict(Result.FIXED)))
    with pytest.raises(errors.InvalidIncident, match="not the one whose digest status names") as refused:
        await load_baseline(kit.kube, chronicle.incident)
    assert refused.value.reason == "BaselineChanged"


async def test_a_baseline_that_this_version_cannot_read_is_refused() -> None:
    shelf = with_baseline(Shelf(about()))
    shelf.records["web-baseline-0"]["spec"]["data"] = "{}"
    ref = BaselineRef(taken_at=NOW, store="web-baseline-0", digest=digest_of("{}"))
    kit, _ = staged(shelf, Eyes(verdict(Result.FIXED)))
    with pytest.raises(errors.InvalidIncident, match="another version of the operator"):
        await load_baseline(kit.kube, about(baseline=ref))


class Pair(Shelf):
    """The shelf with a second Incident beside the one that is written."""

    other: Incident

    async def get(self, resource: Any, namespace: str, name: str) -> Any:
        return self.other.wire() if resource.kind == "Incident" else await super().get(resource, namespace, name)


def again() -> Incident:
    """A new Incident about the same, broken at its first look."""
    found = about(verdict=failing(CRASH), proved_at=minutes(0))
    return found.model_copy(update={"metadata": found.metadata.model_copy(update={"name": "again", "uid": "u2"})})


def reported() -> Watchlist:
    watched = Watchlist()
    watched.note(repaired(), now=minutes(0))
    watched.report(Key("shop", "web"), "again")
    return watched


async def test_what_another_incident_reports_is_looked_at_and_marked() -> None:
    shelf = Pair(repaired())
    shelf.other, watched = again(), reported()
    kit, chronicle = staged(shelf, Eyes(verdict(Result.FIXED)))
    await watch(kit, chronicle, PolicySpec(), watched)
    regressed = find_condition(shelf.incident.status.conditions, ConditionType.REGRESSED)
    assert regressed is not None
    assert (regressed.reason, "incident/again" in regressed.message) == ("NewIncident", True)
    assert watched.reported(Key("shop", "web")) == ""


async def test_a_report_that_is_none_marks_nothing() -> None:
    shelf = Pair(repaired())
    shelf.other = again().model_copy(update={"status": about(proved_at=None).status})
    kit, chronicle = staged(shelf, Eyes(failing(CRASH)))
    await watch(kit, chronicle, PolicySpec(), reported())
    assert not is_true(shelf.incident.status.conditions, ConditionType.REGRESSED)


async def test_a_new_incident_remembers_what_had_repaired_it_and_wakes_it() -> None:
    shelf = Pair(again())
    shelf.other = repaired()
    watched = Watchlist()
    watched.note(repaired(), now=minutes(0))
    kit, chronicle = staged(shelf, Eyes(failing(CRASH)))
    await recall(kit, chronicle, watched)
    assert chronicle.status.recurs is not None
    assert chronicle.status.recurs.incident == "web"
    assert watched.woken() == (Key("shop", "web"),)
    assert told_recurrence(chronicle).endswith(
        "in incident/web, where attempt 1 (PlainRetry, runbook) did patch Service/web: port: 1 -> 2"
    )


async def test_one_that_is_healthy_at_its_first_look_reports_nothing() -> None:
    shelf = Pair(again().model_copy(update={"status": about(verdict=verdict(Result.FIXED)).status}))
    shelf.other = repaired()
    watched = Watchlist()
    watched.note(repaired(), now=minutes(0))
    kit, chronicle = staged(shelf, Eyes(verdict(Result.FIXED)))
    await recall(kit, chronicle, watched)
    assert (chronicle.status.recurs, watched.woken(), told_recurrence(chronicle)) == (None, (), "")
