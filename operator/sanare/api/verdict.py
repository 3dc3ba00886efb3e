"""The evaluator's decision as a status keeps it: what was checked, what was seen, and how far a repair has come."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, computed_field

from sanare.api.model import Model, ObjectName, Time

MAX_CHECKS = 32


class Result(StrEnum):
    """The evaluator's three values. Unknown is not success."""

    FIXED = "Fixed"
    NOT_FIXED = "NotFixed"
    UNVERIFIED = "Unverified"


class Signal(StrEnum):
    """The shape of what is still wrong; Partial and Multi make a reflection worth its price."""

    NONE = "None"  # nothing is wrong
    SINGLE = "Single"  # one resource, nothing improved
    PARTIAL = "Partial"  # some of what was wrong is right now
    MULTI = "Multi"  # several resources are inconsistent


class CheckResult(StrEnum):
    """What became of one check. `Unknown` is a check that could not run."""

    PASSED = "Passed"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


class CheckOutcome(Model):
    """One check of a verdict: what was looked at and what was seen.

    `kind` groups reasons across clusters and runs: a CamelCase word of the evaluator's vocabulary, for example
    `ImagePull`, `NoEndpoints`, `Unreachable`, `ProbeRemoved`; it carries no names and no numbers.
    """

    name: str = Field(max_length=128)
    """Name of the check."""
    result: CheckResult
    """Passed, Failed or Unknown (it could not run)."""
    kind: str = Field(default="", max_length=64)
    """CamelCase word for what was found, without names and numbers."""
    object: str = Field(default="", max_length=320)
    """The object looked at, as Kind/name."""
    message: str = Field(default="", max_length=300)
    """Object, field and value in one sentence."""


class Counts(Model):
    """Every check that ran, by what became of it: the list of checks may be cut, these are not."""

    passed: int = 0
    """How many passed."""
    failed: int = 0
    """How many failed."""
    unknown: int = 0
    """How many could not run."""


class Progress(Model):
    """How far a repair has come, in faults: a failing check of one object that no other failure explains."""

    repaired: int = 0
    """Faults of the start that no longer show; none while a false repair does."""
    faults: int = 0
    """Faults of the start, and those that showed since and still do."""
    resources: int = 0
    """How many distinct objects fail now."""
    appeared: tuple[ObjectName, ...] = Field(default=(), max_length=8)
    """Faults that the verdict before (else the start) did not have, as Kind/name Word."""
    vanished: tuple[ObjectName, ...] = Field(default=(), max_length=8)
    """Faults that it had and that no longer show."""

    @computed_field(json_schema_extra={"maxLength": 11})  # type: ignore[prop-decorator]  # as in status.py
    @property
    def share(self) -> str:
        """The first two as `1/3`, for the printer column; empty where there never was a fault."""
        return f"{self.repaired}/{self.faults}" if self.faults else ""


class Verdict(Model):
    """The evaluator's decision, and the one sentence that the next attempt reads verbatim."""

    result: Result
    """Fixed, NotFixed or Unverified (could not be checked, which is not success)."""
    reason: str = Field(max_length=1024)
    """One sentence with object, field and value. The next attempt reads it verbatim."""
    signal: Signal = Signal.NONE
    """The shape of what is still wrong: None, Single, Partial or Multi."""
    kind: str = Field(default="", max_length=64)
    """CamelCase word for the reason, the same across clusters and runs."""
    checks: tuple[CheckOutcome, ...] = Field(default=(), max_length=MAX_CHECKS)
    """The checks that ran and what they saw, failures first; the first ones where there are many."""
    counts: Counts = Counts()
    """How many checks ran, by what became of them."""
    progress: Progress = Progress()
    """How far the repair has come."""
    evaluated_at: Time
    """When the verdict was reached."""
    healthy_since: Time | None = None
    """Since when the target has been healthy without a break."""
    observed_seconds: float = Field(default=0, ge=0)
    """How long the evaluator watched before it decided, in seconds."""
    regressed_at: Time | None = None
    """When what this verdict called Fixed was found failing again; the rest of the verdict stays as it was."""
