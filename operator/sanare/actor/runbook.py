"""The deterministic actor: it applies, in order, the findings that leave one candidate, and says what it left.

It needs no model, no key and no network beside the cluster. It decides nothing itself: the analyzers found the
candidates, the gate judges each command, the evaluator judges the result.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sanare.actor.actor import Case, End, KeepUsage, Report, Turn
from sanare.api.verdict import Result
from sanare.diagnosis.finding import Confidence, Finding
from sanare.diagnosis.render import render_command
from sanare.kubectl.tool import Command, Kubectl, ToolResult
from sanare.text import one_line

_NOTE = 300  # bytes; what an attempt keeps of a note
_ANSWER = 120


@dataclass(frozen=True, slots=True)
class Plan:
    """The repairs to apply, in order, and the findings that are left alone, each with why."""

    repairs: tuple[Finding, ...]
    left: tuple[tuple[Finding, str], ...]

    @property
    def commands(self) -> tuple[Command, ...]:
        """Every command once. What makes new pods comes last: they are to read everything that was changed."""
        all_of_them = [c for finding in self.repairs for c in (finding.repair.commands if finding.repair else ())]
        ordered = sorted(dict.fromkeys(all_of_them), key=lambda command: command.argv[0] in ("rollout", "delete"))
        return tuple(ordered)

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that name this set of commands, so that a later attempt knows it again."""
        words = "\n".join("\0".join((*command.argv, command.stdin)) for command in self.commands)
        return hashlib.sha256(words.encode()).hexdigest()[:8]


def plan_repairs(findings: Sequence[Finding]) -> Plan:
    """What may be applied. Findings that want one field of one object to be two things cancel each other."""
    reasons = [(finding, _why_not(finding, findings)) for finding in findings]
    return Plan(
        repairs=tuple(finding for finding, reason in reasons if not reason),
        left=tuple((finding, reason) for finding, reason in reasons if reason),
    )


def _why_not(finding: Finding, findings: Sequence[Finding]) -> str:
    if finding.repair is None:
        return finding.missing or "no candidate"
    if finding.confidence is Confidence.LOW:
        return "the evidence is weak"
    rivals = (other.repair for other in findings if (other.ref, other.field) == (finding.ref, finding.field))
    values = {rival.value for rival in rivals if rival is not None}
    return f"findings disagree: {', '.join(sorted(values))}" if len(values) > 1 else ""


def tried_in_vain(case: Case, plan: Plan) -> int | None:
    """The number of an earlier attempt that applied exactly this plan and did not repair it, or None."""
    for attempt in case.incident.status.attempts:
        if attempt.result is Result.NOT_FIXED and attempt.note.startswith(f"plan {plan.digest}:"):
            return attempt.number
    return None


class Runbook:
    """Applies a plan; stops at the first command that is refused or fails."""

    def lacks_evidence(self, case: Case) -> bool:
        """Whether no finding leaves one candidate, or only what an earlier attempt applied in vain."""
        plan = plan_repairs(case.findings)
        return not plan.repairs or tried_in_vain(case, plan) is not None

    async def act(self, case: Case, kubectl: Kubectl, *, now: datetime, keep: KeepUsage) -> Report:
        """One pass over the case's findings. No model is called, so `keep` has nothing to keep."""
        plan = plan_repairs(case.findings)
        if not plan.repairs:
            return Report(End.NO_CANDIDATE, _note(f"nothing to apply{_left(plan)}"))
        before = tried_in_vain(case, plan)
        if before is not None:
            return Report(
                End.NO_CANDIDATE, _note(f"attempt {before} applied plan {plan.digest} in vain{_left(plan)}")
            )
        return await _apply(plan, kubectl)


async def _apply(plan: Plan, kubectl: Kubectl) -> Report:
    turns: list[Turn] = []
    for command in plan.commands:
        result = await kubectl.run(command)
        turns.append(Turn(render_command(command), result.output, result.exit_code))
        if not result.ok:
            count = f"{len(turns) - 1} of {len(plan.commands)} commands"
            done = f"plan {plan.digest}: stopped after {count}, {_why(result)}"
            end = End.COMPLETE if len(turns) > 1 else End.NO_CANDIDATE
            return Report(end, _note(done + _left(plan)), tuple(turns))
    repaired = ", ".join(_repaired(finding) for finding in plan.repairs)
    return Report(End.COMPLETE, _note(f"plan {plan.digest}: {repaired}{_left(plan)}"), tuple(turns))


def _repaired(finding: Finding) -> str:
    value = finding.repair.value if finding.repair else ""
    field = finding.field.removeprefix("spec.").removeprefix("template.spec.")
    return f"{finding.kind} {finding.ref} {field} -> {value}"


def _why(result: ToolResult) -> str:
    words = f"refused by {result.refused}: {result.output}" if result.refused else result.output
    return one_line(words, _ANSWER)


def _left(plan: Plan) -> str:
    return "".join(f"; left {finding.kind} {finding.ref}: {reason}" for finding, reason in plan.left)


def _note(words: str) -> str:
    return one_line(words, _NOTE)
