"""The proof of a repair under a PodDisruptionBudget, which the embedded cluster does not keep."""

from __future__ import annotations

from sanare.api.attempt import DurabilityState
from sanare.api.incident import Incident
from sanare.api.status import ConditionType, Outcome, Phase
from sanare.api.verdict import Result
from sanare.decision.conditions import find_condition
from tests.journeys.arena import Arena

BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "two-of-them"},
    "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "cart"}}},
}


def is_blocked(incident: Incident) -> bool:
    tried = [attempt.durability for attempt in incident.status.attempts if attempt.durability is not None]
    return bool(tried) and tried[0].state is DurabilityState.BLOCKED


async def test_a_budget_that_forbids_the_proof_leaves_the_repair_unverified(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        await journey.apply(BUDGET)
        async with arena.operator(journey.namespace):
            await journey.policy(verify={"durability": {"deletePod": True, "hold": "5s"}})
            name = await journey.incident()
            held = await journey.until(name, holds=is_blocked)
            healthy = find_condition(held.status.conditions, ConditionType.HEALTHY)
            assert healthy is not None
            assert (healthy.status, held.status.phase) == ("Unknown", Phase.REPAIRING)
            assert "disruption budget" in healthy.message
            assert held.status.attempts[0].result is Result.UNVERIFIED
            await journey.kubectl("scale", "deployment/cart", "--replicas=3")
            ended = await journey.until(name, Phase.RESOLVED, Phase.FAILED, Phase.ESCALATED)
        assert ended.status.outcome is Outcome.FIXED
        assert [record.subresource for record in await journey.journal(ended)].count("eviction") == 1
