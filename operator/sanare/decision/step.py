"""The steps that an Incident can take next. `ladder` decides on one, `reconcile` has one function for each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from sanare.api.attempt import Attempt
from sanare.api.policy import Rung
from sanare.api.status import Outcome


@dataclass(frozen=True, slots=True)
class Admit:
    """Resolve policy and targets, take the baseline, give the first verdict."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """A worker died in the middle of this attempt: say so; its effects are judged next, nothing is repeated."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Judge:
    """An actor has ended its turn: let the evaluator decide."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Disrupt:
    """The attempt's repair is healthy and the policy wants it to survive that: delete one pod, then judge again."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Undo:
    """The attempt failed and improved nothing: put back what it changed."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Act:
    """Climb this rung. `number` counts attempts from 1; `reflect` asks for a reflection first."""

    rung: Rung
    number: int
    reflect: bool


@dataclass(frozen=True, slots=True)
class Propose:
    """Record what this rung would do and ask a person."""

    rung: Rung


@dataclass(frozen=True, slots=True)
class Apply:
    """A person approved: apply exactly that. `rung` is the one that proposed it."""

    rung: Rung
    number: int


@dataclass(frozen=True, slots=True)
class Disregard:
    """A person decided, and on another plan than the one that waits: say so. The plan waits on."""

    message: str


@dataclass(frozen=True, slots=True)
class Escalate:
    """Automatic means end here; a person takes over."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Reopen:
    """What a person was given as not reproduced shows now: automatic means start after all."""

    message: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The Incident ends."""

    outcome: Outcome
    message: str


@dataclass(frozen=True, slots=True)
class Recheck:
    """Evaluate again without touching anything."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Look again at what ended Fixed; should it fail, say that it regressed."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A person paused it, or resumed it: make the Suspended condition say so."""

    suspended: bool
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before `until`, or before the object changes when it is None."""

    until: datetime | None = None


Step: TypeAlias = (
    Admit
    | Interrupt
    | Judge
    | Disrupt
    | Undo
    | Act
    | Propose
    | Apply
    | Disregard
    | Escalate
    | Reopen
    | Finish
    | Recheck
    | Watch
    | Hold
    | Wait
)
