"""Cron expressions and their next time."""

from __future__ import annotations

import datetime as dt

import pytest

from sanare_lab.cluster.controllers.schedule import parse_schedule

FRIDAY = dt.datetime(2030, 3, 1, 10, 30, 20, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* * * * *", "2030-03-01T10:31"),
        ("*/15 * * * *", "2030-03-01T10:45"),
        ("0 * * * *", "2030-03-01T11:00"),
        ("@daily", "2030-03-02T00:00"),
        ("5 4 * * sun", "2030-03-03T04:05"),
        ("5 4 * * 7", "2030-03-03T04:05"),
        ("0 9-17/4 * * mon-fri", "2030-03-01T13:00"),
        ("0 0 29 feb *", "2032-02-29T00:00"),
        ("0 0 13 * 5", "2030-03-08T00:00"),
        ("0,20 10 1 3 *", "2031-03-01T10:00"),
    ],
)
def test_the_next_time_is_found(text: str, expected: str) -> None:
    found = parse_schedule(text).next_after(FRIDAY)
    assert found is not None
    assert found.strftime("%Y-%m-%dT%H:%M") == expected


@pytest.mark.parametrize(
    ("text", "since", "expected"),
    [
        pytest.param("* * * * *", "2020-01-01T00:00", "2030-03-01T10:30", id="long missed"),
        pytest.param("0 4 * * *", "2030-02-01T00:00", "2030-03-01T04:00", id="today"),
        pytest.param("0 0 1 1 *", "2029-06-01T00:00", "2030-01-01T00:00", id="this year"),
        pytest.param("0 11 * * *", "2030-03-01T09:00", None, id="not yet"),
        pytest.param("*/10 * * * *", "2030-03-01T10:30", None, id="just done"),
    ],
)
def test_the_latest_missed_time_is_found(text: str, since: str, expected: str | None) -> None:
    found = parse_schedule(text).latest(dt.datetime.fromisoformat(f"{since}+00:00"), FRIDAY)
    assert (found.strftime("%Y-%m-%dT%H:%M") if found else None) == expected


@pytest.mark.parametrize("text", ["", "* * * *", "61 * * * *", "a * * * *", "5-1 * * * *"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_schedule(text)


def test_a_day_that_never_comes_has_no_next_time() -> None:
    assert parse_schedule("0 0 31 2 *").next_after(FRIDAY) is None
