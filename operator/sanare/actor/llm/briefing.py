"""The texts that a model is given, from a case: pure rendering, prompts as package data, foreign words fenced."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from sanare.actor.actor import Case, Report, Turn
from sanare.api.attempt import Tier
from sanare.api.incident import Mode
from sanare.api.policy import Feedback
from sanare.api.status import MemoryEntry
from sanare.api.verdict import CheckOutcome, CheckResult
from sanare.diagnosis.render import render
from sanare.memory.episodic import status_line
from sanare.text import cap_middle, clean, one_line

_SECTION_BYTES = 12_000
_TRAJECTORY_BYTES = 32_000
_TURN_BYTES = 2_000
_FACT_BYTES = 1_024

_TAG = re.compile(r"<(?=/?(?:incident|verdict|findings|memory|output|trajectory)\b)", re.I)


@cache
def read_prompt(name: str) -> str:
    """A prompt of the package, by file name without its ending."""
    return (files("sanare.actor.llm") / "prompts" / f"{name}.md").read_text("utf-8").strip()


def system_prompt(*, self_verify: bool) -> str:
    """The actor's standing orders; nothing in them depends on the incident, so that they are cached."""
    return read_prompt("actor").replace("{stop}", read_prompt("stop_verify" if self_verify else "stop"))


def fence(name: str, text: str, *, note: str = "") -> str:
    """Foreign text between marks that it cannot forge: a mark of ours inside it loses its bracket."""
    opening = f"<{name} {note}>" if note else f"<{name}>"
    return f"{opening}\n{_TAG.sub('‹', text)}\n</{name}>"


def brief(case: Case) -> str:
    """The first message of an attempt: what is wrong, what the evaluator said, what was found and remembered."""
    parts = [
        "Repair this incident.",
        fence("incident", _facts(case)),
        _verdict(case) if case.policy.feedback is Feedback.VERBATIM else "",
        _section("findings", "Findings of the deterministic analyzers:", render(case.findings)),
        _section("memory", "What earlier attempts on this incident left, as hints:", recall(case.memory)),
        _bounds(case),
    ]
    return "\n\n".join(part for part in parts if part)


def brief_reflection(case: Case, report: Report) -> str:
    """The one message of a reflection: what was tried, what the evaluator says of it, what is remembered."""
    parts = [
        "An attempt to repair this incident failed.",
        fence("incident", _facts(case)),
        _section("trajectory", f"The attempt ended as {report.end.value}. What it did:", trajectory(report)),
        _verdict(case)
        if case.policy.feedback is Feedback.VERBATIM
        else _section("verdict", "What the checks see now:", status_line(case.verdict)),
        _section("memory", "Earlier memories:", recall(case.memory)),
    ]
    return "\n\n".join(part for part in parts if part)


def recall(memory: Iterable[MemoryEntry]) -> str:
    """Memory entries with their provenance, oldest first."""
    writer = {"Feedback": "written by the evaluator", "Reflection": "written by a model after the attempt"}
    return "\n\n".join(
        f"[attempt {entry.attempt}, {entry.kind}, {writer[entry.kind]}]\n{clean(entry.text, 4 * _FACT_BYTES)}"
        for entry in memory
    )


def trajectory(report: Report) -> str:
    """The commands of an attempt and their answers, each answer short, then the actor's last words."""
    turns = [_turn(number, turn) for number, turn in enumerate(report.trajectory, start=1)]
    last = f"last words: {one_line(report.note, _FACT_BYTES)}" if report.note else ""
    text = "\n\n".join([*turns, last] if last else turns) or "nothing: it ran no command"
    return cap_middle(text, _TRAJECTORY_BYTES)


def _turn(number: int, turn: Turn) -> str:
    output = cap_middle(clean(turn.output, 4 * _TURN_BYTES), _TURN_BYTES)
    return f"{number}. {clean(turn.command, _TURN_BYTES)}\nexit code {turn.exit_code}\n{output}"


def _section(name: str, title: str, text: str) -> str:
    return f"{title}\n{fence(name, cap_middle(text, _SECTION_BYTES))}" if text else ""


def _facts(case: Case) -> str:
    spec, metadata = case.incident.spec, case.incident.metadata
    lines = [
        f"namespace: {metadata.namespace}",
        f"targets: {', '.join(f'{target.kind}/{target.name}' for target in spec.targets)}",
        f"severity: {spec.severity.value}",
        f"summary: {spec.summary}" if spec.summary else "",
        f"alert: {spec.source.alert_name}" if spec.source.alert_name else "",
        *(f"label {key}: {value}" for key, value in sorted(spec.source.labels.items())),
        *(f"annotation {key}: {value}" for key, value in sorted(spec.source.annotations.items())),
    ]
    return cap_middle("\n".join(one_line(line, _FACT_BYTES) for line in lines if line), _SECTION_BYTES)


def _verdict(case: Case) -> str:
    failing = [check for check in case.verdict.checks if check.result is not CheckResult.PASSED]
    text = "\n".join([f"reason: {clean(case.verdict.reason, 2 * _FACT_BYTES)}", *map(_check, failing)])
    return _section("verdict", f"The evaluator says {case.verdict.result.value}:", text)


def _check(check: CheckOutcome) -> str:
    head = f"- {check.name} {check.result.value}"
    return one_line(" ".join(part for part in (head, check.object, check.message) if part), _FACT_BYTES)


def _bounds(case: Case) -> str:
    guard, incident = case.policy.guard, case.incident
    kinds = f" Only these kinds may be changed: {', '.join(guard.kinds)}." if guard.kinds else ""
    limits = f"At most {guard.max_mutations} changes and {guard.max_deletes} deletions.{kinds}"
    recorded = case.policy.mode.tighter(incident.spec.mode) is Mode.PROPOSE or case.rung.tier is Tier.HUMAN
    if recorded:
        limits += (
            " Your changes are recorded as a plan for a person and take no effect now: make each one once and do "
            "not wait for its effect."
        )
    return limits
