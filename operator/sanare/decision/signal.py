"""The signal of a verdict: whether what is still wrong makes a reflection worth its price. Pure.

Algorithm 1 of the study reflects on partial and multi-fault states and retries plainly on the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sanare.api.status import CheckOutcome, CheckResult, Signal


def decide_signal(
    now: Iterable[CheckOutcome],
    before: Iterable[CheckOutcome] = (),
    *,
    consequences: Collection[str] = (),
    worsened: Collection[str] = (),
    stages: Sequence[str] = (),
) -> Signal:
    """Compare the failing checks of this verdict with those of the one before (or of the baseline).

    Partial: something that was wrong is right now. Multi: several resources are wrong. Single: one, and nothing
    improved.
    `consequences` are kinds that another failure explains: they neither count as a resource nor as progress.
    `worsened` are kinds of false repairs: with one of them, what vanished is no progress. `stages` are the kinds in
    the order in which an object meets them: a failure is past when its object now fails at a later stage or not at
    all.
    """
    failing = [check for check in now if check.result is CheckResult.FAILED]
    if not failing:
        return Signal.NONE
    causes, earlier = _causes(failing, consequences), _causes(before, consequences)
    spoiled = any(check.kind in worsened for check in failing)
    if not spoiled and any(_is_past(cause, failing, stages) for cause in earlier - causes):
        return Signal.PARTIAL
    return Signal.MULTI if len({object_ for object_, _ in causes}) > 1 else Signal.SINGLE


def _is_past(cause: tuple[str, str], failing: Iterable[CheckOutcome], stages: Sequence[str]) -> bool:
    object_, kind = cause
    stage = {name: position for position, name in enumerate(stages)}
    return all(stage.get(check.kind, 0) > stage.get(kind, 0) for check in failing if check.object == object_)


def _causes(checks: Iterable[CheckOutcome], consequences: Collection[str]) -> set[tuple[str, str]]:
    """Object and kind of every failure that stands for itself."""
    return {
        (check.object, check.kind)
        for check in checks
        if check.result is CheckResult.FAILED and check.kind not in consequences
    }
