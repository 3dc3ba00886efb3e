"""Conditions keep their transition time, and the phase follows from them alone."""

from __future__ import annotations

import pytest

from sanare.api.status import ConditionType as C
from sanare.api.status import Phase
from sanare.decision.conditions import Conditions, Truth, find_condition, phase_of, set_condition
from tests.unit.incidents import T0, minutes


def conditions(**states: Truth) -> Conditions:
    built: Conditions = ()
    for name, state in states.items():
        built = set_condition(built, C(name), state, reason="R", message="", now=T0, generation=1)
    return built


@pytest.mark.parametrize(
    ("given", "phase"),
    [
        (conditions(), Phase.PENDING),
        (conditions(Accepted="False"), Phase.INVALID),
        (conditions(Accepted="True"), Phase.REPAIRING),
        (conditions(Accepted="True", AwaitingApproval="True"), Phase.AWAITING_APPROVAL),
        (conditions(Accepted="True", AwaitingApproval="False", Escalated="True"), Phase.ESCALATED),
        (conditions(Accepted="True", Suspended="True"), Phase.SUSPENDED),
        (conditions(Accepted="True", Escalated="True", Resolved="True"), Phase.RESOLVED),
        (conditions(Accepted="True", Resolved="False"), Phase.FAILED),
        (conditions(Accepted="True", Resolved="True", Regressed="True"), Phase.REGRESSED),
    ],
)
def test_the_phase_of(given: Conditions, phase: Phase) -> None:
    assert phase_of(given) is phase


def test_in_mode_observe_repairing_reads_as_observing() -> None:
    assert phase_of(conditions(Accepted="True"), observing=True) is Phase.OBSERVING


def test_the_transition_time_moves_only_with_the_status() -> None:
    first = conditions(Healthy="False")
    same = set_condition(first, C.HEALTHY, "False", reason="Other", message="m", now=minutes(5), generation=2)
    moved = set_condition(same, C.HEALTHY, "True", reason="Fixed", message="", now=minutes(9), generation=2)
    assert [find_condition(c, C.HEALTHY).last_transition_time for c in (first, same, moved)] == [  # type: ignore[union-attr]
        T0,
        T0,
        minutes(9),
    ]
    assert find_condition(same, C.HEALTHY).reason == "Other"  # type: ignore[union-attr]
