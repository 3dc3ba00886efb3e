"""The audit chain: each entry's hash covers the entry and the hash before it, so that a gap or a change shows.

The newest entries stand in the Incident's status; older ones move, whole, to IncidentRecords that it owns. An entry
leaves the status only after the record that holds it exists. Pure; `reconcile.chronicle` does the writing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sanare.api.model import to_rfc3339
from sanare.api.status import Audit, AuditEntry
from sanare.text import one_line

RECENT = 40  # entries in status, the schema's bound
KEEP = 12  # entries that stay in status when the older ones move out
STORE_PARTS = 16  # IncidentRecords of type Audit that one Incident may own
DETAIL_BYTES = 400


def entry_hash(previous: str, entry: AuditEntry) -> str:
    """SHA-256, in hex, of the hash before and the entry's own fields in canonical JSON."""
    payload = [previous, entry.seq, to_rfc3339(entry.at), entry.event, entry.detail]
    return hashlib.sha256(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def append(audit: Audit, event: str, detail: str, *, at: datetime) -> Audit:
    """The chain with one more entry; the detail is cleaned and capped (bytes)."""
    draft = AuditEntry(
        seq=audit.entries + 1,
        at=at.replace(microsecond=0),
        event=event,
        detail=one_line(detail, DETAIL_BYTES),
        hash="",
    )
    entry = draft.model_copy(update={"hash": entry_hash(audit.head, draft)})
    recent = (*audit.recent, entry)
    cut = recent[: max(len(recent) - RECENT, 0)]
    lost = sum(old.seq > audit.stored for old in cut)
    return audit.model_copy(
        update={
            "head": entry.hash,
            "entries": entry.seq,
            "recent": recent[len(cut) :],
            "dropped": audit.dropped + lost,
        }
    )


def overflow(audit: Audit, *, everything: bool = False) -> tuple[AuditEntry, ...]:
    """The entries of a written status that should move to a record now: none while there is room."""
    waiting = tuple(entry for entry in audit.recent if entry.seq > audit.stored)
    if len(audit.store) >= STORE_PARTS or (len(waiting) < RECENT // 2 and not everything):
        return ()
    return waiting


def stored(audit: Audit, entries: Sequence[AuditEntry], record: str) -> Audit:
    """The chain after `record` holds `entries`: of those the newest stay readable in the status."""
    last = entries[-1].seq
    recent = tuple(entry for entry in audit.recent if entry.seq > last - KEEP)
    return audit.model_copy(update={"recent": recent, "store": (*audit.store, record), "stored": last})


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a chain is whole, and one sentence on why not."""

    whole: bool
    entries: int
    message: str


def verify(audit: Audit, records: Iterable[Sequence[AuditEntry]]) -> Verification:
    """Walk the chain from its first entry to the head in status."""
    by_seq: dict[int, AuditEntry] = {}
    for entry in [*(e for record in records for e in record), *audit.recent]:
        known = by_seq.setdefault(entry.seq, entry)
        if known != entry:
            return Verification(False, audit.entries, f"entry {entry.seq} differs between two places")
    previous: str | None = ""
    missing = 0
    for seq in range(1, audit.entries + 1):
        found = by_seq.get(seq)
        if found is None:
            missing, previous = missing + 1, None
            if missing > audit.dropped:
                return Verification(False, audit.entries, f"entry {seq} of {audit.entries} is missing")
            continue
        if previous is not None and found.hash != entry_hash(previous, found):
            return Verification(
                False, audit.entries, f"entry {seq} ({found.event}) was changed: its hash does not fit"
            )
        previous = found.hash
    if previous != audit.head:
        return Verification(False, audit.entries, "the head in status is not the hash of the last entry")
    if beyond := sum(seq > audit.entries for seq in by_seq):
        return Verification(False, audit.entries, f"{beyond} entries stand beyond the head")
    gap = f", {missing} of them dropped by the store's bound" if missing else ""
    return Verification(True, audit.entries, f"{audit.entries} entries{gap}, head {audit.head[:12]}")


def pack(entries: Sequence[AuditEntry]) -> str:
    """Entries as the text of a record."""
    return json.dumps([entry.wire() for entry in entries], ensure_ascii=False, separators=(",", ":"))


def unpack(data: str) -> tuple[AuditEntry, ...]:
    """The entries of a record's text. Raises ValueError where it is not such a text."""
    parsed = json.loads(data)
    if not isinstance(parsed, list):
        raise ValueError("an audit record is a list of entries")
    return tuple(AuditEntry.parse(item) for item in parsed)
