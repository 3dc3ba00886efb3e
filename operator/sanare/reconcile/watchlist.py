"""Which repairs are being watched, so that a new Incident finds the one that it shows to have regressed.

A reading of the statuses, kept in memory: passes and the periodic list fill it, after a restart anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sanare.api.incident import Incident
from sanare.decision.regression import Subject, is_watched
from sanare.reconcile.queue import Key


@dataclass(frozen=True, slots=True)
class _Entry:
    subject: Subject
    resolved_at: datetime
    until: datetime


class Watchlist:
    """Repairs inside their window, by key; and which of them another Incident has reported."""

    def __init__(self) -> None:
        self._watched: dict[Key, _Entry] = {}
        self._reported: dict[Key, str] = {}
        self._woken: list[Key] = []
        self._suspected: dict[Key, datetime] = {}

    def note(self, incident: Incident, *, now: datetime) -> None:
        """Take in what is true of one Incident."""
        key = Key.of(incident)
        resolved, until = incident.status.resolved_at, incident.status.watched_until
        if not is_watched(incident) or resolved is None or until is None:
            self.forget(key)
        elif now <= until:
            self._watched[key] = _Entry(Subject.of(incident), resolved, until)
        else:  # a failure that the last look saw is still to be confirmed
            self._watched.pop(key, None)
            self._reported.pop(key, None)

    def forget(self, key: Key) -> None:
        """It is watched no more, or does not exist any more."""
        for known in (self._watched, self._reported, self._suspected):
            known.pop(key, None)

    def earlier(self, incident: Incident, *, at: datetime) -> Key | None:
        """Of the repairs that are about the same and whose window is open at that time, the one that ended last."""
        subject, own = Subject.of(incident), Key.of(incident)
        found = [
            (entry.resolved_at, key)
            for key, entry in self._watched.items()
            if key != own and entry.resolved_at <= at <= entry.until and entry.subject.overlaps(subject)
        ]
        return max(found)[1] if found else None

    def report(self, earlier: Key, later: str) -> None:
        """Have the earlier Incident's own pass look at the later one, by name: nobody else writes its status."""
        if earlier in self._watched and self._reported.get(earlier) != later:
            self._reported[earlier] = later
            self._woken.append(earlier)

    def reported(self, key: Key) -> str:
        """Name of the Incident that reports this repair as failing; empty where none does."""
        return self._reported.get(key, "")

    def settle(self, key: Key) -> None:
        """The report has been looked at."""
        self._reported.pop(key, None)

    def suspect(self, key: Key, *, until: datetime) -> None:
        """A look saw it failing: one at that time decides whether it still does."""
        self._suspected[key] = until

    def acquit(self, key: Key) -> None:
        """A look saw nothing failing."""
        self._suspected.pop(key, None)

    def confirm(self, key: Key) -> datetime | None:
        """When a failure that was seen is to be looked at a second time; None where none was."""
        return self._suspected.get(key)

    def woken(self) -> tuple[Key, ...]:
        """The keys that are due because of a report, each once."""
        keys, self._woken = tuple(self._woken), []
        return keys
