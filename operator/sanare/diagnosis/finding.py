"""A finding: one field of one object that does not fit the rest of the cluster, and what would make it fit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sanare.api.manifest import Ref
from sanare.kubectl.tool import Command


class Confidence(StrEnum):
    """How sure an analyzer is that the finding is the cause."""

    HIGH = "High"
    MEDIUM = "Medium"
    LOW = "Low"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One value that would make the field right, the commands that set it, and where in the cluster it stands."""

    value: str
    evidence: str
    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong where. A repair follows only when there is exactly one candidate.

    Attributes:
        kind: CamelCase word for the sort of fault, for example `ImageNotFound`.
        ref: the object at fault.
        field: path of the field, for example `spec.template.spec.containers[web].image`.
        observed: the value found.
        expected: what kind of value is wanted, in words, when there is no single candidate.
        missing: what evidence was lacking, in words, when there is not exactly one candidate.
    """

    kind: str
    ref: Ref
    field: str
    observed: str
    expected: str
    confidence: Confidence
    candidates: tuple[Candidate, ...] = ()
    missing: str = ""

    @property
    def repair(self) -> Candidate | None:
        """The candidate to apply: the only one, or none."""
        return self.candidates[0] if len(self.candidates) == 1 else None
