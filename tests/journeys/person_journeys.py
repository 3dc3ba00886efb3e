"""Without a model: plans, approvals, pauses, evidence that comes late, and Incidents that cannot be worked on."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from sanare.api.incident import Incident
from sanare.api.status import ConditionType, Outcome, Phase
from sanare.api.verdict import Result
from sanare.decision.conditions import find_condition
from tests.journeys.arena import Arena, Journey

pytestmark = pytest.mark.usefixtures("operator")

ENDED = (Phase.RESOLVED, Phase.FAILED, Phase.ESCALATED)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def operator(arena: Arena) -> AsyncIterator[None]:
    """One operator, without a model, for every namespace of this module."""
    async with arena.operator():
        yield


def refused(reason: str) -> Callable[[Incident], bool]:
    def holds(incident: Incident) -> bool:
        condition = find_condition(incident.status.conditions, ConditionType.ACCEPTED)
        return condition is not None and (condition.status, condition.reason) == ("False", reason)

    return holds


async def propose(journey: Journey) -> Incident:
    await journey.policy(mode="Propose")
    return await journey.until(await journey.incident(), Phase.AWAITING_APPROVAL, *ENDED)


async def decide(journey: Journey, incident: Incident, decision: str, **more: object) -> None:
    """What a person types, with plain kubectl."""
    assert incident.status.proposal is not None
    approval = {"decision": decision, "digest": incident.status.proposal.digest, "approver": "dana", **more}
    patch = json.dumps({"spec": {"approval": approval}})
    await journey.kubectl("patch", "incident", incident.metadata.name, "--type=merge", "-p", patch)


async def test_a_plan_waits_for_its_approval_and_is_applied_as_shown(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        before = await journey.read("Service", "cart")
        waiting = await propose(journey)
        plan = waiting.status.proposal
        assert plan is not None
        assert (await journey.read("Service", "cart"))["spec"] == before["spec"]
        assert plan.digest in plan.approve
        assert plan.actions[0].diff.count("\n+") >= 1
        (asked,) = {e["message"] for e in await journey.events("ApprovalRequested")}
        assert plan.approve in asked
        assert "ApprovalRequested" in await journey.kubectl("describe", "service/cart")
        await decide(journey, waiting, "Approve")
        ended = await journey.until(waiting.metadata.name, *ENDED)
        assert ended.status.outcome is Outcome.FIXED
        assert ended.status.approver == "dana"
        assert [m.object for m in ended.status.attempts[0].mutations] == ["Service/cart"]


async def test_the_line_in_the_status_approves_when_it_is_typed(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        waiting = await propose(journey)
        assert waiting.status.proposal is not None
        program, *argv = shlex.split(waiting.status.proposal.approve)
        assert program == "kubectl"
        await journey.kubectl(*argv)
        ended = await journey.until(waiting.metadata.name, *ENDED)
        assert ended.status.outcome is Outcome.FIXED


async def test_a_plan_that_no_longer_fits_is_not_applied(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        waiting = await propose(journey)
        patch = '[{"op":"replace","path":"/spec/ports/0/targetPort","value":4711}]'
        await journey.kubectl("patch", "service/cart", "--type=json", "-p", patch)
        await decide(journey, waiting, "Approve")
        first = waiting.status.proposal
        again = await journey.until(
            waiting.metadata.name,
            holds=lambda i: (
                i.status.proposal is not None and first is not None and i.status.proposal.digest != first.digest
            ),
        )
        assert again.status.attempts == ()
        assert (await journey.read("Service", "cart"))["spec"]["ports"][0]["targetPort"] == 4711
        assert await journey.events("PlanOutdated")


async def test_a_rejected_plan_changes_nothing(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        before = await journey.read("Service", "cart")
        waiting = await propose(journey)
        await decide(journey, waiting, "Reject", comment="not today")
        ended = await journey.until(waiting.metadata.name, *ENDED)
        assert (ended.status.phase, ended.status.outcome) == (Phase.FAILED, Outcome.REJECTED)
        assert (await journey.read("Service", "cart"))["spec"] == before["spec"]


async def test_a_persons_own_actions_replace_the_plan(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        waiting = await propose(journey)
        patch = '[{"op":"replace","path":"/spec/ports/0/targetPort","value":"http"}]'
        own = [{"argv": ["patch", "service/cart", "--type=json", "-p", patch]}]
        await decide(journey, waiting, "Approve", actions=own)
        ended = await journey.until(waiting.metadata.name, *ENDED)
        assert ended.status.attempts[0].result is Result.FIXED
        assert (await journey.read("Service", "cart"))["spec"]["ports"][0]["targetPort"] == "http"


async def test_a_suspended_incident_is_left_alone_until_it_is_resumed(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        await journey.policy()
        name = await journey.incident(suspend=True)
        held = await journey.until(name, Phase.SUSPENDED)
        assert held.status.attempts == ()
        await journey.kubectl("patch", "incident", name, "--type=merge", "-p", '{"spec":{"suspend":false}}')
        assert (await journey.until(name, *ENDED)).status.outcome is Outcome.FIXED


async def test_in_mode_observe_nothing_is_touched(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        before = await journey.read("Service", "cart")
        await journey.policy(mode="Observe")
        seen = await journey.until(await journey.incident(), Phase.OBSERVING, *ENDED)
        assert seen.status.verdict is not None
        assert seen.status.verdict.result is Result.NOT_FIXED
        assert (await journey.read("Service", "cart"))["spec"] == before["spec"]


@pytest.mark.parametrize(
    ("reason", "spec", "policy", "hint"),
    [
        ("TargetNotFound", {"targets": [{"kind": "Deployment", "name": "nobody"}]}, {}, "nobody"),
        (
            "TargetKindUnknown",
            {"targets": [{"apiVersion": "x.io/v1", "kind": "Gizmo", "name": "web"}]},
            {},
            "Gizmo",
        ),
        ("PolicyNotFound", {"policyRef": {"name": "gone"}}, {}, "create it, or remove spec.policyRef"),
        (
            "ModelKeyMissing",
            {},
            {"ladder": [{"tier": "PlainRetry", "model": "claude-haiku-5-5"}]},
            "ANTHROPIC_API_KEY",
        ),
    ],
)
async def test_an_incident_that_cannot_be_worked_on_says_what_to_do(
    arena: Arena, reason: str, spec: dict[str, object], policy: dict[str, object], hint: str
) -> None:
    async with arena.broken("port-mismatch") as journey:
        await journey.policy(**policy)
        name = await journey.incident(**spec)
        held = await journey.until(name, holds=refused(reason))
        condition = find_condition(held.status.conditions, ConditionType.ACCEPTED)
        assert condition is not None
        assert hint in condition.message
        assert held.status.phase is Phase.INVALID
        described = await journey.kubectl("describe", "incident", name)
        assert reason in described


async def test_a_target_that_is_deleted_meanwhile_ends_the_incident(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        waiting = await propose(journey)
        await journey.kubectl("delete", *_targets(waiting), "--wait=true")
        await decide(journey, waiting, "Approve")
        ended = await journey.until(waiting.metadata.name, *ENDED)
        assert (ended.status.phase, ended.status.outcome) == (Phase.FAILED, Outcome.TARGET_GONE)


async def test_evidence_that_comes_late_is_waited_for(arena: Arena) -> None:
    async with arena.broken("init-typo") as journey:
        await journey.kubectl("scale", "deployment/fares", "--replicas=0")  # the only one that shows the right word
        await journey.kubectl("wait", "--for=delete", "pod", "-l", "app=fares", "--timeout=60s")
        await journey.policy(verify={"convergeTimeout": "80s"})
        name = await journey.incident()
        await journey.until(name, holds=lambda incident: incident.status.verdict is not None)
        await asyncio.sleep(1)
        await journey.kubectl("scale", "deployment/fares", "--replicas=1")
        ended = await journey.until(name, *ENDED)
        assert (ended.status.outcome, len(ended.status.attempts)) == (Outcome.FIXED, 1)


def _targets(incident: Incident) -> list[str]:
    return [f"{target.kind.lower()}/{target.name}" for target in incident.spec.targets]


__all__ = ["operator", "pytestmark", *(name for name in dir() if name.startswith("test_"))]
