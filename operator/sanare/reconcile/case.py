"""What an actor is given: the verdict, what was looked at and what the analyzers make of it."""

from __future__ import annotations

import asyncio

from sanare.actor.actor import Case
from sanare.api.policy import PolicySpec, Rung
from sanare.api.verdict import Result
from sanare.decision.ladder import is_target_gone
from sanare.diagnosis.diagnose import diagnose
from sanare.diagnosis.probing import confirm
from sanare.reconcile.chronicle import Chronicle
from sanare.reconcile.kit import Kit, evaluate

EVIDENCE_SECONDS = 20.0
"""How long an actor with nothing to go by waits for evidence: a log line, an event, a neighbour that starts."""
EVIDENCE_SHARE = 0.25  # at most, of the time that the policy gives the cluster to converge
_LOOK_EVERY = 3.0  # seconds


async def open_case(kit: Kit, chronicle: Chronicle, policy: PolicySpec, rung: Rung) -> Case | None:
    """The case, or None (and the verdict written) where there is nothing to repair.

    An alert is often faster than what explains it, so that an actor that cannot look for itself looks again for a
    while before it is given a case that it can do nothing with.
    """
    actor = kit.actors.for_rung(rung)
    until = asyncio.get_running_loop().time() + evidence_seconds(policy, rung)
    while True:
        case = await _look(kit, chronicle, policy, rung)
        left = until - asyncio.get_running_loop().time()
        if case is None or left <= 0 or not actor.lacks_evidence(case):
            return case
        await asyncio.sleep(min(_LOOK_EVERY, left))


def evidence_seconds(policy: PolicySpec, rung: Rung) -> float:
    """The bound of that wait, in seconds."""
    converge = policy.verify.converge_timeout.total_seconds()
    return min(EVIDENCE_SECONDS, converge * EVIDENCE_SHARE, rung.timeout.total_seconds())


async def _look(kit: Kit, chronicle: Chronicle, policy: PolicySpec, rung: Rung) -> Case | None:
    verdict, snapshot = await evaluate(kit, chronicle, policy)
    if verdict.result is not Result.NOT_FIXED or is_target_gone(chronicle.incident):
        await chronicle.commit()
        return None
    incident = chronicle.incident
    snapshot = await confirm(kit.kube, snapshot, incident)
    return Case(
        incident=incident,
        policy=policy,
        rung=rung,
        snapshot=snapshot,
        verdict=verdict,
        findings=diagnose(snapshot, incident),
        memory=incident.status.memory,
    )
