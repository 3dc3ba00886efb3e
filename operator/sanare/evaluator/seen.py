"""What one check saw, before it is bounded and put into a verdict."""

from __future__ import annotations

from dataclasses import dataclass

from sanare.api.verdict import CheckOutcome, CheckResult
from sanare.evaluator.kinds import CONSEQUENCES, Kind
from sanare.text import one_line


@dataclass(frozen=True, slots=True)
class Seen:
    """One outcome of one check.

    Attributes:
        settles: seconds after which an unchanged failure will not get better by itself; None: it may at any time.
    """

    name: str
    result: CheckResult
    object: str
    message: str
    kind: Kind | None = None
    settles: float | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two outcomes the same failure, whatever their wording."""
        return (self.name, self.object, self.kind or "")

    @property
    def rank(self) -> tuple[int, bool, int, str, str]:
        """Failures by importance, then what is unknown, then what passed; alphabetical within.

        A consequence that may still pass by itself comes after every cause: how far a rollout got when the cause
        was certain is chance.
        """
        order = {CheckResult.FAILED: 0, CheckResult.UNKNOWN: 1, CheckResult.PASSED: 2}
        passing = self.kind in CONSEQUENCES and self.settles is None
        return (order[self.result], passing, self.kind.importance if self.kind else 0, self.object, self.message)

    def outcome(self) -> CheckOutcome:
        """The bounded form for the status."""
        return CheckOutcome(
            name=one_line(self.name, 128),
            result=self.result,
            kind=self.kind or "",
            object=one_line(self.object, 320),
            message=one_line(self.message, 300),
        )


def passed(name: str, object_: str, message: str) -> Seen:
    """Looked at, and as it should be."""
    return Seen(name, CheckResult.PASSED, object_, message)


def failed(name: str, kind: Kind, object_: str, message: str, *, settles: float | None = None) -> Seen:
    """Looked at, and wrong."""
    return Seen(name, CheckResult.FAILED, object_, message, kind, settles)


def unknown(name: str, kind: Kind, object_: str, message: str) -> Seen:
    """Could not be looked at."""
    return Seen(name, CheckResult.UNKNOWN, object_, message, kind)
