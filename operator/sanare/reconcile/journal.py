"""The journal of one attempt: what is about to be written and what was, kept before anything else goes on.

`intend` stands in the audit chain before the request leaves; `done` keeps request, before and after in an
IncidentRecord and the mutation in status before kubectl gets its answer. After a crash the chain therefore names
every write that may have happened.
"""

from __future__ import annotations

import json
from typing import ClassVar

from sanare import errors
from sanare.api.attempt import Attempt
from sanare.api.incident import Incident
from sanare.kube.client import KubeClient
from sanare.kube.records import list_records, save_record
from sanare.kubectl.journal import MutationRecord, fitted
from sanare.reconcile.chronicle import Chronicle

STATUS_MUTATIONS = 16
RECORD_BYTES = 60_000  # of a record's 64 KiB
FREE_NUMBERS = 8


class _ChainedJournal:
    """Notes each write of attempt `number` in the chronicle's audit chain, as `INTENT` before it is sent."""

    INTENT: ClassVar[str]

    def __init__(self, chronicle: Chronicle, number: int) -> None:
        self._chronicle = chronicle
        self._number = number

    async def intend(self, record: MutationRecord) -> None:
        """Before the request leaves. Raises KubeError: what cannot be recorded is not done."""
        self._note(self.INTENT, record)
        await self._chronicle.commit()

    def _note(self, event: str, record: MutationRecord, answer: str = "") -> None:
        told = f"attempt {self._number}: {record.verb} {record.ref}"
        self._chronicle.note(event, f"{told}: {answer}" if answer else told)


class AttemptJournal(_ChainedJournal):
    """Keeps the mutations of attempt `number` in the chronicle and in records."""

    INTENT = "Intended"

    def __init__(self, kube: KubeClient, chronicle: Chronicle, number: int) -> None:
        super().__init__(chronicle, number)
        self._kube = kube

    async def done(self, record: MutationRecord) -> None:
        """After the API server's answer; a refused request changed nothing and is only noted."""
        mutation = record.mutation()
        if not record.ok:
            self._chronicle.note("RefusedByServer", f"{record.verb} {record.ref}: HTTP {record.status}")
            await self._chronicle.commit()
            return
        self._note("Mutated", record, mutation.summary)
        attempt = current_attempt(self._chronicle, self._number)
        kept = (*attempt.mutations, mutation)[:STATUS_MUTATIONS]
        replace_attempt(
            self._chronicle,
            attempt.model_copy(update={"mutations": kept, "mutation_count": attempt.mutation_count + 1}),
        )
        await _save(self._kube, self._chronicle, record, {"attempt": self._number})
        await self._chronicle.commit()


class DurabilityJournal(_ChainedJournal):
    """Keeps the deletion that tests an attempt's durability: no mutation of the attempt, and nothing to undo."""

    INTENT = "DurabilityIntended"

    def __init__(self, kube: KubeClient, chronicle: Chronicle, number: int) -> None:
        super().__init__(chronicle, number)
        self._kube = kube

    async def done(self, record: MutationRecord) -> None:
        """After the API server's answer; what was staged meanwhile is written with it."""
        self._note("DurabilityDeleted" if record.ok else "DurabilityBlocked", record, f"HTTP {record.status}")
        if record.ok:
            await _save(self._kube, self._chronicle, record, {"durability": self._number})
        await self._chronicle.commit()


class UndoJournal(_ChainedJournal):
    """Notes the writes of an undo in the chain; they are no mutations of the attempt."""

    INTENT = "UndoIntended"

    async def done(self, record: MutationRecord) -> None:
        """After the API server's answer."""
        self._note("UndoWritten", record, f"HTTP {record.status}")
        await self._chronicle.commit()


async def _save(kube: KubeClient, chronicle: Chronicle, record: MutationRecord, of: dict[str, int]) -> None:
    """Keep the record under the next free number: a crash may have left a piece that status does not count."""
    data = json.dumps({**of, "record": fitted(record, RECORD_BYTES).wire()}, ensure_ascii=False)
    counted = sum(each.mutation_count + (each.durability is not None) for each in chronicle.status.attempts)
    first = max(counted - 1, 0)
    for part in range(first, first + FREE_NUMBERS):
        try:
            await save_record(kube, chronicle.incident, "Journal", part, data)
        except errors.Conflict:
            continue
        return
    raise errors.Conflict(f"no free journal piece from {first} on")


def current_attempt(chronicle: Chronicle, number: int) -> Attempt:
    """The attempt of that number as it stands now."""
    return next(attempt for attempt in chronicle.status.attempts if attempt.number == number)


def replace_attempt(chronicle: Chronicle, attempt: Attempt) -> None:
    """Stage a new form of an attempt."""
    attempts = chronicle.status.attempts
    chronicle.change(attempts=tuple(attempt if a.number == attempt.number else a for a in attempts))


async def load_journal(kube: KubeClient, incident: Incident, number: int) -> tuple[MutationRecord, ...]:
    """The mutations of one attempt, oldest first, as the records hold them."""
    pieces = [json.loads(record.data) for record in await list_records(kube, incident, "Journal")]
    return tuple(MutationRecord.parse(piece["record"]) for piece in pieces if piece.get("attempt") == number)
