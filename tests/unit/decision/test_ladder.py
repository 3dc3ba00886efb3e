"""Every transition of an Incident, as a table: (status, policy, now) to the next step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from sanare.api.attempt import Attempt, AttemptState, DurabilityState, Mutation, Tier
from sanare.api.attempt import Durability as Tried
from sanare.api.incident import Incident
from sanare.api.policy import Budget, Durability, PolicySpec, Rollback, Rung, Verify, When
from sanare.api.status import MAX_ATTEMPTS, ConditionType, Outcome
from sanare.api.verdict import Result, Signal
from sanare.decision import ladder, step
from sanare.decision.ladder import decide
from sanare.decision.rungs import planning_rung
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
ALERT = {"source": {"type": "Alertmanager"}}
ALERT_REJECT = {**ALERT, **REJECT}
DURABLE = PolicySpec(verify=Verify(durability=Durability(delete_pod=True)))
STANDING = attempt(undone=False, signal=Signal.PARTIAL)
REPAIRED = attempt(result=Result.FIXED, undone=False)
PARKED: dict[ConditionType, tuple[Any, str]] = {ConditionType.ESCALATED: ("True", "NotReproduced")}
HANDED_OVER: dict[ConditionType, tuple[Any, str]] = {ConditionType.ESCALATED: ("True", "NoPlan")}
UNKNOWABLE: dict[ConditionType, tuple[Any, str]] = {ConditionType.ESCALATED: ("True", "Unverified")}
WAITS: dict[ConditionType, tuple[Any, str]] = {ConditionType.AWAITING_APPROVAL: ("True", "PlanRecorded")}
ENDED: dict[ConditionType, tuple[Any, str]] = {ConditionType.RESOLVED: ("True", "Fixed")}


def tried(state: DurabilityState, **fields: Any) -> Attempt:
    """A repair that was healthy, and how far its durability was tried."""
    return REPAIRED.model_copy(update={"durability": Tried(state=state, pod="web-1", uid="u2", at=T0), **fields})


UNTOLD = tried(DurabilityState.BLOCKED, result=Result.UNVERIFIED)
NOT_REPRODUCED = (
    "healthy when first looked at, while its alert fires: all well. What the alert sees and no check does can be "
    "said in spec.checks of another Incident. This one goes on by itself should it fail, and ends with its alert "
    "or with spec.approval.decision Reject"
)


@dataclass(frozen=True)
class Case:
    said: str
    incident: Incident
    expected: step.Step
    policy: PolicySpec | None = DEFAULT
    after: float = 0  # minutes since T0
    checked: float | None = 0


def edited(one: Incident) -> Incident:
    """The Incident after its spec was changed."""
    return one.model_copy(update={"metadata": one.metadata.model_copy(update={"generation": 2})})


def fixed(**status: Any) -> Incident:
    return incident(verdict=verdict(Result.FIXED, signal=Signal.NONE, reason="all well"), **status)


CASES = (
    Case("a new one is admitted", incident(conditions={ConditionType.ACCEPTED: ("False", "New")}), step.Admit()),
    Case("without a policy it is admitted again, which says why", incident(), step.Admit(), policy=None),
    Case("without a baseline it is admitted", incident(baseline=None), step.Admit()),
    Case(
        "a running attempt that no worker holds was interrupted",
        incident(attempts=(attempt(state=AttemptState.RUNNING, result=None),)),
        step.Interrupt(attempt(state=AttemptState.RUNNING, result=None)),
    ),
    Case(
        "an interrupted attempt is judged, not repeated",
        incident(attempts=(attempt(state=AttemptState.INTERRUPTED, result=None),)),
        step.Judge(attempt(state=AttemptState.INTERRUPTED, result=None)),
    ),
    Case(
        "an attempt that has acted is judged",
        incident(attempts=(attempt(result=None),)),
        step.Judge(attempt(result=None)),
    ),
    Case("the first attempt is the first open rung", incident(), step.Act(DEFAULT.ladder[0], 1, False)),
    Case("a reflection needs an attempt to reflect on", incident(), step.Act(PLAIN, 1, False), policy=TIERED),
    Case(
        "a failed attempt without progress is undone first",
        incident(attempts=(attempt(undone=False),)),
        step.Undo(attempt(undone=False)),
    ),
    Case(
        "but nothing is put back where it was tightened to Observe meanwhile",
        incident(attempts=(attempt(undone=False),), spec=OBSERVE),
        step.Recheck(),
        after=2,
    ),
    Case(
        "partial progress is kept for the next attempt",
        incident(attempts=(PARTIAL,)),
        step.Act(REFLECT, 2, True),
        policy=TIERED,
    ),
    Case(
        "a policy may forbid the undo",
        incident(attempts=(attempt(undone=False),)),
        step.Act(DEFAULT.ladder[0], 2, False),
        policy=PolicySpec(rollback=Rollback.NEVER),
    ),
    Case(
        "an attempt that changed nothing owes no undo",
        incident(attempts=(attempt(undone=False, mutation_count=0, model="small"),)),
        step.Act(PLAIN, 2, False),
        policy=TIERED,
    ),
    Case("a single fault is retried plainly", incident(attempts=(FAILED,)), step.Act(PLAIN, 2, False), TIERED),
    Case(
        "several faults are reflected on",
        incident(attempts=(attempt(model="small", signal=Signal.MULTI),)),
        step.Act(REFLECT, 2, True),
        TIERED,
    ),
    Case(
        "high severity climbs to the stronger model when the retries are used",
        incident(attempts=TWICE, spec={"severity": "High"}),
        step.Act(STRONG, 3, False),
        TIERED,
    ),
    Case(
        "low severity goes to a person",
        incident(attempts=TWICE, spec={"severity": "Low"}),
        step.Propose(HUMAN),
        TIERED,
    ),
    Case(
        "a runbook that found nothing to do is not asked again",
        incident(attempts=(attempt(mutation_count=0),)),
        step.Propose(HUMAN),
    ),
    Case(
        "a runbook that was cut off before it did anything is",
        incident(attempts=(attempt(mutation_count=0, state=AttemptState.INTERRUPTED),)),
        step.Act(DEFAULT.ladder[0], 2, False),
    ),
    Case(
        "a used up ladder without a person ends",
        incident(attempts=(FAILED,)),
        step.Finish(Outcome.EXHAUSTED, "every rung of the ladder is used and none of them is Human"),
        NO_HUMAN,
    ),
    Case(
        "fixed after an attempt is ours",
        fixed(attempts=(attempt(result=Result.FIXED),)),
        step.Finish(Outcome.FIXED, "all well"),
    ),
    Case("fixed without one healed by itself", fixed(), step.Finish(Outcome.SELF_HEALED, "all well")),
    Case(
        "fixed long after a failed attempt is not claimed",
        fixed(attempts=(FAILED,)),
        step.Finish(Outcome.SELF_HEALED, "all well"),
    ),
    Case(
        "healthy after the verdict on an attempt whose changes stand is ours",
        fixed(attempts=(STANDING,)),
        step.Finish(Outcome.FIXED, "all well"),
    ),
    Case(
        "and also where what was taken back left something over",
        fixed(attempts=(attempt(leftovers=("Pod/web-1: gone",)),)),
        step.Finish(Outcome.FIXED, "all well"),
    ),
    Case(
        "but not once a person had it",
        fixed(attempts=(STANDING,), conditions=HANDED_OVER),
        step.Finish(Outcome.SELF_HEALED, "all well; what attempt 1 changed stands"),
    ),
    Case(
        "an attempt that changed nothing repaired nothing",
        fixed(attempts=(attempt(result=Result.FIXED, mutation_count=0),)),
        step.Finish(Outcome.SELF_HEALED, "all well"),
    ),
    Case(
        "healthy at the first look while its alert fires goes to a person",
        fixed(spec=ALERT),
        step.Escalate("NotReproduced", NOT_REPRODUCED),
    ),
    Case(
        "healthy after it was seen broken healed by itself",
        fixed(spec=ALERT, proved_at=T0),
        step.Finish(Outcome.SELF_HEALED, "all well"),
    ),
    Case("what was not reproduced is looked at", fixed(spec=ALERT, conditions=PARKED), step.Recheck(), after=1),
    Case(
        "and ends with its alert",
        fixed(spec=ALERT, conditions=PARKED, alert_ended_at=T0),
        step.Finish(Outcome.NOT_REPRODUCED, "its alert ended, and it was healthy whenever looked at: all well"),
    ),
    Case(
        "or when a person closes it",
        fixed(spec=ALERT_REJECT, conditions=PARKED),
        step.Finish(Outcome.NOT_REPRODUCED, "dana closed it: no"),
    ),
    Case(
        "and goes on by itself where it shows",
        incident(spec=ALERT, conditions=PARKED),
        step.Reopen("it shows now: why"),
    ),
    Case(
        "a person may close whatever was given to them",
        incident(spec=REJECT, conditions=HANDED_OVER),
        step.Finish(Outcome.REJECTED, "dana closed it: no"),
    ),
    Case("a repair is tried on a new pod", fixed(attempts=(REPAIRED,)), step.Disrupt(REPAIRED), DURABLE),
    Case(
        "also one that became healthy after its verdict",
        fixed(attempts=(STANDING,)),
        step.Disrupt(STANDING),
        DURABLE,
    ),
    Case(
        "but not where it was tightened to Observe meanwhile",
        fixed(attempts=(REPAIRED,), spec=OBSERVE),
        step.Wait(minutes(1)),
        DURABLE,
    ),
    Case(
        "a deletion that a crash cut off is gone on with",
        fixed(attempts=(tried(DurabilityState.INTENDED),)),
        step.Disrupt(tried(DurabilityState.INTENDED)),
        DURABLE,
    ),
    Case(
        "what follows the deleted pod is judged",
        fixed(attempts=(tried(DurabilityState.DELETED, result=None),)),
        step.Judge(tried(DurabilityState.DELETED, result=None)),
        DURABLE,
    ),
    Case(
        "a durable repair ends it",
        fixed(attempts=(tried(DurabilityState.PASSED),)),
        step.Finish(Outcome.FIXED, "all well"),
        DURABLE,
    ),
    Case(
        "one that is not is undone",
        incident(
            verdict=verdict(kind="NotDurable"), attempts=(tried(DurabilityState.FAILED, result=Result.NOT_FIXED),)
        ),
        step.Undo(tried(DurabilityState.FAILED, result=Result.NOT_FIXED)),
        DURABLE,
    ),
    Case(
        "durability that may not be tried is tried again",
        incident(verdict=verdict(Result.UNVERIFIED), attempts=(UNTOLD,)),
        step.Disrupt(UNTOLD),
        DURABLE,
        after=1,
    ),
    Case(
        "then goes to a person",
        incident(verdict=verdict(Result.UNVERIFIED), attempts=(UNTOLD,)),
        step.Escalate("Unverified", "the evaluator cannot tell: "),
        DURABLE,
        after=6,
    ),
    Case(
        "who has it while the policy asks for it",
        fixed(attempts=(UNTOLD,), conditions=UNKNOWABLE),
        step.Wait(minutes(1)),
        DURABLE,
    ),
    Case(
        "and it is ours when the policy no longer does",
        fixed(attempts=(UNTOLD,), conditions=UNKNOWABLE),
        step.Finish(Outcome.FIXED, "all well"),
    ),
    Case(
        "a pod that was deleted before nobody could tell is judged when one can",
        fixed(attempts=(tried(DurabilityState.DELETED, result=Result.UNVERIFIED),), conditions=UNKNOWABLE),
        step.Judge(tried(DurabilityState.DELETED, result=Result.UNVERIFIED)),
        DURABLE,
    ),
    Case(
        "nothing is undone while nobody can tell whether it is broken",
        incident(verdict=verdict(Result.UNVERIFIED), attempts=(attempt(undone=False),)),
        step.Wait(minutes(1)),
    ),
    Case(
        "what cannot be judged is not touched",
        incident(verdict=verdict(Result.UNVERIFIED)),
        step.Wait(minutes(1)),
    ),
    Case(
        "and goes to a person when it stays so",
        incident(verdict=verdict(Result.UNVERIFIED)),
        step.Escalate("Unverified", "the evaluator cannot tell: "),
        after=6,
        checked=5.5,
    ),
    Case(
        "an unverified attempt is judged again",
        incident(attempts=(attempt(result=Result.UNVERIFIED),), verdict=verdict(Result.UNVERIFIED)),
        step.Judge(attempt(result=Result.UNVERIFIED)),
        after=2,
    ),
    Case(
        "Propose mode asks before the first write",
        incident(spec={"mode": "Propose"}),
        step.Propose(DEFAULT.ladder[0]),
    ),
    Case("Observe mode only looks", incident(spec=OBSERVE), step.Recheck(), after=2),
    Case("and waits in between", incident(spec=OBSERVE), step.Wait(minutes(1))),
    Case("a plan waits for its person", incident(proposal=proposal()), step.Wait(minutes(1))),
    Case("and is evaluated meanwhile", incident(proposal=proposal()), step.Recheck(), after=1),
    Case(
        "an approved plan is applied",
        incident(proposal=proposal(), spec=APPROVE),
        step.Apply(DEFAULT.ladder[0], 1),
    ),
    Case(
        "an approval of another plan is none",
        incident(proposal=proposal(OTHER), spec=APPROVE),
        step.Wait(minutes(1)),
    ),
    Case(
        "whoever approves another plan is told",
        edited(incident(proposal=proposal(OTHER), spec=APPROVE, conditions=WAITS)),
        step.Disregard(f"the decision in spec.approval is about another plan; the one that waits is {OTHER}"),
    ),
    Case(
        "and told once",
        incident(proposal=proposal(OTHER), spec=APPROVE, conditions=WAITS),
        step.Wait(minutes(1)),
    ),
    Case(
        "a spec that changed otherwise is no decision",
        edited(incident(proposal=proposal(OTHER), conditions=WAITS)),
        step.Wait(minutes(1)),
    ),
    Case(
        "a rejected plan ends it",
        incident(proposal=proposal(), spec=REJECT),
        step.Finish(Outcome.REJECTED, "dana rejected the plan: no"),
    ),
    Case(
        "an approval after the deadline is too late",
        incident(proposal=proposal(expires=minutes(5)), spec=APPROVE),
        step.Escalate("ApprovalExpired", "nobody decided before the plan expired; a new Incident makes a new plan"),
        after=5,
    ),
    Case(
        "the wall clock ends automatic means",
        incident(),
        step.Escalate("WallClock", "the policy's budget.wallClock is used up; the last verdict stands in status"),
        after=61,
    ),
    Case(
        "an escalated one is only looked at",
        incident(conditions={ConditionType.ESCALATED: ("True", "NoPlan")}),
        step.Recheck(),
        after=1,
    ),
    Case(
        "an escalated one that became healthy ends well",
        fixed(conditions={ConditionType.ESCALATED: ("True", "NoPlan")}),
        step.Finish(Outcome.SELF_HEALED, "all well"),
    ),
    Case(
        "a suspended one says so first",
        incident(spec={"suspend": True}),
        step.Hold(True, "SuspendedBySpec", "spec.suspend is true; set it to false to go on"),
    ),
    Case(
        "and then waits for a change",
        incident(spec={"suspend": True}, conditions={ConditionType.SUSPENDED: ("True", "SuspendedBySpec")}),
        step.Wait(),
    ),
    Case(
        "a pause request of the policy holds it",
        incident(),
        step.Hold(True, "PausedByPolicy", "the policy's pauseRequests hold it: upgrade"),
        PolicySpec(pause_requests=("upgrade",)),
    ),
    Case(
        "and its end resumes it",
        incident(conditions={ConditionType.SUSPENDED: ("True", "PausedByPolicy")}),
        step.Hold(False, "Resumed", "nothing holds it"),
    ),
    Case(
        "a target that vanished ends it",
        incident(
            verdict=verdict(kind="Deleted", reason="Deployment/web is gone"), proposal=proposal(), spec=APPROVE
        ),
        step.Finish(Outcome.TARGET_GONE, "Deployment/web is gone; nothing is left to repair"),
    ),
    Case(
        "one that an attempt deleted is put back first",
        incident(verdict=verdict(kind="Deleted"), attempts=(DELETED,)),
        step.Undo(DELETED),
    ),
    Case(
        "what has ended stays ended",
        fixed(conditions={ConditionType.RESOLVED: ("True", "Fixed")}),
        step.Wait(),
    ),
    Case(
        "what was fixed is watched",
        fixed(conditions=ENDED, outcome=Outcome.FIXED, resolved_at=T0, watched_until=minutes(60)),
        step.Watch(),
        after=1,
    ),
    Case(
        "what ended badly stays ended too",
        incident(conditions={ConditionType.RESOLVED: ("False", "Rejected")}),
        step.Wait(),
    ),
    Case(
        "the number of attempts is bounded",
        incident(attempts=tuple(attempt(n, tier=Tier.STRONGER_MODEL, model=f"m{n}") for n in range(MAX_ATTEMPTS))),
        step.Escalate(
            "LadderUsed", "every rung of the ladder is used; the attempts and their reasons stand in status"
        ),
        TIERED,
    ),
    Case(
        "an applied plan that failed is not proposed for ever",
        incident(attempts=(*TWICE, attempt(3, tier=Tier.HUMAN))),
        step.Escalate(
            "LadderUsed", "every rung of the ladder is used; the attempts and their reasons stand in status"
        ),
        TIERED,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.said)
def test_the_next_step(case: Case) -> None:
    checked = None if case.checked is None else minutes(case.checked)
    assert decide(case.incident, case.policy, now=minutes(case.after), checked=checked) == case.expected


def test_every_step_of_the_module_is_in_the_table() -> None:
    seen = {type(case.expected) for case in CASES}
    assert seen == set(step.Step.__args__)  # type: ignore[attr-defined]


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
    found = decide(incident(spec={"mode": "Enforce"}), propose, now=T0, checked=T0)
    assert isinstance(found, step.Propose)


def test_the_word_for_a_vanished_target_is_the_evaluators() -> None:
    assert ladder.GONE_KIND == Kind.DELETED


ESCALATIONS: tuple[dict[ConditionType, tuple[Any, str]], ...] = ({}, PARKED, HANDED_OVER, UNKNOWABLE)


@pytest.mark.parametrize("policy", [DEFAULT, TIERED, NO_HUMAN, DURABLE, PolicySpec(mode="Observe")])
@pytest.mark.parametrize("spec", [{}, ALERT, OBSERVE, {"mode": "Propose"}, APPROVE])
@pytest.mark.parametrize("conditions", ESCALATIONS)
@pytest.mark.parametrize("after", [0, 2, 10, 1000])
def test_unverified_closes_nothing_and_touches_nothing(
    policy: PolicySpec, spec: dict[str, Any], conditions: dict[ConditionType, tuple[Any, str]], after: float
) -> None:
    attempts = [(), (FAILED,), (attempt(undone=False),), (STANDING,), (REPAIRED,), (UNTOLD,), (DELETED,), TWICE]
    attempts += [(tried(state, result=Result.UNVERIFIED),) for state in DurabilityState]
    for tries in attempts:
        for kind in ("Forbidden", "Deleted"):
            for plan in (None, proposal()):
                unknown = incident(
                    verdict=verdict(Result.UNVERIFIED, kind=kind),
                    attempts=tries,
                    spec=spec,
                    conditions=conditions,
                    proposal=plan,
                    alert_ended_at=T0,
                )
                found = decide(unknown, policy, now=minutes(after), checked=T0)
                assert isinstance(found, step.Wait | step.Recheck | step.Judge | step.Disrupt | step.Escalate)
