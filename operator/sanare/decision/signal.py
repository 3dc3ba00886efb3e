"""The signal of a verdict and the progress of a repair: what of the faults is new, past, or still there. Pure.

Algorithm 1 of the study reflects on partial and multi-fault states and retries plainly on the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

from sanare.api.verdict import CheckOutcome, CheckResult, Progress, Signal

Fault: TypeAlias = tuple[str, str]  # object and kind
_LISTED = 8
_SEEN_BY = ("Pod", "EndpointSlice")  # kinds without which nobody can tell that a fault is over


@dataclass(frozen=True, slots=True)
class Reading:
    """How kinds of failures are read.

    Attributes:
        consequences: kinds that another failure explains: they neither count as a resource nor as progress.
        worsened: kinds of false repairs: with one of them, what vanished is no progress.
        stages: the kinds in the order in which an object meets them: a failure is past when its object now fails at
            a later stage or not at all.
    """

    consequences: Collection[str] = ()
    worsened: Collection[str] = ()
    stages: Sequence[str] = ()

    def stage(self, kind: str) -> int:
        """Position of a kind; 0 for an unknown one."""
        return self.stages.index(kind) if kind in self.stages else 0


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong in one look.

    Attributes:
        causes: failures that stand for themselves, the deciding one first.
        failing: every failure, those that another one explains included.
        unknown: objects that could not be looked at; a bare kind where none of its objects could.
    """

    causes: tuple[Fault, ...] = ()
    failing: tuple[Fault, ...] = ()
    unknown: frozenset[str] = frozenset()

    @classmethod
    def read(cls, checks: Iterable[CheckOutcome], reading: Reading, *, derived: Collection[Fault] = ()) -> Self:
        """Read them from the outcomes of a look; `derived` are failures explained by the look itself."""
        seen = tuple(checks)
        failing = tuple(dict.fromkeys((c.object, c.kind) for c in seen if c.result is CheckResult.FAILED))
        causes = tuple(each for each in failing if each[1] not in reading.consequences and each not in derived)
        unknown = frozenset(check.object for check in seen if check.result is CheckResult.UNKNOWN)
        return cls(causes, failing, unknown)

    def is_past(self, fault: Fault, reading: Reading) -> bool:
        """Whether a fault of an earlier look is over, as far as this look can tell."""
        object_, kind = fault
        if self.unknown & {object_, object_.partition("/")[0], *_SEEN_BY}:
            return False
        return all(reading.stage(k) > reading.stage(kind) for name, k in self.failing if name == object_)

    def is_spoiled(self, reading: Reading) -> bool:
        """Whether a false repair is among the failures."""
        return any(kind in reading.worsened for _, kind in self.failing)

    @property
    def resources(self) -> int:
        """How many distinct objects have a fault of their own."""
        return len({object_ for object_, _ in self.causes})


def decide_signal(now: Faults, before: Faults, reading: Reading) -> Signal:
    """Compare what is wrong with the look before (or with the start).

    Partial: something that was wrong is right now. Multi: several resources are wrong. Single: one, and nothing
    improved.
    """
    if not now.failing:
        return Signal.NONE
    earlier = (fault for fault in before.causes if fault not in now.causes)
    if not now.is_spoiled(reading) and any(now.is_past(fault, reading) for fault in earlier):
        return Signal.PARTIAL
    return Signal.MULTI if now.resources > 1 else Signal.SINGLE


def measure_progress(now: Faults, before: Faults, start: Faults, reading: Reading) -> Progress:
    """How many faults are repaired: of those of the start and of those that showed only since.

    A repair that uncovers a second fault is therefore half of one, never all of it.
    """
    known = dict.fromkeys((*start.causes, *now.causes))
    repaired = [fault for fault in start.causes if fault not in now.causes and now.is_past(fault, reading)]
    return Progress(
        repaired=0 if now.is_spoiled(reading) else len(repaired),
        faults=len(known),
        resources=now.resources,
        appeared=_told(fault for fault in now.causes if fault not in before.causes),
        vanished=_told(f for f in before.causes if f not in now.causes and now.is_past(f, reading)),
    )


def _told(faults: Iterable[Fault]) -> tuple[str, ...]:
    """As people read them: `Deployment/web ImagePull`."""
    return tuple(f"{object_} {kind}"[:320] for object_, kind in faults)[:_LISTED]
