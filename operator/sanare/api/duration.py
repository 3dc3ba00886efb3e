"""Durations as Kubernetes writes them: `90s`, `1m30s`, `2h`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from sanare.api.model import rules

_PART = re.compile(r"(\d+)(ms|h|m|s)")
_UNIT = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def parse_duration(text: object) -> timedelta:
    """Read a Kubernetes duration such as `90s`, `1m30s` or `2h`. Raises ValueError naming the text."""
    if isinstance(text, timedelta):
        return text
    parts = _PART.findall(str(text))
    if not parts or "".join(number + unit for number, unit in parts) != str(text):
        raise ValueError(f"{text!r} is not a duration: write it like 90s, 5m or 1h30m")
    return timedelta(seconds=sum(int(number) * _UNIT[unit] for number, unit in parts))


def format_duration(value: timedelta) -> str:
    """The shortest Kubernetes duration that says the same."""
    seconds, milliseconds = divmod(round(value.total_seconds() * 1000), 1000)
    if milliseconds or not seconds:
        return f"{seconds * 1000 + milliseconds}ms" if milliseconds else "0s"
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return "".join(f"{n}{u}" for n, u in ((hours, "h"), (minutes, "m"), (seconds, "s")) if n)


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    Field(ge=timedelta(0), le=timedelta(hours=24)),
    PlainSerializer(format_duration, when_used="json"),
    WithJsonSchema(
        {
            "type": "string",
            "maxLength": 20,
            "pattern": r"^([0-9]{1,5}(ms|s|m|h))+$",
            **rules(("duration(self) <= duration('24h')", "a duration is at most 24h")),
        }
    ),
]
