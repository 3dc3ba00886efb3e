"""PromQL checks: one query to the operator's Prometheus, and what its series mean.

The address is the operator's setting and never an Incident's. Every sample of every series must compare as stated,
at every step of the time asked for; a step without a sample, and a sample that is not a number, is no data.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp

from sanare.api.checks import PromqlCheck
from sanare.api.duration import format_duration
from sanare.api.manifest import items, mapping, text
from sanare.api.model import to_rfc3339
from sanare.evaluator.declared.direct import beginning
from sanare.evaluator.declared.reply import Reply
from sanare.evaluator.kinds import Kind
from sanare.evaluator.seen import Seen, failed, passed, unknown
from sanare.text import one_line

SECONDS = 10.0
_STEPS = 60
_LIMIT = 1024 * 1024
_OPS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, slots=True)
class Server:
    """The operator's Prometheus, or whatever speaks its HTTP API: its URL, and a file with a bearer token."""

    url: str
    token_file: Path | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """The moments (Unix seconds) at which a query is evaluated; one alone asks for now."""

    end: float
    step: int = 0
    steps: int = 0

    @property
    def start(self) -> float:
        """The first moment."""
        return self.end - self.step * self.steps

    @property
    def count(self) -> int:
        """How many moments there are."""
        return self.steps + 1


@dataclass(frozen=True, slots=True)
class Series:
    """One series: its labels, and its samples as (Unix seconds, value)."""

    labels: Mapping[str, str]
    samples: tuple[tuple[float, float], ...]

    def __str__(self) -> str:
        shown = ", ".join(f'{name}="{value}"' for name, value in sorted(self.labels.items()) if name != "__name__")
        return one_line(f"{self.labels.get('__name__', '')}{{{shown}}}", 160)


@dataclass(frozen=True, slots=True)
class Data:
    """What Prometheus answered; `warnings` means that it may not be all there is."""

    series: tuple[Series, ...]
    warnings: tuple[str, ...] = field(default=())


def window(check: PromqlCheck, now: datetime) -> Window:
    """At most 60 steps of whole seconds over the time asked for or a little more, both its ends included."""
    seconds = check.lasting.total_seconds()
    step = max(math.ceil(seconds / _STEPS), 1)
    return Window(now.timestamp(), step, math.ceil(seconds / step))


async def ask(server: Server, check: PromqlCheck, when: Window) -> Data | Reply:
    """Run the query. Never raises: what kept it from an answer is a Reply whose kind says which."""
    path = "query_range" if when.steps else "query"
    query = {"query": check.query, "timeout": f"{SECONDS:g}s"}
    if when.steps:
        query |= {"start": f"{when.start:.3f}", "end": f"{when.end:.3f}", "step": str(when.step)}
    else:
        query |= {"time": f"{when.end:.3f}"}
    try:
        headers = {"Authorization": f"Bearer {token}"} if (token := _token(server)) else {}
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SECONDS), headers=headers) as session,
            session.post(f"{server.url}/api/v1/{path}", data=query, allow_redirects=False) as answer,
        ):
            return read(answer.status, await beginning(answer.content, _LIMIT + 1))
    except TimeoutError:
        return Reply(failure=f"Prometheus did not answer within {SECONDS:g} s", unknown=Kind.TIMEOUT)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        why = one_line(str(error) or type(error).__name__, 200)
        return Reply(failure=f"Prometheus does not answer: {why}", unknown=Kind.UNKNOWN)


def _token(server: Server) -> str:
    return server.token_file.read_text().strip() if server.token_file else ""


def read(status: int, body: bytes) -> Data | Reply:
    """An answer of the HTTP API, whatever it is worth."""
    if len(body) > _LIMIT:
        return Reply(failure="the answer is larger than 1 MiB: aggregate in the query", unknown=Kind.UNKNOWN)
    if status in (401, 403):
        return Reply(failure=f"Prometheus refuses the query (HTTP {status})", unknown=Kind.FORBIDDEN)
    try:
        answer: object = json.loads(body)
    except ValueError:
        answer = None
    if text(answer, "status") != "success":
        return _error(status, answer)
    try:
        series = tuple(_series(mapping(answer, "data")))
    except (TypeError, ValueError, LookupError):
        return Reply(failure="Prometheus sent something else than series of numbers", unknown=Kind.UNKNOWN)
    raw = mapping(answer).get("warnings")
    return Data(series, tuple(str(one) for one in raw) if isinstance(raw, list) else ())


def _error(status: int, answer: object) -> Reply:
    """bad_data is the query's own fault; the rest is Prometheus's."""
    kind, said = text(answer, "errorType"), one_line(text(answer, "error"), 200)
    if kind == "bad_data":
        return Reply(status=status, failure=f"not a query: {said}", unknown=Kind.UNKNOWN)
    if kind in ("timeout", "canceled"):
        return Reply(failure=f"the query took too long: {said}", unknown=Kind.TIMEOUT)
    return Reply(failure=f"Prometheus answers HTTP {status}: {said or 'no reason given'}", unknown=Kind.UNKNOWN)


def _series(data: Mapping[str, Any]) -> Sequence[Series]:
    form = text(data, "resultType")
    if form == "scalar":
        return [Series({}, (_sample(data["result"]),))]
    if form not in ("vector", "matrix"):
        raise ValueError(form)
    return [
        Series(
            mapping(item, "metric"), tuple(map(_sample, item["values"] if form == "matrix" else [item["value"]]))
        )
        for item in items(data, "result")
    ]


def _sample(pair: Sequence[Any]) -> tuple[float, float]:
    return float(pair[0]), float(pair[1])


def judge(name: str, check: PromqlCheck, when: Window, data: Data | Reply) -> Seen:
    """Whether every sample compares, and whether there is one at every step."""
    object_, asked = name, f"{name}: {one_line(check.query, 120)} {check.op} {check.value:g}"
    if isinstance(data, Reply):
        return unknown(name, data.unknown or Kind.UNKNOWN, object_, f"{asked} could not be asked: {data.failure}")
    for series in data.series:
        for at, value in series.samples:
            if not math.isnan(value) and not _OPS[check.op](value, check.value):
                when_ = f" at {to_rfc3339(datetime.fromtimestamp(at, UTC))}" if when.steps else ""
                return failed(name, Kind.DECLARED, object_, f"{asked}: {series} is {value:g}{when_}")
    if data.warnings:
        return unknown(name, Kind.UNKNOWN, object_, f"{asked}: Prometheus warns: {one_line(data.warnings[0], 200)}")
    missing = _missing(data, when)
    if missing:
        return unknown(name, Kind.EMPTY, object_, f"{asked}: {missing}")
    lasted = f" over {format_duration(check.lasting)}" if when.steps else ""
    return passed(name, object_, f"{asked} holds for {len(data.series)} series{lasted}")


def _missing(data: Data, when: Window) -> str:
    """What keeps the samples from being an answer: none, not a number, or none at some step."""
    if not any(series.samples for series in data.series):
        return "no data"
    for series in data.series:
        if any(math.isnan(value) for _, value in series.samples):
            return f"{series} is not a number"
    covered = len({round(at, 1) for series in data.series for at, _ in series.samples})
    return f"no data at {when.count - covered} of {when.count} moments" if covered < when.count else ""
