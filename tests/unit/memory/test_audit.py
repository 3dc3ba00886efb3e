"""The audit chain: whatever is changed, dropped or added shows."""

from __future__ import annotations

import pytest

from sanare.api.status import Audit, AuditEntry
from sanare.memory import audit
from tests.unit.incidents import T0


def chain(length: int) -> tuple[Audit, list[tuple[AuditEntry, ...]]]:
    """A chain of that length, overflowing into records as the operator lets it."""
    head, records = Audit(), []
    for number in range(length):
        head = audit.append(head, "Mutated", f"patch Deployment/web {number}", at=T0)
        if moved := audit.overflow(head):
            records.append(audit.unpack(audit.pack(moved)))
            head = audit.stored(head, moved, f"web-audit-{len(records) - 1}")
    return head, records


@pytest.mark.parametrize("length", [0, 1, 19, 20, 21, 100, 300])
def test_an_untouched_chain_is_whole(length: int) -> None:
    head, records = chain(length)
    assert audit.verify(head, records) == audit.Verification(
        True, length, f"{length} entries, head {head.head[:12]}"
    )


def test_the_status_keeps_only_the_newest_entries() -> None:
    head, records = chain(300)
    assert len(head.recent) <= audit.RECENT
    assert head.entries == 300
    assert head.dropped == 0
    assert len(records) <= audit.STORE_PARTS


def test_beyond_the_store_entries_are_counted_as_dropped() -> None:
    head, records = chain(1000)
    assert len(records) == audit.STORE_PARTS
    assert head.dropped > 0
    result = audit.verify(head, records)
    assert result.whole
    assert f"{head.dropped} of them dropped" in result.message


def test_a_gap_that_the_bound_does_not_explain_shows() -> None:
    head, records = chain(1000)
    fewer = head.model_copy(update={"dropped": head.dropped - 1})
    assert not audit.verify(fewer, records).whole


def test_a_changed_entry_in_a_record_shows() -> None:
    head, records = chain(30)
    forged = records[0][3].model_copy(update={"detail": "nothing happened"})
    records[0] = (*records[0][:3], forged, *records[0][4:])
    assert "entry 4" in audit.verify(head, records).message


def test_a_changed_entry_in_the_status_shows() -> None:
    head, _ = chain(5)
    recent = (head.recent[0].model_copy(update={"event": "Approved"}), *head.recent[1:])
    assert "entry 1" in audit.verify(head.model_copy(update={"recent": recent}), []).message


@pytest.mark.parametrize("missing", [0, 7, 18], ids=["the first", "one in the middle", "the last stored"])
def test_a_missing_entry_shows(missing: int) -> None:
    head, records = chain(60)
    seq = records[0][missing].seq
    head = head.model_copy(update={"recent": tuple(e for e in head.recent if e.seq != seq)})
    records[0] = records[0][:missing] + records[0][missing + 1 :]
    assert f"entry {seq} of 60 is missing" in audit.verify(head, records).message


def test_a_chain_that_was_cut_short_shows() -> None:
    head, records = chain(10)
    shorter = head.model_copy(update={"entries": 9, "recent": head.recent[:-1]})
    assert not audit.verify(shorter, records).whole


def test_an_entry_beyond_the_head_shows() -> None:
    head, records = chain(3)
    more = audit.append(head, "Mutated", "x", at=T0)
    assert not audit.verify(head, [*records, more.recent]).whole


def test_details_are_cleaned_and_bounded() -> None:
    entry = audit.append(Audit(), "Mutated", "token=hunter2 \x1b[2J" + "é" * 1000, at=T0).recent[0]
    assert "hunter2" not in entry.detail
    assert "\x1b" not in entry.detail
    assert len(entry.detail.encode()) <= audit.DETAIL_BYTES
