"""Watching what was fixed: when to look again, which Incidents are about the same, what a regression is. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from sanare.api.attempt import Attempt
from sanare.api.incident import Incident
from sanare.api.status import ConditionType, Outcome
from sanare.api.verdict import CheckResult, Result, Verdict
from sanare.decision.conditions import is_true
from sanare.decision.step import Wait, Watch

_PARTS = 60  # the first look comes after this part of the window
_SHORTEST = timedelta(seconds=1)
# A look that is due is still taken this long after the window: queues have delays. Later, nothing runs any more.
_LATE = timedelta(minutes=1)


def looks(resolved_at: datetime, until: datetime) -> Iterator[datetime]:
    """When to look again: each distance twice the one before, and once at the very end of the window.

    In the first hour: after 1, 3, 7, 15, 31 and 60 minutes.
    """
    distance = max((until - resolved_at) / _PARTS, _SHORTEST)
    at = resolved_at + distance
    while at < until - distance:
        yield at
        distance *= 2
        at += distance
    yield until


def next_look(incident: Incident, checked: datetime | None) -> datetime | None:
    """The first look after the last one (after the end where there was none); None where none is left."""
    status = incident.status
    if status.resolved_at is None or status.watched_until is None:
        return None
    after = status.resolved_at if checked is None else max(checked, status.resolved_at)
    return next((at for at in looks(status.resolved_at, status.watched_until) if at > after), None)


def is_watched(incident: Incident) -> bool:
    """Whether it ended Fixed, with a watch, and nothing has been found wrong with it since."""
    status = incident.status
    regressed = is_true(status.conditions, ConditionType.REGRESSED)
    return status.outcome is Outcome.FIXED and status.watched_until is not None and not regressed


def decide_watch(
    incident: Incident,
    *,
    now: datetime,
    checked: datetime | None,
    recurred: bool = False,
    confirm: datetime | None = None,
) -> Watch | Wait:
    """What an Incident that has ended still does: look again inside its window, and afterwards nothing.

    `confirm` is when a failure that was seen is to be looked at a second time.
    """
    until = incident.status.watched_until
    if until is None or not is_watched(incident):
        return Wait()
    if recurred:
        return Watch()
    if confirm is not None:
        return Watch() if confirm <= now else Wait(confirm)
    due = next_look(incident, checked)
    if due is None or now > until + _LATE:
        return Wait()
    return Watch() if due <= now else Wait(due)


@dataclass(frozen=True, slots=True)
class Subject:
    """What an Incident is about, as far as another one can be about the same."""

    namespace: str
    fingerprint: str
    targets: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, incident: Incident) -> Self:
        """Read it from the spec, which cannot change."""
        targets = frozenset((target.kind, target.name) for target in incident.spec.targets)
        return cls(incident.metadata.namespace, incident.spec.source.fingerprint, targets)

    def overlaps(self, other: Subject) -> bool:
        """Whether both have the same alert, or a target in common."""
        same_alert = bool(self.fingerprint) and self.fingerprint == other.fingerprint
        return self.namespace == other.namespace and (same_alert or bool(self.targets & other.targets))


def is_recurrence(later: Incident, earlier: Incident) -> bool:
    """Whether `later` was broken at its first look, inside the window of `earlier`, and is about the same."""
    until, ended = earlier.status.watched_until, earlier.status.resolved_at
    first, proved = later.status.baseline, later.status.proved_at
    if until is None or ended is None or first is None or proved is None or not is_watched(earlier):
        return False
    inside = ended <= first.taken_at <= until and later.metadata.uid != earlier.metadata.uid
    return inside and proved <= first.taken_at and Subject.of(later).overlaps(Subject.of(earlier))


@dataclass(frozen=True, slots=True)
class OnPurpose:
    """Words for failures that people bring about on purpose once a repair is done.

    Attributes:
        changes: what rules call a false repair.
        removals: those of them after which nothing runs, or less.
        absences: what fails because nothing runs. It counts where no removal explains it.
    """

    changes: Collection[str]
    removals: Collection[str] = ()
    absences: Collection[str] = ()


def failing_again(verdict: Verdict, purpose: OnPurpose) -> str:
    """What fails of something that was fixed; empty where nothing does.

    What people change afterwards (a scaling, a deletion, a new image) is no regression, and neither is what follows
    from it: only what does not work.
    """
    if verdict.result is not Result.NOT_FIXED:
        return ""
    failed = [check for check in verdict.checks if check.result is CheckResult.FAILED]
    is_removed = any(check.kind in purpose.removals for check in failed)
    meant = {*purpose.changes, *(purpose.absences if is_removed else ())}
    return next((check.message for check in failed if check.kind not in meant), "")


def told_repair(attempt: Attempt) -> str:
    """What repaired it, for the person who meets it again."""
    who = attempt.model or "runbook"
    done = "; ".join(f"{m.verb} {m.object}: {m.summary}" for m in attempt.mutations[:3])
    more = attempt.mutation_count - min(len(attempt.mutations), 3)
    return f"attempt {attempt.number} ({attempt.tier}, {who}) did {done}" + (
        f" and {more} more" if more > 0 else ""
    )
