"""How an Incident ends, and what is measured and marked at its end and after it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from sanare import telemetry
from sanare.api.policy import PolicySpec, Verify
from sanare.api.status import ConditionType, Outcome, Phase
from sanare.api.verdict import Result
from sanare.decision.conditions import Truth, find_condition
from sanare.decision.step import Disregard, Finish, Reopen
from sanare.kube.client import KubeClient
from sanare.kube.events import EventRecorder
from sanare.kube.records import record_name
from sanare.reconcile.chronicle import Chronicle
from sanare.reconcile.closing import disregard, finish, reopen
from sanare.reconcile.not_reproduced import note_alert_end
from tests.unit.incidents import T0, attempt, incident, minutes, proposal, verdict
from tests.unit.reconcile.shelf import Shelf

REPAIRED = attempt(result=Result.FIXED, undone=False)


def opened(shelf: Shelf, *, at: float = 0, watch: timedelta = timedelta(hours=1)) -> Chronicle:
    kube = cast(KubeClient, shelf)
    chronicle = Chronicle(kube, EventRecorder(kube), shelf.incident, clock=lambda: minutes(at))
    chronicle.policy = PolicySpec(verify=Verify(watch=watch))
    return chronicle


def count(name: str, **labels: str) -> float:
    return telemetry.REGISTRY.get_sample_value(name, labels) or 0.0


async def test_the_time_to_verified_runs_from_the_proof_to_the_start_of_the_window_that_lasted() -> None:
    shelf = Shelf(incident(attempts=(REPAIRED,), verdict=None))
    chronicle = opened(shelf)
    chronicle.verdict(verdict().model_copy(update={"evaluated_at": T0}))
    chronicle.verdict(verdict(reason="still").model_copy(update={"evaluated_at": minutes(2)}))
    healthy = verdict(Result.FIXED).model_copy(update={"healthy_since": minutes(5)})
    chronicle.verdict(healthy)
    chronicle.verdict(healthy.model_copy(update={"healthy_since": minutes(7)}))  # after its durability was proved
    before = count("sanare_time_to_verified_seconds_sum", tier="PlainRetry")
    await finish(chronicle, Finish(Outcome.FIXED, "all well"))
    status = shelf.incident.status
    assert (status.proved_at, status.verified_seconds) == (T0, 300.0)
    assert count("sanare_time_to_verified_seconds_sum", tier="PlainRetry") - before == 300.0


async def test_who_decided_on_another_plan_is_told_and_the_plan_waits_on() -> None:
    shelf = Shelf(incident(proposal=proposal()))
    await disregard(opened(shelf), Disregard("about another plan"))
    waiting = find_condition(shelf.incident.status.conditions, ConditionType.AWAITING_APPROVAL)
    assert waiting is not None
    assert (waiting.status, waiting.reason, waiting.message) == ("True", "OtherPlanDecided", "about another plan")
    assert shelf.incident.status.phase is Phase.AWAITING_APPROVAL
    assert shelf.incident.status.proposal == proposal()


async def test_nothing_waits_any_more_where_a_plan_was_rejected() -> None:
    waits: dict[ConditionType, tuple[Truth, str]] = {
        ConditionType.AWAITING_APPROVAL: ("True", "PlanRecorded"),
        ConditionType.REPAIRING: ("False", "AwaitingApproval"),
    }
    shelf = Shelf(incident(proposal=proposal(), conditions=waits))
    await finish(opened(shelf), Finish(Outcome.REJECTED, "no"))
    for kind in waits:
        ended = find_condition(shelf.incident.status.conditions, kind)
        assert ended is not None
        assert (ended.status, ended.reason) == ("False", "Ended")


async def test_a_window_that_did_not_last_does_not_count() -> None:
    chronicle = opened(Shelf(incident(verdict=None, proved_at=T0)))
    chronicle.verdict(verdict(Result.FIXED).model_copy(update={"healthy_since": minutes(5)}))
    chronicle.verdict(verdict(kind="NotDurable"))
    assert chronicle.status.verified_seconds is None
    chronicle.verdict(verdict(Result.FIXED).model_copy(update={"healthy_since": minutes(9)}))
    assert chronicle.status.verified_seconds == 540.0


async def test_a_repair_is_watched_from_its_end_on() -> None:
    shelf = Shelf(incident(attempts=(REPAIRED,)))
    await finish(opened(shelf, at=3), Finish(Outcome.FIXED, "all well"))
    assert shelf.incident.status.watched_until == minutes(63)


async def test_what_healed_by_itself_or_is_not_to_be_watched_is_not() -> None:
    shelf = Shelf(incident(attempts=(REPAIRED,)))
    await finish(opened(shelf, watch=timedelta()), Finish(Outcome.FIXED, "all well"))
    assert shelf.incident.status.watched_until is None
    shelf = Shelf(incident())
    await finish(opened(shelf), Finish(Outcome.SELF_HEALED, "all well"))
    assert shelf.incident.status.watched_until is None


async def test_what_shows_after_all_is_taken_back_from_the_person() -> None:
    shelf = Shelf(incident(conditions={ConditionType.ESCALATED: ("True", "NotReproduced")}))
    await reopen(opened(shelf, at=90), Reopen("it shows now: why"))
    status = shelf.incident.status
    escalated = find_condition(status.conditions, ConditionType.ESCALATED)
    assert escalated is not None
    assert (escalated.status, escalated.reason) == ("False", "Reproduced")
    assert (status.started_at, status.phase) == (minutes(90), Phase.REPAIRING)


async def test_the_end_of_its_alert_is_read_from_the_record_that_the_webhook_left() -> None:
    shelf = Shelf(incident())
    chronicle = opened(shelf)
    await note_alert_end(cast(KubeClient, shelf), chronicle)
    assert chronicle.status.alert_ended_at is None
    spec: dict[str, Any] = {"type": "AlertEnd", "incident": "web", "part": 0}
    name = record_name(shelf.incident.metadata, "AlertEnd", 0)
    shelf.records[name] = {"spec": {**spec, "data": '{"endsAt": "2026-11-01T12:05:00Z"}'}}
    await note_alert_end(cast(KubeClient, shelf), chronicle)
    await note_alert_end(cast(KubeClient, shelf), chronicle)
    assert chronicle.status.alert_ended_at == minutes(5)
    assert [entry.event for entry in chronicle.status.audit.recent] == ["AlertEnded"]
