"""Conditions and the phase that follows from them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from sanare.api.status import Condition, ConditionType, Outcome, Phase

Truth = Literal["True", "False", "Unknown"]
Conditions = tuple[Condition, ...]

HEALTHY_ENDS = frozenset({Outcome.FIXED, Outcome.SELF_HEALED, Outcome.NOT_REPRODUCED})


def find_condition(conditions: Conditions, kind: ConditionType) -> Condition | None:
    """The condition of that type."""
    return next((condition for condition in conditions if condition.type is kind), None)


def is_true(conditions: Conditions, kind: ConditionType) -> bool:
    """Whether the condition is there and True."""
    condition = find_condition(conditions, kind)
    return condition is not None and condition.status == "True"


def set_condition(
    conditions: Conditions,
    kind: ConditionType,
    status: Truth,
    *,
    reason: str,
    message: str,
    now: datetime,
    generation: int,
) -> Conditions:
    """The conditions with one of them set; the transition time moves only when the status changes."""
    old = find_condition(conditions, kind)
    since = old.last_transition_time if old is not None and old.status == status else now
    new = Condition(
        type=kind,
        status=status,
        reason=reason,
        message=message,
        last_transition_time=since,
        observed_generation=generation,
    )
    if old is None:
        return (*conditions, new)
    return tuple(new if condition.type is kind else condition for condition in conditions)


def phase_of(conditions: Conditions, *, observing: bool = False) -> Phase:
    """The phase that the conditions amount to, the most final first."""
    resolved = find_condition(conditions, ConditionType.RESOLVED)
    if is_true(conditions, ConditionType.REGRESSED):
        return Phase.REGRESSED
    if resolved is not None and resolved.status != "Unknown":
        return Phase.RESOLVED if resolved.status == "True" else Phase.FAILED
    if is_true(conditions, ConditionType.SUSPENDED):
        return Phase.SUSPENDED
    accepted = find_condition(conditions, ConditionType.ACCEPTED)
    if accepted is None:
        return Phase.PENDING
    if accepted.status == "False":
        return Phase.INVALID
    if is_true(conditions, ConditionType.AWAITING_APPROVAL):
        return Phase.AWAITING_APPROVAL
    if is_true(conditions, ConditionType.ESCALATED):
        return Phase.ESCALATED
    return Phase.OBSERVING if observing else Phase.REPAIRING
