"""Declared checks that cannot be asked as they stand are refused before anything is touched."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from sanare import errors
from sanare.api.policy import PolicySpec
from sanare.evaluator.declared.asker import Asker, Kept, Means
from sanare.evaluator.declared.judge import with_policy_checks
from sanare.evaluator.declared.prometheus import Server
from sanare.evaluator.declared.refusal import refuse_invalid_checks
from sanare.evaluator.kinds import Kind
from sanare.evaluator.seen import Seen, failed, passed, unknown
from sanare.kube.client import KubeClient
from tests.unit.evaluator.namespace import incident, shop

POD = {"http": {"service": "web", "from": "ProbePod"}}
DIRECT = {"tcp": {"service": "web", "port": "80", "from": "Operator"}}
JOB = {"job": {"image": "tools:1"}}
QUERY = {"promql": {"query": "up", "op": ">", "value": 0}}
NOWHERE = Server("http://127.0.0.1:9")
REFUSED: list[tuple[str, dict[str, Any], Means, bool, str]] = [
    ("a pattern", {"http": {"service": "web", "matches": "("}}, Means(), False, "RE2 syntax: missing \\): \\("),
    ("a probe pod", POD, Means(probe_image="x"), False, "does not say verify.allowPods"),
    ("a job", JOB, Means(), False, "does not say verify.allowPods"),
    ("a probe pod without an image", POD, Means(), True, "SANARE_PROBE_IMAGE"),
    ("a tcp probe pod", {"tcp": {"service": "w", "port": "1", "from": "ProbePod"}}, Means(), False, "allowPods"),
    ("from an operator outside", DIRECT, Means(in_cluster=False), True, "does not run in the cluster"),
    ("a query without a server", QUERY, Means(), False, "SANARE_PROMETHEUS_URL"),
]


@pytest.mark.parametrize(
    ("check", "means", "allow_pods", "why"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
async def test_a_check_that_cannot_be_asked_is_refused(
    check: dict[str, Any], means: Means, allow_pods: bool, why: str
) -> None:
    about = incident(checks=({"name": "fine", "rollout": {"name": "web"}}, {"name": "mine", **check}))
    with pytest.raises(errors.InvalidIncident, match=f"declared/mine: .*{why}") as refused:
        await refuse_invalid_checks(about, means, allow_pods=allow_pods)
    assert refused.value.reason == "InvalidCheck"


ACCEPTED: list[tuple[str, dict[str, Any], Means]] = [
    ("a pattern", {"http": {"service": "web", "matches": "^a|b$"}}, Means()),
    ("a job", JOB, Means()),
    ("a probe pod", POD, Means(probe_image="x")),
    ("a query while its server does not answer", QUERY, Means(server=NOWHERE)),
    ("a Service that is not there yet", {"http": {"service": "none"}}, Means()),
]


@pytest.mark.parametrize(("check", "means"), [case[1:] for case in ACCEPTED], ids=[case[0] for case in ACCEPTED])
async def test_what_only_the_cluster_can_tell_is_not_refused(check: dict[str, Any], means: Means) -> None:
    await refuse_invalid_checks(incident(checks=({"name": "mine", **check},)), means, allow_pods=True)


def test_a_policys_checks_stand_beside_the_incidents_under_their_own_names() -> None:
    policy = PolicySpec.parse({"verify": {"checks": [{"name": "up", "endpoints": {"service": "web"}}]}})
    about = incident(checks=({"name": "up", "rollout": {"name": "web"}},))
    merged = with_policy_checks(about, policy)
    assert [check.name for check in merged.spec.checks] == ["up", "policy/up"]
    assert with_policy_checks(merged, policy) == merged
    assert with_policy_checks(about, PolicySpec()) is about


NOW = datetime(2026, 11, 1, tzinfo=UTC)
STANDING: list[tuple[str, Seen, float, bool]] = [
    ("passed", passed("n", "o", "m"), 3600, True),
    ("failed a moment ago", failed("n", Kind.DECLARED, "o", "m"), 29, True),
    ("failed a while ago", failed("n", Kind.DECLARED, "o", "m"), 30, False),
    ("unknown a while ago", unknown("n", Kind.TIMEOUT, "o", "m"), 31, False),
]


@pytest.mark.parametrize(
    ("seen", "seconds", "stands"), [case[1:] for case in STANDING], ids=[case[0] for case in STANDING]
)
def test_the_answer_of_a_pod_stands_while_everything_is_healthy(seen: Seen, seconds: float, stands: bool) -> None:
    kept = Kept({"n": (NOW, seen)})
    assert (kept.standing("n", NOW + timedelta(seconds=seconds)) is not None) is stands
    kept.forget()
    assert kept.standing("n", NOW) is None


async def test_those_who_only_look_make_no_pods() -> None:
    about = incident(checks=({"name": "mine", **JOB},))
    asker = Asker(cast(KubeClient, object()), Means(may_create=False))
    found = await asker.look_further(about, shop().snapshot(), allow_pods=True, kept=Kept())
    assert found["declared/mine"].kind is Kind.NOT_ASKED


async def test_an_operator_outside_of_the_cluster_connects_to_no_address_of_it() -> None:
    about = incident(checks=({"name": "mine", **DIRECT},))
    asker = Asker(cast(KubeClient, object()), Means(in_cluster=False))
    assert (await asker.look(about, shop().snapshot()))["declared/mine"].kind is Kind.NOT_ASKED
