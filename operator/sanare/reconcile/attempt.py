"""Act and Interrupt: one climb of a rung, from the intent in status to the actor's last word."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import replace

from sanare import errors
from sanare.actor.actor import Case, End, KeepUsage, Report
from sanare.api.attempt import Attempt, AttemptState
from sanare.api.incident import Incident
from sanare.api.policy import PolicySpec, Rung
from sanare.api.status import ConditionType, Usage
from sanare.decision.step import Act, Interrupt
from sanare.kube.client import KubeClient
from sanare.kube.events import Happening
from sanare.kubectl.gate import Grant
from sanare.kubectl.tool import Kubectl
from sanare.memory.episodic import remember
from sanare.reconcile.case import open_case
from sanare.reconcile.chronicle import Chronicle
from sanare.reconcile.journal import (
    STATUS_MUTATIONS,
    AttemptJournal,
    current_attempt,
    load_journal,
    replace_attempt,
)
from sanare.reconcile.kit import Kit
from sanare.text import one_line

GRACE_SECONDS = 30.0  # what an actor has beyond its rung's time-out to end by itself
NOTE_BYTES = 300


class Trajectories:
    """The latest report of each Incident, for its reflection. A hint: after a restart there is none."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._reports: OrderedDict[str, Report] = OrderedDict()

    def keep(self, uid: str, report: Report) -> None:
        """Remember a report; the oldest is forgotten beyond the bound."""
        self._reports[uid] = report
        self._reports.move_to_end(uid)
        while len(self._reports) > self._most:
            self._reports.popitem(last=False)

    def get(self, uid: str) -> Report:
        """The report, or an empty one that says so."""
        return self._reports.get(uid, Report(End.GAVE_UP, "the trajectory of the attempt was not kept"))


def grant_for(
    kit: Kit, incident: Incident, policy: PolicySpec, *, dry_run: bool = False, approved: bool = False
) -> Grant:
    """What the agent's requests may touch during one attempt."""
    namespace, _, account = kit.settings.agent_account.partition(":")
    return Grant(
        namespace=incident.metadata.namespace,
        operator_namespace=kit.settings.namespace,
        guard=policy.guard,
        dry_run=dry_run,
        approved=approved,
        impersonate=f"system:serviceaccount:{namespace}:{account}" if account else "",
    )


async def act(kit: Kit, chronicle: Chronicle, policy: PolicySpec, step: Act, trajectories: Trajectories) -> None:
    """Evaluate, then let the rung's actor try. Nothing is touched where it is healthy or cannot be judged."""
    case = await open_case(kit, chronicle, policy, step.rung)
    if case is None:
        return
    if step.reflect:
        case = await _reflect(kit, chronicle, case, trajectories.get(chronicle.incident.metadata.uid))
    await begin(chronicle, step.rung, step.number, model=step.rung.model)
    journal = AttemptJournal(kit.kube, chronicle, step.number)
    grant = grant_for(kit, chronicle.incident, policy)
    async with kit.gate.attempt(grant, journal, kubectl_path=kit.kubectl) as kubectl:
        report = await take_turn(kit, chronicle, case, kubectl)
    trajectories.keep(chronicle.incident.metadata.uid, report)
    await end_turn(chronicle, step.number, report)


async def _reflect(kit: Kit, chronicle: Chronicle, case: Case, report: Report) -> Case:
    entry = await kit.actors.reflect(case, report, keep=keep_usage(chronicle))
    chronicle.change(memory=remember(chronicle.status.memory, entry))
    chronicle.note("Reflected", f"attempt {entry.attempt}: {entry.kind}")
    return replace(case, incident=chronicle.incident, memory=chronicle.status.memory)


async def begin(chronicle: Chronicle, rung: Rung, number: int, *, model: str) -> None:
    """Write the intent: from here on a crash leaves an attempt that is seen as interrupted."""
    attempt = Attempt(
        number=number, tier=rung.tier, model=model, state=AttemptState.RUNNING, started_at=chronicle.now()
    )
    who = model or "runbook"
    chronicle.change(attempts=(*chronicle.status.attempts, attempt), tier=rung.tier, proposal=None)
    chronicle.condition(ConditionType.AWAITING_APPROVAL, "False", "NotWaiting", "an attempt is running")
    chronicle.condition(ConditionType.REPAIRING, "True", "AttemptRunning", f"attempt {number}: {rung.tier}, {who}")
    chronicle.note("AttemptStarted", f"attempt {number}: {rung.tier}, {who}")
    await chronicle.commit()
    await chronicle.tell(Happening("AttemptStarted", f"attempt {number}: {rung.tier}, {who}"))


async def take_turn(kit: Kit, chronicle: Chronicle, case: Case, kubectl: Kubectl) -> Report:
    """The actor's turn, bounded; every error of ours becomes its end."""
    limit = case.rung.timeout.total_seconds() + GRACE_SECONDS
    actor = kit.actors.for_rung(case.rung)
    try:
        async with asyncio.timeout(limit):
            return await actor.act(case, kubectl, now=chronicle.now(), keep=keep_usage(chronicle))
    except TimeoutError:
        return Report(End.TIMEOUT, f"the rung's time-out of {limit - GRACE_SECONDS:.0f} s passed")
    except errors.BudgetExceeded as error:
        return Report(End.BUDGET, str(error))
    except errors.ModelError as error:
        return Report(End.UNAVAILABLE if error.retryable else End.UNUSABLE, str(error))


def keep_usage(chronicle: Chronicle) -> KeepUsage:
    """A callback that writes the Incident's usage after each model call."""

    async def keep(usage: Usage) -> None:
        chronicle.change(usage=usage)
        await chronicle.commit()

    return keep


async def end_turn(chronicle: Chronicle, number: int, report: Report) -> None:
    """Write the actor's end. It says nothing about success."""
    attempt = current_attempt(chronicle, number)
    note = one_line(report.note, NOTE_BYTES)
    replace_attempt(
        chronicle,
        attempt.model_copy(
            update={"state": AttemptState.ACTED, "ended_at": chronicle.now(), "end": str(report.end), "note": note}
        ),
    )
    chronicle.note("AttemptActed", f"attempt {number}: {report.end}, {attempt.mutation_count} mutations. {note}")
    chronicle.condition(ConditionType.REPAIRING, "True", "Verifying", f"attempt {number} is being verified")
    await chronicle.commit()


async def interrupt(kube: KubeClient, chronicle: Chronicle, step: Interrupt) -> None:
    """The operator stopped in the middle of an attempt: say so. What it did is judged next, nothing is repeated.

    The journal knows more than the status where the stop came between the two, so the mutations are read from it.
    """
    attempt = step.attempt
    records = await load_journal(kube, chronicle.incident, attempt.number)
    done = [record.mutation() for record in records]
    replace_attempt(
        chronicle,
        attempt.model_copy(
            update={
                "state": AttemptState.INTERRUPTED,
                "ended_at": chronicle.now(),
                "end": "Interrupted",
                "mutations": tuple(done[:STATUS_MUTATIONS]),
                "mutation_count": max(len(done), attempt.mutation_count),
            }
        ),
    )
    chronicle.note("Interrupted", f"attempt {attempt.number}: the operator stopped in the middle of it")
    await chronicle.commit()
    told = f"attempt {attempt.number} was cut off by a restart; its effects are judged"
    await chronicle.tell(Happening("AttemptInterrupted", told, "Warning"))
