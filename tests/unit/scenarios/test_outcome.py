from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from sanare.api.verdict import Result, Verdict
from sanare_lab.controls.outcome import ControlOutcome, Outcome, compare, from_json, judge, to_json
from sanare_lab.scenarios.scenario import Expectation

NOW = datetime(2026, 11, 1, tzinfo=UTC)
NOT_FIXED = Expectation(result=Result.NOT_FIXED, kinds=("ImagePull",), reason="app:1.4.z")
FIXED = Expectation(result=Result.FIXED)
ONE = ControlOutcome(
    "parcel", "nothing", Outcome.PASSED, result="NotFixed", kind="ImagePull", reason="no such image"
)


def verdict(result: Result, kind: str = "", reason: str = "") -> Verdict:
    return Verdict(result=result, kind=kind, reason=reason, evaluated_at=NOW)


@pytest.mark.parametrize(
    ("said", "expect", "answered", "why"),
    [
        pytest.param(verdict(Result.FIXED), FIXED, True, "", id="fixed"),
        pytest.param(verdict(Result.FIXED), FIXED, False, "does not answer with the nonce", id="function-decides"),
        pytest.param(verdict(Result.UNVERIFIED), FIXED, True, "expected Fixed, got Unverified", id="unknown"),
        pytest.param(
            verdict(Result.FIXED), NOT_FIXED, True, "expected NotFixed, got Fixed", id="false-repair-believed"
        ),
        pytest.param(verdict(Result.NOT_FIXED, "ImagePull", "app:1.4.z"), NOT_FIXED, False, "", id="stated-reason"),
        pytest.param(
            verdict(Result.NOT_FIXED, "Crash", "app:1.4.z"), NOT_FIXED, False, "expected the kind", id="kind"
        ),
        pytest.param(
            verdict(Result.NOT_FIXED, "ImagePull", "web"), NOT_FIXED, False, "does not contain", id="reason"
        ),
    ],
)
def test_a_verdict_is_held_to_the_expectation(said: Verdict, expect: Expectation, answered: bool, why: str) -> None:
    found = judge(said, expect, answered=answered)
    assert why in found
    assert bool(found) is bool(why)


@pytest.mark.parametrize(
    ("other", "equal"),
    [
        pytest.param([ONE], True, id="same"),
        pytest.param([replace(ONE, reason="worded otherwise", seconds=9.0)], True, id="other-words"),
        pytest.param([replace(ONE, kind="Crash")], False, id="other-kind"),
        pytest.param([replace(ONE, result="Fixed", kind="")], False, id="other-result"),
        pytest.param([replace(ONE, result="", kind="", outcome=Outcome.VOID)], False, id="void-there"),
        pytest.param([], False, id="not-run-there"),
    ],
)
def test_two_clusters_agree_by_result_and_kind(other: list[ControlOutcome], equal: bool) -> None:
    (difference,) = compare([ONE], other)
    assert difference.is_equal is equal


def test_outcomes_survive_the_file_between_two_clusters() -> None:
    assert from_json(to_json([ONE], cluster="v1.37.2")) == (ONE,)
