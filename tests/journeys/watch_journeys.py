"""After the repair: proved on a new pod, watched for a while; and what people can look at by themselves."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sanare.api.attempt import DurabilityState
from sanare.api.incident import Incident
from sanare.api.manifest import text
from sanare.api.status import ConditionType, Outcome, Phase
from sanare.api.verdict import Result, Signal
from sanare.decision.conditions import find_condition
from sanare.kube.resources import BY_KIND
from tests.journeys.arena import Arena, Journey

pytestmark = pytest.mark.usefixtures("operator")

ENDED = (Phase.RESOLVED, Phase.FAILED, Phase.ESCALATED)
DURABLE = {"durability": {"deletePod": True, "hold": "3s"}}
NO_NEW_PODS = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "frozen"},
    "spec": {"hard": {"pods": "0"}},
}
RIGHT_PORT = '[{"op":"replace","path":"/spec/ports/0/targetPort","value":"http"}]'
WRONG_PORT = '[{"op":"replace","path":"/spec/ports/0/targetPort","value":4711}]'


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def operator(arena: Arena) -> AsyncIterator[None]:
    """One operator, without a model, for every namespace of this module."""
    async with arena.operator():
        yield


async def healed(journey: Journey, **policy: object) -> Incident:
    """The scenario's Incident, Fixed."""
    await journey.policy(**policy)
    ended = await journey.until(await journey.incident(), *ENDED)
    assert ended.status.outcome is Outcome.FIXED
    return ended


async def pods(journey: Journey) -> set[str]:
    found = await journey.stage.client.list(BY_KIND["Pod"], journey.namespace)
    return {text(pod, "metadata", "uid") for pod in found.items}


async def test_a_repair_is_proved_on_a_new_pod(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        before = await pods(journey)
        ended = await healed(journey, verify=DURABLE)
        (only,) = ended.status.attempts
        assert only.durability is not None
        assert (only.durability.state, only.mutation_count) == (DurabilityState.PASSED, 1)
        assert only.durability.uid in before
        assert only.durability.uid not in await pods(journey)
        events = [entry.event for entry in await journey.trail(ended)]
        assert (events.count("DurabilityIntended"), events.count("DurabilityDeleted")) == (1, 1)
        assert [(r.verb, r.subresource) for r in await journey.journal(ended)][1:] == [("delete", "eviction")]
        assert ended.status.verdict is not None
        assert [c.result for c in ended.status.verdict.checks if c.name == "durability"] == ["Passed"]


async def test_a_repair_that_no_new_pod_would_have_is_none(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        await journey.apply(NO_NEW_PODS)
        rung = {"tier": "PlainRetry"}
        await journey.policy(
            verify={**DURABLE, "convergeTimeout": arena.pace.patience}, ladder=[rung], budget={"attempts": 1}
        )
        ended = await journey.until(await journey.incident(), *ENDED)
        (only,) = ended.status.attempts
        assert only.durability is not None
        assert (only.result, only.durability.state) == (Result.NOT_FIXED, DurabilityState.FAILED)
        assert (only.signal, only.undone) == (Signal.SINGLE, True)
        assert f"deleted pod {only.durability.pod}" in only.reason
        assert ended.status.outcome is Outcome.EXHAUSTED


async def test_what_was_fixed_and_fails_again_is_said_to_have_regressed(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        ended = await healed(journey, verify={"watch": "60s", "convergeTimeout": arena.pace.patience})
        await journey.kubectl("patch", "service/cart", "--type=json", "-p", WRONG_PORT)
        seen = await journey.until(ended.metadata.name, Phase.REGRESSED)
        regressed = find_condition(seen.status.conditions, ConditionType.REGRESSED)
        assert regressed is not None
        assert (regressed.reason, seen.status.outcome) == ("TargetFailing", Outcome.FIXED)
        assert "Service/cart" in regressed.message
        assert seen.status.verdict is not None
        assert seen.status.verdict.regressed_at is not None
        assert ended.status.verdict is not None
        assert seen.status.verdict.reason == ended.status.verdict.reason
        assert {event["type"] for event in await journey.told("RepairRegressed")} == {"Warning"}
        assert "Regressed" in [entry.event for entry in await journey.trail(seen)]
        assert "Regressed" in await journey.kubectl("get", "inc", ended.metadata.name)


async def test_a_new_incident_names_the_repair_that_did_not_last(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        first = await healed(journey)
        await journey.kubectl("patch", "service/cart", "--type=json", "-p", WRONG_PORT)
        await journey.apply(
            {
                "apiVersion": "sanare.dev/v1alpha1",
                "kind": "Incident",
                "metadata": {"name": "again"},
                "spec": {**first.spec.wire(), "mode": "Observe"},
            }
        )
        marked = await journey.until(first.metadata.name, Phase.REGRESSED)
        regressed = find_condition(marked.status.conditions, ConditionType.REGRESSED)
        assert regressed is not None
        assert regressed.reason == "NewIncident"
        assert "incident/again" in regressed.message
        again = await journey.until("again", Phase.OBSERVING)
        assert again.status.recurs is not None
        assert again.status.recurs.incident == first.metadata.name
        accepted = find_condition(again.status.conditions, ConditionType.ACCEPTED)
        assert accepted is not None
        assert (
            f"incident/{first.metadata.name}, where attempt 1 (PlainRetry, runbook) did patch" in accepted.message
        )


async def test_an_alert_about_something_healthy_goes_to_a_person(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        await journey.policy()
        source = {"type": "Alertmanager", "alertName": "CartDown", "fingerprint": "c0ffee"}
        name = await journey.incident(targets=[{"kind": "Deployment", "name": "web"}], source=source)
        parked = await journey.until(name, *ENDED)
        escalated = find_condition(parked.status.conditions, ConditionType.ESCALATED)
        assert escalated is not None
        assert (parked.status.phase, escalated.reason) == (Phase.ESCALATED, "NotReproduced")
        code, output, _ = await journey.sanare(
            "reject", name, "--as-person", "dana", "--comment", "the rule is off"
        )
        assert (code, output) == (0, f"incident/{name}: Reject (closed)\n")
        ended = await journey.until(name, Phase.RESOLVED)
        assert ended.status.outcome is Outcome.NOT_REPRODUCED
        resolved = find_condition(ended.status.conditions, ConditionType.RESOLVED)
        assert resolved is not None
        assert resolved.message == "dana closed it: the rule is off"


async def test_an_observed_incident_is_verified_by_hand_and_nothing_is_touched(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        before = await journey.read("Service", "cart")
        await journey.policy(mode="Observe")
        name = await journey.incident()
        await journey.until(name, Phase.OBSERVING)
        code, output, _ = await journey.sanare("verify", f"incident/{name}")
        assert code == 1
        assert output.startswith(f"NotFixed  incident/{name} in {journey.namespace}")
        assert "0/1 faults repaired" in output
        assert (await journey.read("Service", "cart"))["spec"] == before["spec"]
        await journey.kubectl("patch", "service/cart", "--type=json", "-p", RIGHT_PORT)
        code, output, _ = await journey.sanare("verify", name, "-o", "json")
        said = json.loads(output)
        assert (code, said["result"], said["progress"]["share"]) == (0, "Fixed", "1/1")
        assert said["counts"]["passed"] == len(said["checks"])
        code, _, errors = await journey.sanare("verify", "incident/nobody")
        assert code == 3
        assert '"nobody" not found' in errors


async def test_a_namespace_is_diagnosed_without_an_incident(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        code, output, _ = await journey.sanare("diagnose")
        assert code == 1
        assert "TargetPortWrong  Service/cart" in output
        code, output, _ = await journey.sanare("diagnose", "svc/cart", "-o", "json")
        (finding,) = json.loads(output)["findings"]
        assert (code, finding["object"], finding["confidence"]) == (1, "Service/cart", "High")
        await journey.kubectl("patch", "service/cart", "--type=json", "-p", RIGHT_PORT)
        code, output, _ = await journey.sanare("diagnose")
        assert (code, output.splitlines()[0][:13]) == (0, "0 finding(s);")


__all__ = ["operator", "pytestmark", *(name for name in dir() if name.startswith("test_"))]
