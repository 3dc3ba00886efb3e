"""Probes: one clock for each probe of a container, and what a probe finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.timers import Timer, Timers


class Kind(Enum):
    """The three probes, as Unhealthy events name them."""

    STARTUP = "Startup"
    LIVENESS = "Liveness"
    READINESS = "Readiness"

    @property
    def field(self) -> str:
        """Its field in the container."""
        return f"{self.value.lower()}Probe"


class Outcome(Enum):
    """What one probe found."""

    SUCCESS = "success"
    FAILURE = "failure"
    ERROR = "error"  # the probe itself could not be made: it counts neither way


@dataclass(frozen=True, slots=True)
class Finding:
    """One probe's outcome; the message is the event's, after `Readiness probe failed: `."""

    outcome: Outcome
    message: str = ""
    settled: bool = False  # success that only the container's end can change


Ask: TypeAlias = Callable[[Obj], Finding]


@dataclass(frozen=True, slots=True)
class Schedule:
    """When to probe, and how many times in a row decide; the API's defaults where a field is unset."""

    delay: float
    period: float
    successes: int
    failures: int

    @classmethod
    def of(cls, probe: Obj) -> Schedule:
        """The schedule that a probe states."""
        return cls(
            delay=float(probe.get("initialDelaySeconds") or 0),
            period=float(probe.get("periodSeconds") or 10),
            successes=int(probe.get("successThreshold") or 1),
            failures=int(probe.get("failureThreshold") or 3),
        )


class ProbeClock:
    """Asks on schedule, counts in a row, and tells when the answer turns. Ends once nothing can change."""

    def __init__(self, kind: Kind, probe: Obj, timers: Timers, ask: Ask, owner: ProbeOwner) -> None:
        self.kind = kind
        self.passing: bool | None = None
        self._probe = probe
        self._schedule = Schedule.of(probe)
        self._timers = timers
        self._ask = ask
        self._owner = owner
        self._run = 0
        self._last: Outcome | None = None
        self._timer: Timer | None = timers.after(self._schedule.delay, self._tick)

    def cancel(self) -> None:
        """Ask no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        self._timer = None
        finding = self._ask(self._probe)
        if finding.outcome is not Outcome.SUCCESS:
            self._owner.unhealthy(self, finding)
        if finding.outcome is not Outcome.ERROR:
            self._count(finding.outcome)
        if self._is_over(finding) or self._owner.is_gone(self):
            return
        self._timer = self._timers.after(self._schedule.period, self._tick)

    def _count(self, outcome: Outcome) -> None:
        self._run = self._run + 1 if outcome is self._last else 1
        self._last = outcome
        passing = outcome is Outcome.SUCCESS
        needed = self._schedule.successes if passing else self._schedule.failures
        if self._run >= needed and self.passing is not passing:
            self.passing = passing
            self._owner.turned(self)

    def _is_over(self, finding: Finding) -> bool:
        if self.kind is Kind.STARTUP and self.passing is not None:
            return True
        return bool(finding.settled and self.passing)


class ProbeOwner(Protocol):
    """Whoever acts on what a probe finds."""

    def unhealthy(self, clock: ProbeClock, finding: Finding) -> None:
        """A probe failed or could not be made."""
        ...

    def turned(self, clock: ProbeClock) -> None:
        """A probe passes now, or fails now (`clock.passing`)."""
        ...

    def is_gone(self, clock: ProbeClock) -> bool:
        """Whether the probe's container ended meanwhile."""
        ...
