"""Episodic memory: the evaluator's words verbatim, three reflections, the newest kept."""

from __future__ import annotations

import pytest

from sanare.api.policy import Feedback
from sanare.api.status import MemoryEntry
from sanare.api.verdict import CheckOutcome, CheckResult, Progress, Result, Verdict
from sanare.memory.episodic import TEXT_BYTES, feedback_entry, reflection_entry, remember, status_line
from sanare_lab.model.case import NOW, REASON, VERDICT


def reflection(attempt: int) -> MemoryEntry:
    return reflection_entry(attempt, f"I learned {attempt}")


def test_feedback_holds_the_reason_word_for_word_and_what_the_checks_saw() -> None:
    entry = feedback_entry(2, VERDICT)

    assert entry.kind == "Feedback"
    assert entry.attempt == 2
    assert "The previous attempt (attempt 2) failed." in entry.text
    assert f"Evaluator feedback: {REASON}." in entry.text
    assert "Status: Deployment/web Failed (0 of 2 available); Service/web Unknown (no endpoints)" in entry.text


def test_how_far_the_repair_has_come_follows_the_reason() -> None:
    progress = Progress(
        repaired=1,
        faults=2,
        resources=1,
        appeared=("Service/web Unreachable",),
        vanished=("Deployment/web ImagePull",),
    )
    text = feedback_entry(1, VERDICT.model_copy(update={"progress": progress})).text

    assert (
        f"Evaluator feedback: {REASON}. Progress: 1 of 2 faults no longer show. New since the verdict before: "
        "Service/web Unreachable. Gone since: Deployment/web ImagePull. Status: "
    ) in text


def test_without_faults_there_is_no_progress_to_tell() -> None:
    assert "Progress" not in feedback_entry(1, VERDICT).text


def test_without_verbatim_feedback_the_reason_is_left_out() -> None:
    entry = feedback_entry(1, VERDICT, feedback=Feedback.NONE)

    assert REASON not in entry.text
    assert "Deployment/web Failed" in entry.text


def test_a_verdict_without_checks_says_so() -> None:
    assert status_line(Verdict(result=Result.UNVERIFIED, reason="?", evaluated_at=NOW)) == "no check was recorded"


def test_many_checks_are_shortened_with_a_count() -> None:
    checks = tuple(CheckOutcome(name=f"c{n}", result=CheckResult.FAILED) for n in range(13))
    line = status_line(VERDICT.model_copy(update={"checks": checks}))

    assert line.startswith("c0 Failed; c1 Failed")
    assert line.endswith("; and 3 more")


def test_a_reflection_is_cleaned_and_bounded() -> None:
    entry = reflection_entry(1, "  I\u202e saw token=abcdefgh12 \x1b[31mred\x1b[0m " + "x" * 9000)

    assert entry.text.startswith("I saw token=[redacted] red x")
    assert len(entry.text.encode()) <= TEXT_BYTES


@pytest.mark.parametrize(
    ("before", "entry", "after"),
    [
        pytest.param((), reflection(1), (reflection(1),), id="the first"),
        pytest.param(
            (reflection(1), reflection(2), reflection(3)),
            reflection(4),
            (reflection(2), reflection(3), reflection(4)),
            id="the oldest reflection goes",
        ),
        pytest.param(
            (feedback_entry(1, VERDICT), reflection(1)),
            feedback_entry(2, VERDICT),
            (reflection(1), feedback_entry(2, VERDICT)),
            id="only the newest feedback stays",
        ),
        pytest.param(
            (reflection(1), reflection(2), feedback_entry(2, VERDICT), reflection(3)),
            reflection(4),
            (reflection(2), feedback_entry(2, VERDICT), reflection(3), reflection(4)),
            id="feedback does not crowd out reflections",
        ),
        pytest.param((reflection(1),) * 3, reflection(1), (reflection(1),) * 3, id="equal entries"),
    ],
)
def test_memory_is_bounded_and_keeps_the_newest(
    before: tuple[MemoryEntry, ...], entry: MemoryEntry, after: tuple[MemoryEntry, ...]
) -> None:
    assert remember(before, entry) == after
