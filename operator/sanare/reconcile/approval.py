"""Propose and Apply: a recorded plan for a person, and applying exactly what was approved."""

from __future__ import annotations

from datetime import datetime

from pydantic import ValidationError

from sanare.actor.actor import End, Report
from sanare.api.incident import Mode
from sanare.api.policy import PolicySpec
from sanare.api.status import ConditionType, Proposal, ProposedAction
from sanare.api.verdict import Result
from sanare.decision.ladder import is_target_gone
from sanare.decision.rungs import planning_rung
from sanare.decision.step import Apply, Escalate, Propose
from sanare.kube.events import Happening
from sanare.kubectl.journal import MemoryJournal
from sanare.kubectl.plan import PlannedCommand, plan_digest, proposed_action
from sanare.kubectl.tool import Command, Kubectl, ToolResult
from sanare.reconcile.attempt import begin, end_turn, grant_for, take_turn
from sanare.reconcile.case import open_case
from sanare.reconcile.chronicle import Chronicle
from sanare.reconcile.closing import escalate
from sanare.reconcile.journal import AttemptJournal
from sanare.reconcile.kit import Kit, evaluate
from sanare.text import one_line

MAX_ACTIONS = 16
PLAN_BYTES = 24 * 1024  # what a status has room for beside the rest, and a person patience for


class RecordingKubectl:
    """Passes commands on and remembers, for each that would write, what it would write."""

    def __init__(self, inner: Kubectl, journal: MemoryJournal) -> None:
        self._inner = inner
        self._journal = journal
        self.planned: list[PlannedCommand] = []

    async def run(self, command: Command) -> ToolResult:
        """Run it dry."""
        start = len(self._journal.records)
        result = await self._inner.run(command)
        records = tuple(record for record in self._journal.records[start:] if record.ok)
        if records and result.ok:
            self.planned.append(PlannedCommand(result.rendered or command, records))
        return result


async def propose(kit: Kit, chronicle: Chronicle, policy: PolicySpec, step: Propose) -> None:
    """Let the actor work against dry runs, and show a person what it would have done."""
    rung = planning_rung(step.rung, chronicle.incident, policy)
    recorded = policy.model_copy(update={"mode": Mode.PROPOSE})  # the actor is told that nothing is kept
    case = await open_case(kit, chronicle, recorded, rung)
    if case is None:
        return
    journal = MemoryJournal()
    async with kit.gate.attempt(
        grant_for(kit, chronicle.incident, policy, dry_run=True), journal, kubectl_path=kit.kubectl
    ) as kubectl:
        recording = RecordingKubectl(kubectl, journal)
        report = await take_turn(kit, chronicle, case, recording)
    if not recording.planned:
        await escalate(chronicle, Escalate("NoPlan", _why_no_plan(report)))
        return
    await _offer(
        chronicle, policy, recording.planned, why="; ".join(filter(None, (case.verdict.reason, report.note)))
    )


def _why_no_plan(report: Report) -> str:
    note = one_line(report.note, 700)
    return f"no plan to show ({report.end}){': ' + note if note else ''}"


async def _offer(chronicle: Chronicle, policy: PolicySpec, planned: list[PlannedCommand], *, why: str) -> None:
    actions = _actions(planned)
    if not actions:
        await escalate(chronicle, Escalate("PlanTooLarge", f"the plan has no room in {PLAN_BYTES} bytes of status"))
        return
    number = len(chronicle.status.attempts) + 1
    digest = plan_digest(planned, attempt=number)
    now = chronicle.now()
    proposal = Proposal(
        digest=digest,
        why=one_line(why, 1024),
        actions=actions,
        created_at=now,
        expires_at=now + policy.approval_expiry,
        approve=approve_line(chronicle, digest),
    )
    chronicle.change(proposal=proposal)
    message = f"{len(actions)} action(s) wait for a person until {proposal.expires_at:%Y-%m-%dT%H:%M:%SZ}"
    chronicle.condition(ConditionType.AWAITING_APPROVAL, "True", "PlanRecorded", message)
    chronicle.condition(ConditionType.REPAIRING, "False", "AwaitingApproval", message)
    chronicle.note("Proposed", f"{digest} {_first_words(actions)}")
    await chronicle.commit()
    await chronicle.tell(Happening("ApprovalRequested", f"{_first_words(actions)}. Approve: {proposal.approve}"))


def _actions(planned: list[PlannedCommand]) -> tuple[ProposedAction, ...]:
    """The plan as a person is shown it; none of it where it has no room whole."""
    try:
        actions = tuple(proposed_action(command) for command in planned)
    except ValidationError:
        return ()
    fits = sum(len(action.model_dump_json().encode()) for action in actions) <= PLAN_BYTES
    return actions if fits and len(actions) <= MAX_ACTIONS else ()


def approve_line(chronicle: Chronicle, digest: str) -> str:
    """The one line of kubectl that approves exactly this plan."""
    meta = chronicle.incident.metadata
    patch = f'{{"spec":{{"approval":{{"decision":"Approve","digest":"{digest}","approver":"YOUR-NAME"}}}}}}'
    return f"kubectl patch incident {meta.name} -n {meta.namespace} --type=merge -p '{patch}'"


def _first_words(actions: tuple[ProposedAction, ...]) -> str:
    return one_line("; ".join("kubectl " + " ".join(action.argv) for action in actions), 300)


async def apply(kit: Kit, chronicle: Chronicle, policy: PolicySpec, step: Apply) -> None:
    """Apply the approved plan, or a person's own actions in its place; stop where the plan no longer fits."""
    approval, proposal = chronicle.incident.spec.approval, chronicle.status.proposal
    if approval is None or proposal is None:
        return
    verdict, _ = await evaluate(kit, chronicle, policy)
    if verdict.result is not Result.NOT_FIXED or is_target_gone(chronicle.incident):
        await chronicle.commit()
        return
    commands = [Command(action.argv, action.stdin) for action in approval.actions or proposal.actions]
    if not approval.actions and not await _still_fits(kit, chronicle, policy, step, commands):
        return
    who = one_line(approval.approver, 128) or "unnamed"
    chronicle.change(approver=who, started_at=_without_waiting(chronicle))
    chronicle.note("Approved", f"{proposal.digest} by {who}{', edited' if approval.actions else ''}")
    await begin(chronicle, step.rung, step.number, model=step.rung.model)
    journal = AttemptJournal(kit.kube, chronicle, step.number)
    grant = grant_for(kit, chronicle.incident, policy, approved=True)
    async with kit.gate.attempt(grant, journal, kubectl_path=kit.kubectl) as kubectl:
        report = await _run_all(kubectl, commands, who)
    await end_turn(chronicle, step.number, report)


def _without_waiting(chronicle: Chronicle) -> datetime | None:
    """When the Incident would have started had nobody been waited for: the wall clock is the operator's own."""
    started, proposal = chronicle.status.started_at, chronicle.status.proposal
    if started is None or proposal is None:
        return started
    return started + (chronicle.now() - proposal.created_at)


async def _still_fits(
    kit: Kit, chronicle: Chronicle, policy: PolicySpec, step: Apply, commands: list[Command]
) -> bool:
    """Whether the plan, run dry again, still means what was approved; if not, it is withdrawn and says why."""
    proposal = chronicle.status.proposal
    journal = MemoryJournal()
    grant = grant_for(kit, chronicle.incident, policy, dry_run=True, approved=True)
    async with kit.gate.attempt(grant, journal, kubectl_path=kit.kubectl) as kubectl:
        recording = RecordingKubectl(kubectl, journal)
        results = [await recording.run(command) for command in commands]
    if proposal is None or plan_digest(recording.planned, attempt=step.number) == proposal.digest:
        return True
    change = _what_changed(proposal, recording.planned, results)
    chronicle.change(proposal=None, started_at=_without_waiting(chronicle))
    chronicle.condition(ConditionType.AWAITING_APPROVAL, "False", "PlanOutdated", f"not applied: {change}")
    chronicle.note("PlanOutdated", change)
    await chronicle.commit()
    await chronicle.tell(Happening("PlanOutdated", f"not applied, a new plan will be made: {change}", "Warning"))
    return False


def _what_changed(proposal: Proposal, planned: list[PlannedCommand], results: list[ToolResult]) -> str:
    for result in results:
        if not result.ok:
            return one_line(result.output, 300)
    before = {action.diff for action in proposal.actions}
    for command in planned:
        action = proposed_action(command)
        if action.diff not in before:
            return one_line(f"{', '.join(action.objects)} would now change differently: {action.diff}", 500)
    return "an object of the plan was replaced since"


async def _run_all(kubectl: Kubectl, commands: list[Command], who: str) -> Report:
    """Run the commands in order; the first that fails ends it."""
    for position, command in enumerate(commands, start=1):
        result = await kubectl.run(command)
        if not result.ok:
            return Report(
                End.GAVE_UP, f"action {position} of {len(commands)} failed: {one_line(result.output, 200)}"
            )
    return Report(End.COMPLETE, f"{len(commands)} action(s) approved by {who}")
