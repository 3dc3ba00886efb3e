"""Schedule: cron expressions of five fields. Pure."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

_MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_DAYS = "sun mon tue wed thu fri sat"
_NAMES = {
    3: {name: number for number, name in enumerate(_MONTHS.split(), 1)},
    4: {name: number for number, name in enumerate(_DAYS.split())},
}
_HORIZON = dt.timedelta(days=1500)
_WINDOWS = (*(dt.timedelta(minutes=minutes) for minutes in (10, 180, 3000, 60_000)), _HORIZON)


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a CronJob runs, to the minute."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool

    def next_after(self, moment: dt.datetime) -> dt.datetime | None:
        """The first time after `moment`; None where there is none in four years."""
        at = moment.replace(second=0, microsecond=0) + dt.timedelta(minutes=1)
        end = moment + _HORIZON
        while at <= end:
            if at.month not in self.months or not self._is_day(at):
                at = at.replace(hour=0, minute=0) + dt.timedelta(days=1)
            elif at.hour not in self.hours:
                at = at.replace(minute=0) + dt.timedelta(hours=1)
            elif at.minute not in self.minutes:
                at += dt.timedelta(minutes=1)
            else:
                return at
        return None

    def latest(self, since: dt.datetime, until: dt.datetime) -> dt.datetime | None:
        """The last time after `since` and not after `until`, None where there is none."""
        for window in _WINDOWS:
            found = self.next_after(max(since, until - window))
            if found is None or found > until:
                continue
            while (later := self.next_after(found)) is not None and later <= until:
                found = later
            return found
        return None

    def _is_day(self, at: dt.datetime) -> bool:
        of_month, of_week = at.day in self.days, at.isoweekday() % 7 in self.weekdays
        return (of_month and of_week) if self.any_day else (of_month or of_week)


def parse_schedule(text: str) -> Schedule:
    """Read an expression. Raises ValueError."""
    fields = _MACROS.get(text.strip(), text).split()
    if len(fields) != 5:
        raise ValueError(f"expected exactly 5 fields, found {len(fields)}: [{text}]")
    minutes, hours, days, months, weekdays = (_field(field, position) for position, field in enumerate(fields))
    any_day = fields[2][0] in "*?" or fields[4][0] in "*?"
    return Schedule(minutes, hours, days, months, frozenset(day % 7 for day in weekdays), any_day)


def _field(field: str, position: int) -> frozenset[int]:
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        low, high = _span(span, position, stepped=bool(step))
        found.update(range(low, high + 1, int(step or 1)))
    return frozenset(found)


def _span(span: str, position: int, *, stepped: bool) -> tuple[int, int]:
    least, most = _RANGES[position]
    if span in ("*", "?"):
        return least, most
    first, _, last = span.partition("-")
    low = _number(first, position)
    high = _number(last, position) if last else (most if stepped else low)
    if not least <= low <= high <= most:
        raise ValueError(f"{span} is not within {least}-{most}")
    return low, high


def _number(text: str, position: int) -> int:
    named = _NAMES.get(position, {}).get(text.lower()[:3])
    return int(text) if named is None else named
