"""Which repairs are watched, and how one is woken by the Incident that shows it to have regressed."""

from __future__ import annotations

from sanare.api.incident import Incident
from sanare.api.status import ConditionType, Outcome
from sanare.reconcile.queue import Key
from sanare.reconcile.watchlist import Watchlist
from tests.unit.incidents import T0, incident, minutes

OLD = Key("shop", "old")


def repaired(name: str = "old", *, until: float = 60, resolved: float = 0, regressed: bool = False) -> Incident:
    conditions = {ConditionType.REGRESSED: ("True", "TargetFailing")} if regressed else {}
    found = incident(
        conditions=conditions,  # type: ignore[arg-type]
        outcome=Outcome.FIXED,
        resolved_at=minutes(resolved),
        watched_until=minutes(until),
    )
    return found.model_copy(update={"metadata": found.metadata.model_copy(update={"name": name})})


def test_the_last_repair_about_the_same_is_found_inside_its_window() -> None:
    watched = Watchlist()
    watched.note(repaired(), now=T0)
    watched.note(repaired("older", resolved=-5), now=T0)
    assert watched.earlier(incident(), at=minutes(30)) == OLD
    assert watched.earlier(incident(), at=minutes(61)) is None
    assert watched.earlier(incident(spec={"targets": [{"kind": "Service", "name": "x"}]}), at=minutes(30)) is None


def test_what_has_regressed_or_left_its_window_is_watched_no_more() -> None:
    watched = Watchlist()
    watched.note(repaired(), now=T0)
    watched.note(repaired(regressed=True), now=T0)
    assert watched.earlier(incident(), at=minutes(30)) is None
    watched.note(repaired(), now=minutes(61))
    assert watched.earlier(incident(), at=minutes(30)) is None


def test_a_failure_at_the_last_look_is_still_to_be_confirmed() -> None:
    watched = Watchlist()
    watched.note(repaired(), now=minutes(60))
    watched.suspect(OLD, until=minutes(63))
    watched.note(repaired(), now=minutes(62))
    assert watched.confirm(OLD) == minutes(63)
    watched.note(repaired(regressed=True), now=minutes(63))
    assert watched.confirm(OLD) is None


def test_a_report_wakes_the_repair_once_and_stands_until_it_was_looked_at() -> None:
    watched = Watchlist()
    watched.note(repaired(), now=T0)
    watched.report(OLD, "again")
    watched.report(OLD, "again")
    assert watched.woken() == (OLD,)
    assert watched.woken() == ()
    assert watched.reported(OLD) == "again"
    watched.settle(OLD)
    assert watched.reported(OLD) == ""


def test_a_report_on_what_is_not_watched_is_dropped() -> None:
    watched = Watchlist()
    watched.report(OLD, "again")
    assert (watched.woken(), watched.reported(OLD)) == ((), "")
