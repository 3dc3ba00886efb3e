"""The step that deletes one pod: what is written before and after, and what a crash or a refusal leaves."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from sanare.api.attempt import Attempt, DurabilityState
from sanare.api.attempt import Durability as Tried
from sanare.api.policy import Durability, PolicySpec, Verify
from sanare.api.status import ConditionType, IncidentStatus
from sanare.api.verdict import Result, Signal
from sanare.decision.conditions import find_condition
from sanare.decision.step import Disrupt
from sanare.kube.client import RawAnswer
from sanare.reconcile.durability import disrupt
from tests.unit.evaluator.namespace import NOW, Namespace, shop
from tests.unit.incidents import T0, attempt, verdict
from tests.unit.reconcile.shelf import Shelf
from tests.unit.reconcile.stage import Eyes, about, staged, with_baseline

POLICY = PolicySpec(verify=Verify(durability=Durability(delete_pod=True)))
REPAIRED = attempt(result=Result.FIXED, undone=False, signal=Signal.NONE)
INTENDED = Tried(state=DurabilityState.INTENDED, workload="Deployment/web", pod="web-1-0", uid="uid-web-1-0", at=T0)


@dataclass
class Api(Shelf):
    """The shelf, and the eviction of pods; `status` is what each one is answered with."""

    status: int = 201
    evicted: list[str] = field(default_factory=list)

    async def raw(self, method: str, path: str, *, body: Any, headers: Any, **_: Any) -> RawAnswer:
        assert (method, path.endswith("/eviction")) == ("POST", True)
        # What is about to be done stands in the status before it is asked for.
        (written,) = self.incident.status.attempts
        assert written.durability is not None
        assert written.durability.uid == body["deleteOptions"]["preconditions"]["uid"]
        self.evicted.append(path.split("/")[-2])
        return RawAnswer(self.status, json.dumps({"message": "a budget says no"}).encode(), "application/json")


async def tried(
    attempt_: Attempt, *, namespace: Namespace | None = None, status: int = 201, result: Result = Result.FIXED
) -> tuple[Api, IncidentStatus]:
    """The step on one attempt, and the status that it leaves."""
    said = verdict(result, reason="all well")
    api = Api(about(attempts=(attempt_,), verdict=said), status=status)
    kit, chronicle = staged(with_baseline(api), Eyes(said, snapshot=(namespace or shop()).snapshot()))
    await disrupt(kit, chronicle, POLICY, Disrupt(attempt_))
    return api, api.incident.status


async def test_the_pod_is_deleted_and_what_follows_is_not_judged_yet() -> None:
    api, status = await tried(REPAIRED)
    (after,) = status.attempts
    assert api.evicted == ["web-1-0"]
    assert after.durability is not None
    assert (after.result, after.durability.state) == (None, DurabilityState.DELETED)
    assert [entry.event for entry in status.audit.recent] == ["DurabilityIntended", "DurabilityDeleted"]
    (kept,) = (r for name, r in api.records.items() if "journal" in name)
    assert json.loads(kept["spec"]["data"])["durability"] == 1
    assert after.mutation_count == 1


async def test_after_a_crash_that_very_pod_is_evicted_where_it_is_still_there() -> None:
    api, status = await tried(REPAIRED.model_copy(update={"durability": INTENDED}))
    assert api.evicted == ["web-1-0"]
    assert status.attempts[0].result is None


@pytest.mark.parametrize("uid", ["uid-web-1-0", "another"], ids=["terminating", "replaced under its name"])
async def test_after_a_crash_no_second_pod_is_deleted(uid: str) -> None:
    namespace = shop()
    namespace.pod()["metadata"]["uid"] = uid
    if uid == "uid-web-1-0":
        namespace.pod()["metadata"]["deletionTimestamp"] = NOW.isoformat()
    begun = REPAIRED.model_copy(update={"durability": INTENDED})
    api, status = await tried(begun, namespace=namespace, result=Result.NOT_FIXED)
    assert api.evicted == []
    assert status.attempts[0].durability == INTENDED.model_copy(update={"state": DurabilityState.DELETED})
    assert status.attempts[0].result is None


async def test_what_broke_by_itself_is_judged_and_no_pod_is_deleted() -> None:
    api, status = await tried(REPAIRED, result=Result.NOT_FIXED)
    (after,) = status.attempts
    assert (api.evicted, after.result, after.durability) == ([], None, None)


@pytest.mark.parametrize("code", [429, 403, 500])
async def test_a_refusal_makes_it_unverified_in_words(code: int) -> None:
    _, status = await tried(REPAIRED, status=code)
    (after,) = status.attempts
    healthy = find_condition(status.conditions, ConditionType.HEALTHY)
    assert after.durability is not None
    assert (after.result, after.durability.state) == (Result.UNVERIFIED, DurabilityState.BLOCKED)
    assert healthy is not None
    assert (healthy.status, "a budget says no" in healthy.message) == ("Unknown", True)
    assert "DurabilityBlocked" in [entry.event for entry in status.audit.recent]


async def test_a_pod_that_somebody_else_deleted_proves_nothing() -> None:
    _, status = await tried(REPAIRED, status=404)
    (after,) = status.attempts
    assert (after.result, after.durability) == (Result.FIXED, None)


async def test_a_repair_without_a_pod_to_delete_is_unverified() -> None:
    namespace = shop()
    namespace.objects["Pod"] = []
    api, status = await tried(REPAIRED, namespace=namespace)
    assert api.evicted == []
    assert status.attempts[0].result is Result.UNVERIFIED
