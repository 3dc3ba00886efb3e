"""The open record of an Incident: nothing staged is lost, and a crash between two writes is survived."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from sanare.api.attempt import AttemptState
from sanare.api.manifest import Ref
from sanare.decision.step import Interrupt
from sanare.kube.client import KubeClient
from sanare.kube.events import EventRecorder, Happening
from sanare.kube.records import record_name
from sanare.kubectl.journal import Journal, MutationRecord
from sanare.memory import audit
from sanare.reconcile.attempt import interrupt
from sanare.reconcile.chronicle import Chronicle
from sanare.reconcile.journal import AttemptJournal, DurabilityJournal, UndoJournal, load_journal
from tests.unit.incidents import T0, attempt, incident
from tests.unit.reconcile.shelf import Shelf

RUNNING = attempt(state=AttemptState.RUNNING, result=None, mutation_count=0, undone=False)


def opened(shelf: Shelf) -> Chronicle:
    kube = cast(KubeClient, shelf)
    return Chronicle(kube, EventRecorder(kube), shelf.incident, clock=lambda: T0)


def record(seq: int, *, before: Any = None, status: int = 200) -> MutationRecord:
    return MutationRecord(
        seq=seq,
        at=T0,
        verb="patch",
        ref=Ref("ConfigMap", "shop", "web", "v1", "u2"),
        method="PATCH",
        path="/api/v1/namespaces/shop/configmaps/web",
        before=before,
        after=before,
        status=status,
    )


async def test_what_is_staged_while_a_write_is_under_way_is_kept() -> None:
    shelf = Shelf(incident(attempts=(RUNNING,)), gate=asyncio.Event())
    chronicle = opened(shelf)
    chronicle.note("First", "before the write")
    writing = asyncio.create_task(chronicle.commit())
    await asyncio.sleep(0)
    chronicle.note("Second", "while it is under way")
    assert shelf.gate is not None
    shelf.gate.set()
    await writing
    await chronicle.commit()
    assert [entry.event for entry in shelf.incident.status.audit.recent] == ["First", "Second"]


async def test_what_people_are_told_is_a_line_in_the_log_as_well() -> None:
    with capture_logs() as lines:
        await opened(Shelf(incident())).tell(Happening("IncidentFailed", "nobody could", "Warning"))
    assert lines == [
        {"event": "IncidentFailed", "incident": "shop/web", "message": "nobody could", "log_level": "warning"}
    ]


async def test_a_mutation_is_in_a_record_and_in_the_status() -> None:
    shelf = Shelf(incident(attempts=(RUNNING,)))
    journal = AttemptJournal(cast(KubeClient, shelf), opened(shelf), 1)
    await journal.intend(record(1, status=0))
    await journal.done(record(1))
    assert [e.event for e in shelf.incident.status.audit.recent] == ["Intended", "Mutated"]
    assert shelf.incident.status.attempts[0].mutation_count == 1
    assert len(await load_journal(cast(KubeClient, shelf), shelf.incident, 1)) == 1


NOTED: dict[str, tuple[Callable[[KubeClient, Chronicle], Journal], int, list[tuple[str, str]]]] = {
    "a deletion for durability": (
        lambda kube, chronicle: DurabilityJournal(kube, chronicle, 1),
        200,
        [("DurabilityIntended", ""), ("DurabilityDeleted", ": HTTP 200")],
    ),
    "one that is refused": (
        lambda kube, chronicle: DurabilityJournal(kube, chronicle, 1),
        429,
        [("DurabilityIntended", ""), ("DurabilityBlocked", ": HTTP 429")],
    ),
    "an undo": (
        lambda _, chronicle: UndoJournal(chronicle, 1),
        200,
        [("UndoIntended", ""), ("UndoWritten", ": HTTP 200")],
    ),
}


@pytest.mark.parametrize(("journal", "status", "noted"), NOTED.values(), ids=NOTED)
async def test_what_is_no_mutation_of_the_attempt_is_noted_before_and_after(
    journal: Callable[[KubeClient, Chronicle], Journal], status: int, noted: list[tuple[str, str]]
) -> None:
    shelf = Shelf(incident(attempts=(RUNNING,)))
    kept = journal(cast(KubeClient, shelf), opened(shelf))
    await kept.intend(record(1, status=0))
    await kept.done(record(1, status=status))
    written = f"attempt 1: patch {record(1).ref}"
    assert [(e.event, e.detail) for e in shelf.incident.status.audit.recent] == [
        (event, written + answer) for event, answer in noted
    ]
    assert shelf.incident.status.attempts[0].mutation_count == 0


async def test_a_refused_mutation_is_noted_and_not_counted() -> None:
    shelf = Shelf(incident(attempts=(RUNNING,)))
    await AttemptJournal(cast(KubeClient, shelf), opened(shelf), 1).done(record(1, status=422))
    assert shelf.incident.status.attempts[0].mutation_count == 0
    assert [e.event for e in shelf.incident.status.audit.recent] == ["RefusedByServer"]


async def test_a_large_object_still_has_a_record() -> None:
    shelf = Shelf(incident(attempts=(RUNNING,)))
    large = {"kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"a": "é" * 40_000}}
    await AttemptJournal(cast(KubeClient, shelf), opened(shelf), 1).done(record(1, before=large))
    (kept,) = shelf.records.values()
    assert len(kept["spec"]["data"].encode()) <= 65536
    assert shelf.incident.status.attempts[0].mutation_count == 1


async def test_a_piece_that_a_crash_left_behind_does_not_swallow_the_next() -> None:
    shelf = Shelf(incident(attempts=(RUNNING,)))
    crashed = AttemptJournal(cast(KubeClient, shelf), opened(shelf), 1)
    await crashed.done(record(1))
    shelf.incident = incident(attempts=(RUNNING,))  # the status that counted it was never written
    await AttemptJournal(cast(KubeClient, shelf), opened(shelf), 1).done(record(2))
    assert [r.seq for r in await load_journal(cast(KubeClient, shelf), shelf.incident, 1)] == [1, 2]


async def test_an_interrupted_attempt_learns_its_mutations_from_the_journal() -> None:
    shelf = Shelf(incident(attempts=(RUNNING,)))
    await AttemptJournal(cast(KubeClient, shelf), opened(shelf), 1).done(record(1))
    shelf.incident = incident(attempts=(RUNNING,))
    await interrupt(cast(KubeClient, shelf), opened(shelf), Interrupt(RUNNING))
    (seen,) = shelf.incident.status.attempts
    assert (seen.state, seen.mutation_count) == (AttemptState.INTERRUPTED, 1)


async def test_the_whole_chain_stands_in_records_at_the_close() -> None:
    shelf = Shelf(incident(attempts=(RUNNING,)))
    chronicle = opened(shelf)
    for number in range(50):
        chronicle.note("Mutated", f"entry {number}")
        await chronicle.commit()
    await chronicle.commit(closing=True)
    chain = shelf.incident.status.audit
    parts = [audit.unpack(json.loads(json.dumps(shelf.records[name]["spec"]["data"]))) for name in chain.store]
    assert audit.verify(chain.model_copy(update={"recent": ()}), parts).whole
    assert (chain.entries, chain.dropped) == (50, 0)


@pytest.mark.parametrize("length", [3, 200])
def test_an_incident_made_anew_does_not_meet_the_old_ones_records(length: int) -> None:
    first = incident().metadata.model_copy(update={"name": "x" * length, "uid": "aaaaaaaa-1"})
    second = first.model_copy(update={"uid": "bbbbbbbb-1"})
    names = {record_name(meta, "Baseline", 0) for meta in (first, second)}
    assert len(names) == 2
    assert all(len(name) <= 253 for name in names)
