"""The memory of one Incident: what earlier attempts left for the next, bounded, newest kept. Pure.

Feedback is the evaluator's own words, verbatim; a reflection is a model's reading of a failed attempt. Both are
hints for the next attempt and permission for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from sanare.api.policy import Feedback
from sanare.api.status import MemoryEntry
from sanare.api.verdict import CheckResult, Progress, Verdict
from sanare.text import cap, clean

REFLECTIONS_KEPT = 3
"""As in the study, whose memory holds and retrieves three."""

TEXT_BYTES = 4000
_CHECKS_SHOWN = 10


def status_line(verdict: Verdict) -> str:
    """What the checks saw, failed and unknown ones first, one after the other: the study's `pod status`."""
    ordered = sorted(verdict.checks, key=lambda check: check.result is CheckResult.PASSED)
    shown = [
        f"{check.object or check.name} {check.result.value}" + (f" ({check.message})" if check.message else "")
        for check in ordered[:_CHECKS_SHOWN]
    ]
    more = len(ordered) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "") if shown else "no check was recorded"


def progress_line(progress: Progress) -> str:
    """How far the repair has come, in a sentence or two; empty where nothing can be counted."""
    if not progress.faults:
        return ""
    said = f" Progress: {progress.repaired} of {progress.faults} faults no longer show."
    said += f" New since the verdict before: {', '.join(progress.appeared)}." if progress.appeared else ""
    return said + (f" Gone since: {', '.join(progress.vanished)}." if progress.vanished else "")


def feedback_entry(attempt: int, verdict: Verdict, *, feedback: Feedback = Feedback.VERBATIM) -> MemoryEntry:
    """What the evaluator said of a failed attempt; without verbatim feedback only what the checks saw."""
    verbatim = feedback is Feedback.VERBATIM
    said = f" Evaluator feedback: {verdict.reason}.{progress_line(verdict.progress)}" if verbatim else ""
    text = f"The previous attempt (attempt {attempt}) failed.{said} Status: {status_line(verdict)}."
    return MemoryEntry(attempt=attempt, kind="Feedback", text=cap(text, TEXT_BYTES))


def reflection_entry(attempt: int, text: str) -> MemoryEntry:
    """A reflection as a memory: a model wrote it, so it is cleaned and capped like any external text."""
    return MemoryEntry(attempt=attempt, kind="Reflection", text=clean(text.strip(), TEXT_BYTES))


def remember(memory: Sequence[MemoryEntry], entry: MemoryEntry) -> tuple[MemoryEntry, ...]:
    """The memory with one entry more: the newest three reflections and the newest feedback, oldest first."""
    entries = (*memory, entry)
    reflections = [place for place, item in enumerate(entries) if item.kind == "Reflection"][-REFLECTIONS_KEPT:]
    feedback = [place for place, item in enumerate(entries) if item.kind == "Feedback"][-1:]
    return tuple(entries[place] for place in sorted((*reflections, *feedback)))
