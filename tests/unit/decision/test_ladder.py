"""Every transition of an Incident, as a table: (status, policy, now) to the next step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from sanare.api.incident import Incident
from sanare.api.policy import Budget, PolicySpec, Rollback, Rung, When
from sanare.api.status import MAX_ATTEMPTS, AttemptState, ConditionType, Mutation, Outcome, Result, Signal, Tier
from sanare.decision import ladder
from sanare.decision.ladder import decide, planning_rung
from sanare.evaluator.kinds import Kind
from tests.unit.incidents import DIGEST, T0, attempt, incident, minutes, proposal, verdict

DEFAULT = PolicySpec()
OTHER = "sha256:" + "b" * 64
PLAIN = Rung(tier=Tier.PLAIN_RETRY, model="small", attempts=2)
REFLECT = Rung(tier=Tier.REFLECTION_RETRY, model="small", when=When.PARTIAL_OR_MULTI)
STRONG = Rung(tier=Tier.STRONGER_MODEL, model="large", min_severity="High")
HUMAN = Rung(tier=Tier.HUMAN)
TIERED = PolicySpec(ladder=(REFLECT, PLAIN, STRONG, HUMAN), budget=Budget(attempts=2))
NO_HUMAN = PolicySpec(ladder=(PLAIN,), budget=Budget(attempts=1))

FAILED = attempt(model="small")
PARTIAL = attempt(model="small", signal=Signal.PARTIAL, undone=False)
TWICE = (attempt(1, model="small"), attempt(2, model="small"))
DELETED = attempt(undone=False, mutations=(Mutation(at=T0, verb="delete", object="Deployment/web"),))
APPROVE = {"approval": {"decision": "Approve", "digest": DIGEST, "approver": "dana"}}
REJECT = {"approval": {"decision": "Reject", "approver": "dana", "comment": "no"}}
OBSERVE = {"mode": "Observe"}


@dataclass(frozen=True)
class Case:
    said: str
    incident: Incident
    step: ladder.Step
    policy: PolicySpec | None = DEFAULT
    after: float = 0  # minutes since T0
    checked: float | None = 0


def fixed(**status: Any) -> Incident:
    return incident(verdict=verdict(Result.FIXED, signal=Signal.NONE, reason="all well"), **status)


CASES = (
    Case("a new one is admitted", incident(conditions={ConditionType.ACCEPTED: ("False", "New")}), ladder.Admit()),
    Case("without a policy it is admitted again, which says why", incident(), ladder.Admit(), policy=None),
    Case("without a baseline it is admitted", incident(baseline=None), ladder.Admit()),
    Case(
        "a running attempt that no worker holds was interrupted",
        incident(attempts=(attempt(state=AttemptState.RUNNING, result=None),)),
        ladder.Interrupt(attempt(state=AttemptState.RUNNING, result=None)),
    ),
    Case(
        "an interrupted attempt is judged, not repeated",
        incident(attempts=(attempt(state=AttemptState.INTERRUPTED, result=None),)),
        ladder.Judge(attempt(state=AttemptState.INTERRUPTED, result=None)),
    ),
    Case(
        "an attempt that has acted is judged",
        incident(attempts=(attempt(result=None),)),
        ladder.Judge(attempt(result=None)),
    ),
    Case("the first attempt is the first open rung", incident(), ladder.Act(DEFAULT.ladder[0], 1, False)),
    Case("a reflection needs an attempt to reflect on", incident(), ladder.Act(PLAIN, 1, False), policy=TIERED),
    Case(
        "a failed attempt without progress is undone first",
        incident(attempts=(attempt(undone=False),)),
        ladder.Undo(attempt(undone=False)),
    ),
    Case(
        "partial progress is kept for the next attempt",
        incident(attempts=(PARTIAL,)),
        ladder.Act(REFLECT, 2, True),
        policy=TIERED,
    ),
    Case(
        "a policy may forbid the undo",
        incident(attempts=(attempt(undone=False),)),
        ladder.Act(DEFAULT.ladder[0], 2, False),
        policy=PolicySpec(rollback=Rollback.NEVER),
    ),
    Case(
        "an attempt that changed nothing owes no undo",
        incident(attempts=(attempt(undone=False, mutation_count=0, model="small"),)),
        ladder.Act(PLAIN, 2, False),
        policy=TIERED,
    ),
    Case("a single fault is retried plainly", incident(attempts=(FAILED,)), ladder.Act(PLAIN, 2, False), TIERED),
    Case(
        "several faults are reflected on",
        incident(attempts=(attempt(model="small", signal=Signal.MULTI),)),
        ladder.Act(REFLECT, 2, True),
        TIERED,
    ),
    Case(
        "high severity climbs to the stronger model when the retries are used",
        incident(attempts=TWICE, spec={"severity": "High"}),
        ladder.Act(STRONG, 3, False),
        TIERED,
    ),
    Case(
        "low severity goes to a person",
        incident(attempts=TWICE, spec={"severity": "Low"}),
        ladder.Propose(HUMAN),
        TIERED,
    ),
    Case(
        "a runbook that found nothing to do is not asked again",
        incident(attempts=(attempt(mutation_count=0),)),
        ladder.Propose(HUMAN),
    ),
    Case(
        "a runbook that was cut off before it did anything is",
        incident(attempts=(attempt(mutation_count=0, state=AttemptState.INTERRUPTED),)),
        ladder.Act(DEFAULT.ladder[0], 2, False),
    ),
    Case(
        "a used up ladder without a person ends",
        incident(attempts=(FAILED,)),
        ladder.Finish(Outcome.EXHAUSTED, "every rung of the ladder is used and none of them is Human"),
        NO_HUMAN,
    ),
    Case(
        "fixed after an attempt is ours",
        fixed(attempts=(attempt(result=Result.FIXED),)),
        ladder.Finish(Outcome.FIXED, "all well"),
    ),
    Case("fixed without one healed by itself", fixed(), ladder.Finish(Outcome.SELF_HEALED, "all well")),
    Case(
        "fixed long after a failed attempt is not claimed",
        fixed(attempts=(FAILED,)),
        ladder.Finish(Outcome.SELF_HEALED, "all well"),
    ),
    Case(
        "healthy at the first look while its alert fires was not reproduced",
        fixed(spec={"source": {"type": "Alertmanager"}}, conditions={ConditionType.HEALTHY: ("True", "Fixed")}),
        ladder.Finish(Outcome.NOT_REPRODUCED, "healthy when first looked at, while its alert fires: all well"),
    ),
    Case(
        "what cannot be judged is not touched",
        incident(verdict=verdict(Result.UNVERIFIED)),
        ladder.Wait(minutes(1)),
    ),
    Case(
        "and goes to a person when it stays so",
        incident(verdict=verdict(Result.UNVERIFIED)),
        ladder.Escalate("Unverified", "the evaluator cannot tell: "),
        after=6,
        checked=5.5,
    ),
    Case(
        "an unverified attempt is judged again",
        incident(attempts=(attempt(result=Result.UNVERIFIED),), verdict=verdict(Result.UNVERIFIED)),
        ladder.Judge(attempt(result=Result.UNVERIFIED)),
        after=2,
    ),
    Case(
        "Propose mode asks before the first write",
        incident(spec={"mode": "Propose"}),
        ladder.Propose(DEFAULT.ladder[0]),
    ),
    Case("Observe mode only looks", incident(spec=OBSERVE), ladder.Recheck(), after=2),
    Case("and waits in between", incident(spec=OBSERVE), ladder.Wait(minutes(1))),
    Case("a plan waits for its person", incident(proposal=proposal()), ladder.Wait(minutes(1))),
    Case("and is evaluated meanwhile", incident(proposal=proposal()), ladder.Recheck(), after=1),
    Case(
        "an approved plan is applied",
        incident(proposal=proposal(), spec=APPROVE),
        ladder.Apply(DEFAULT.ladder[0], 1),
    ),
    Case(
        "an approval of another plan is none",
        incident(proposal=proposal(OTHER), spec=APPROVE),
        ladder.Wait(minutes(1)),
    ),
    Case(
        "a rejected plan ends it",
        incident(proposal=proposal(), spec=REJECT),
        ladder.Finish(Outcome.REJECTED, "dana rejected the plan: no"),
    ),
    Case(
        "an approval after the deadline is too late",
        incident(proposal=proposal(expires=minutes(5)), spec=APPROVE),
        ladder.Escalate(
            "ApprovalExpired", "nobody decided before the plan expired; a new Incident makes a new plan"
        ),
        after=5,
    ),
    Case(
        "the wall clock ends automatic means",
        incident(),
        ladder.Escalate("WallClock", "the policy's budget.wallClock is used up; the last verdict stands in status"),
        after=61,
    ),
    Case(
        "an escalated one is only looked at",
        incident(conditions={ConditionType.ESCALATED: ("True", "NoPlan")}),
        ladder.Recheck(),
        after=1,
    ),
    Case(
        "an escalated one that became healthy ends well",
        fixed(conditions={ConditionType.ESCALATED: ("True", "NoPlan")}),
        ladder.Finish(Outcome.SELF_HEALED, "all well"),
    ),
    Case(
        "a suspended one says so first",
        incident(spec={"suspend": True}),
        ladder.Hold(True, "SuspendedBySpec", "spec.suspend is true; set it to false to go on"),
    ),
    Case(
        "and then waits for a change",
        incident(spec={"suspend": True}, conditions={ConditionType.SUSPENDED: ("True", "SuspendedBySpec")}),
        ladder.Wait(),
    ),
    Case(
        "a pause request of the policy holds it",
        incident(),
        ladder.Hold(True, "PausedByPolicy", "the policy's pauseRequests hold it: upgrade"),
        PolicySpec(pause_requests=("upgrade",)),
    ),
    Case(
        "and its end resumes it",
        incident(conditions={ConditionType.SUSPENDED: ("True", "PausedByPolicy")}),
        ladder.Hold(False, "Resumed", "nothing holds it"),
    ),
    Case(
        "a target that vanished ends it",
        incident(
            verdict=verdict(kind="Deleted", reason="Deployment/web is gone"), proposal=proposal(), spec=APPROVE
        ),
        ladder.Finish(Outcome.TARGET_GONE, "Deployment/web is gone; nothing is left to repair"),
    ),
    Case(
        "one that an attempt deleted is put back first",
        incident(verdict=verdict(kind="Deleted"), attempts=(DELETED,)),
        ladder.Undo(DELETED),
    ),
    Case(
        "what has ended stays ended",
        fixed(conditions={ConditionType.RESOLVED: ("True", "Fixed")}),
        ladder.Wait(),
    ),
    Case(
        "what ended badly stays ended too",
        incident(conditions={ConditionType.RESOLVED: ("False", "Rejected")}),
        ladder.Wait(),
    ),
    Case(
        "the number of attempts is bounded",
        incident(attempts=tuple(attempt(n, tier=Tier.STRONGER_MODEL, model=f"m{n}") for n in range(MAX_ATTEMPTS))),
        ladder.Escalate(
            "LadderUsed", "every rung of the ladder is used; the attempts and their reasons stand in status"
        ),
        TIERED,
    ),
    Case(
        "an applied plan that failed is not proposed for ever",
        incident(attempts=(*TWICE, attempt(3, tier=Tier.HUMAN))),
        ladder.Escalate(
            "LadderUsed", "every rung of the ladder is used; the attempts and their reasons stand in status"
        ),
        TIERED,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.said)
def test_the_next_step(case: Case) -> None:
    checked = None if case.checked is None else minutes(case.checked)
    assert decide(case.incident, case.policy, now=minutes(case.after), checked=checked) == case.step


def test_every_step_of_the_module_is_in_the_table() -> None:
    seen = {type(case.step) for case in CASES}
    assert seen == set(ladder.Step.__args__)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [((), PLAIN), ((attempt(tier=Tier.STRONGER_MODEL, model="large"),), STRONG)],
    ids=["nobody acted yet: the first acting rung", "the last that acted"],
)
def test_a_person_is_shown_the_plan_of(attempts: tuple[Any, ...], expected: Rung) -> None:
    policy = PolicySpec(ladder=(PLAIN, STRONG, HUMAN))
    assert planning_rung(HUMAN, incident(attempts=attempts), policy) == expected


def test_the_loosest_mode_that_an_incident_can_have_is_its_policys() -> None:
    propose = PolicySpec(mode="Propose")
    step = decide(incident(spec={"mode": "Enforce"}), propose, now=T0, checked=T0)
    assert isinstance(step, ladder.Propose)


def test_the_word_for_a_vanished_target_is_the_evaluators() -> None:
    assert ladder.GONE_KIND == Kind.DELETED
