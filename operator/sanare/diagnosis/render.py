"""Findings as compact text, for a model's first message and for a person. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from sanare.diagnosis.finding import Candidate, Finding
from sanare.kubectl.tool import Command
from sanare.text import one_line

_VALUE = 300
_COMMAND = 1200


def render(findings: Iterable[Finding]) -> str:
    """Two or more lines for each finding, empty where there is none; cleaned and redacted."""
    return "\n".join(line for finding in findings for line in _lines(finding))


def render_command(command: Command, flags: Sequence[str] = ()) -> str:
    """The command as one would type it, `flags` first; what goes to standard input is said, not shown."""
    typed = one_line("kubectl " + shlex.join((*flags, *command.argv)), _COMMAND)
    return f"{typed} (with a manifest on standard input)" if command.stdin else typed


def _lines(finding: Finding) -> list[str]:
    head = f"{finding.kind} {finding.ref} {finding.field}: {finding.observed}; expected {finding.expected}"
    lines = [f"- [{finding.confidence.value}] {one_line(head, 2 * _VALUE)}"]
    repair = finding.repair
    if repair is not None:
        lines += [f"  candidate: {_candidate(repair)}", *(f"  {render_command(c)}" for c in repair.commands)]
        return lines
    lines += [f"  possible: {_candidate(candidate)}" for candidate in finding.candidates]
    lines.append(f"  not decided: {one_line(finding.missing, _VALUE)}")
    return lines


def _candidate(candidate: Candidate) -> str:
    return one_line(f"{candidate.value} ({candidate.evidence})", 2 * _VALUE)
