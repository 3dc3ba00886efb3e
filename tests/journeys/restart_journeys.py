"""What survives the end of the operator in the middle of a proof, and in the middle of a watch."""

from __future__ import annotations

from sanare.api.attempt import DurabilityState
from sanare.api.incident import Incident
from sanare.api.status import ConditionType, Outcome, Phase
from sanare.decision.conditions import find_condition
from tests.journeys.arena import Arena

ENDED = (Phase.RESOLVED, Phase.FAILED, Phase.ESCALATED)
WRONG_PORT = '[{"op":"replace","path":"/spec/ports/0/targetPort","value":4711}]'


def is_being_proved(incident: Incident) -> bool:
    """Whether the pod was deleted and what follows it has no verdict yet."""
    tried = [attempt.durability for attempt in incident.status.attempts if attempt.durability is not None]
    return bool(tried) and tried[0].state is DurabilityState.DELETED


async def test_a_kill_after_the_deletion_of_a_pod_deletes_no_second_one(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        async with arena.operator(journey.namespace) as operator:
            await journey.policy(verify={"durability": {"deletePod": True, "hold": "5s"}})
            name = await journey.incident()
            await journey.until(name, holds=is_being_proved)
            await operator.kill()
        async with arena.operator(journey.namespace):
            ended = await journey.until(name, *ENDED)
        assert ended.status.outcome is Outcome.FIXED
        events = [entry.event for entry in await journey.trail(ended)]
        assert (events.count("DurabilityIntended"), events.count("DurabilityDeleted")) == (1, 1)
        assert [record.subresource for record in await journey.journal(ended)].count("eviction") == 1


async def test_a_repair_that_fails_while_the_operator_is_away_is_found_when_it_is_back(arena: Arena) -> None:
    async with arena.broken("port-mismatch") as journey:
        async with arena.operator(journey.namespace) as operator:
            await journey.policy(verify={"watch": "10m", "convergeTimeout": arena.pace.patience})
            name = await journey.incident()
            ended = await journey.until(name, *ENDED)
            assert ended.status.outcome is Outcome.FIXED
            await operator.kill()
        await journey.kubectl("patch", "service/cart", "--type=json", "-p", WRONG_PORT)
        async with arena.operator(journey.namespace):
            seen = await journey.until(name, Phase.REGRESSED)
        regressed = find_condition(seen.status.conditions, ConditionType.REGRESSED)
        assert regressed is not None
        assert "Service/cart" in regressed.message
