"""What the series of a PromQL check mean."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from sanare.api.checks import PromqlCheck
from sanare.evaluator.declared.prometheus import Data, Series, Window, judge, read, window
from sanare.evaluator.declared.reply import Reply
from sanare.evaluator.kinds import Kind

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def check(op: str = "<", value: float = 5, lasting: str = "0s") -> PromqlCheck:
    return PromqlCheck.parse({"query": "errors", "op": op, "value": value, "for": lasting})


def series(*values: float, start: float = 0, **labels: str) -> Series:
    return Series(labels, tuple((start + at, value) for at, value in enumerate(values)))


ONE, THREE = Window(0), Window(2, step=1, steps=2)
NAN = float("nan")
CASES: list[tuple[str, PromqlCheck, Window, Data | Reply, str, Kind | None, str]] = [
    ("holds", check(), ONE, Data((series(1),)), "Passed", None, "holds for 1 series"),
    ("not", check(), ONE, Data((series(7, pod="a"),)), "Failed", Kind.DECLARED, '{pod="a"} is 7'),
    ("one of two", check(), ONE, Data((series(1), series(5, pod="b"))), "Failed", Kind.DECLARED, 'pod="b"'),
    ("no data", check(), ONE, Data(()), "Unknown", Kind.EMPTY, "no data"),
    ("not a number", check(), ONE, Data((series(NAN),)), "Unknown", Kind.EMPTY, "is not a number"),
    ("not a number differs", check("!="), ONE, Data((series(NAN),)), "Unknown", Kind.EMPTY, "is not a number"),
    ("over a time", check(lasting="2s"), THREE, Data((series(1, 2, 3),)), "Passed", None, "over 2s"),
    (
        "once in a time",
        check(lasting="2s"),
        THREE,
        Data((series(1, 9, 3),)),
        "Failed",
        Kind.DECLARED,
        "is 9 at 1970",
    ),
    ("a gap", check(lasting="2s"), THREE, Data((series(1, 2),)), "Unknown", Kind.EMPTY, "no data at 1 of 3"),
    (
        "one series after another",
        check(lasting="2s"),
        THREE,
        Data((series(1, 2, pod="old"), series(1, start=2, pod="new"))),
        "Passed",
        None,
        "2 series",
    ),
    ("a gap and a fault", check(lasting="2s"), THREE, Data((series(9),)), "Failed", Kind.DECLARED, "is 9"),
    ("warned", check(), ONE, Data((series(1),), ("partial",)), "Unknown", Kind.UNKNOWN, "warns: partial"),
    ("Timeout", check(), ONE, Reply(failure="late", unknown=Kind.TIMEOUT), "Unknown", Kind.TIMEOUT, "late"),
    ("Forbidden", check(), ONE, Reply(failure="no", unknown=Kind.FORBIDDEN), "Unknown", Kind.FORBIDDEN, "no"),
]


@pytest.mark.parametrize(
    ("asked", "when", "data", "result", "kind", "says"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_every_sample_of_every_series_must_compare_at_every_moment(
    asked: PromqlCheck, when: Window, data: Data | Reply, result: str, kind: Kind | None, says: str
) -> None:
    seen = judge("declared/mine", asked, when, data)
    assert (seen.result, seen.kind) == (result, kind)
    assert says in seen.message


@pytest.mark.parametrize(
    ("op", "holds"),
    [(">", False), (">=", True), ("<", False), ("<=", True), ("==", True), ("!=", False)],
)
def test_an_equal_value_compares_as_the_sign_says(op: str, holds: bool) -> None:
    seen = judge("declared/mine", check(op, 5), ONE, Data((series(5),)))
    assert (seen.result == "Passed") is holds


@pytest.mark.parametrize(
    ("lasting", "step", "count"),
    [
        pytest.param("0s", 1, 1, id="now"),
        pytest.param("500ms", 1, 2, id="below a second"),
        pytest.param("60s", 1, 61, id="a minute"),
        pytest.param("61s", 2, 32, id="a little more"),
        pytest.param("1h", 60, 61, id="an hour"),
    ],
)
def test_a_time_is_looked_at_in_at_most_sixty_steps_both_ends_included(lasting: str, step: int, count: int) -> None:
    asked = check(lasting=lasting)
    when = window(asked, NOW)
    assert (when.step, when.count, when.end) == (step, count, NOW.timestamp())
    assert when.end - when.start >= asked.lasting.total_seconds()


def answer(form: str, result: Any, **more: Any) -> bytes:
    return json.dumps({"status": "success", "data": {"resultType": form, "result": result}, **more}).encode()


VECTOR, MATRIX = Series({"pod": "a"}, ((1, 2.5),)), Series({}, ((1, 2), (2, 3)))
READ: list[tuple[str, int, bytes, Data]] = [
    ("vector", 200, answer("vector", [{"metric": {"pod": "a"}, "value": [1, "2.5"]}]), Data((VECTOR,))),
    ("matrix", 200, answer("matrix", [{"metric": {}, "values": [[1, "2"], [2, "3"]]}]), Data((MATRIX,))),
    ("scalar", 200, answer("scalar", [1, "4"]), Data((Series({}, ((1, 4),)),))),
    ("nothing", 200, answer("vector", []), Data(())),
    ("infinity", 200, answer("scalar", [1, "+Inf"]), Data((Series({}, ((1, float("inf")),)),))),
    ("warnings", 200, answer("vector", [], warnings=["w"]), Data((), ("w",))),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "data"), [case[1:] for case in READ], ids=[case[0] for case in READ])
def test_an_answer_is_read_as_series(status: int, body: bytes, data: Data) -> None:
    assert read(status, body) == data


def error(kind: str) -> bytes:
    return json.dumps({"status": "error", "errorType": kind, "error": "why"}).encode()


NOT_READ: list[tuple[str, int, bytes, Kind, str]] = [
    ("no query", 400, error("bad_data"), Kind.UNKNOWN, "not a query: why"),
    ("too long", 503, error("timeout"), Kind.TIMEOUT, "took too long: why"),
    ("its own error", 422, error("execution"), Kind.UNKNOWN, "HTTP 422: why"),
    ("refused", 401, b"", Kind.FORBIDDEN, "refuses the query"),
    ("another page", 200, b"<html>", Kind.UNKNOWN, "HTTP 200"),
    ("text", 200, answer("string", [1, "x"]), Kind.UNKNOWN, "series of numbers"),
    (
        "no samples",
        200,
        answer("vector", [{"metric": {}, "histogram": [1, {}]}]),
        Kind.UNKNOWN,
        "series of numbers",
    ),
    ("too much", 200, b"x" * (1024 * 1024 + 1), Kind.UNKNOWN, "larger than 1 MiB"),
]


@pytest.mark.parametrize(
    ("status", "body", "kind", "says"), [case[1:] for case in NOT_READ], ids=[case[0] for case in NOT_READ]
)
def test_an_answer_that_is_none_says_why(status: int, body: bytes, kind: Kind, says: str) -> None:
    found = read(status, body)
    assert isinstance(found, Reply)
    assert found.unknown is kind
    assert says in found.failure
