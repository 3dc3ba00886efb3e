"""Keeping a status below its bound: what is cut, in which order, and what is never cut. Pure.

Sizes are bytes of compact UTF-8 JSON. Never cut: phase, outcome, conditions, attempts' states and results, usage,
the newest reason, the audit head. A plan is shown whole or, as the last resort, not offered at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from sanare.api.attempt import Attempt
from sanare.api.status import IncidentStatus, Proposal
from sanare.text import cap

SOFT_BYTES = 48 * 1024
"""Where cutting begins."""
HARD_BYTES = 96 * 1024
"""What is never cut stays below this by the bounds of its fields."""


def size(status: IncidentStatus) -> int:
    """Bytes of the status as it is sent."""
    return len(json.dumps(status.wire(), ensure_ascii=False, separators=(",", ":")).encode())


def fit(status: IncidentStatus, limit: int = SOFT_BYTES) -> IncidentStatus:
    """The status, reduced step by step until it fits; what still does not fit is reduced to its core."""
    for reduce in _REDUCTIONS:
        if size(status) <= limit:
            return status
        status = reduce(status)
    return status


def _short_audit(status: IncidentStatus) -> IncidentStatus:
    # A shortened detail would break the chain: whole entries go, and `dropped` counts them.
    kept = status.audit.recent[-8:]
    lost = sum(entry.seq > status.audit.stored for entry in status.audit.recent[:-8])
    audit = status.audit.model_copy(update={"recent": kept, "dropped": status.audit.dropped + lost})
    return status.model_copy(update={"audit": audit})


def _short_attempts(status: IncidentStatus) -> IncidentStatus:
    *old, last = status.attempts or (None,)
    if last is None:
        return status
    return status.model_copy(update={"attempts": (*(_brief(a) for a in old if a is not None), last)})


def _brief(attempt: Attempt) -> Attempt:
    return attempt.model_copy(
        update={
            "mutations": (),
            "leftovers": (),
            "note": cap(attempt.note, 100),
            "reason": cap(attempt.reason, 400),
        }
    )


def _short_checks(status: IncidentStatus) -> IncidentStatus:
    if status.verdict is None:
        return status
    failed_first = sorted(status.verdict.checks, key=lambda check: check.result == "Passed")[:8]
    return status.model_copy(update={"verdict": status.verdict.model_copy(update={"checks": tuple(failed_first)})})


def _short_memory(status: IncidentStatus) -> IncidentStatus:
    memory = tuple(m.model_copy(update={"text": cap(m.text, 1000)}) for m in status.memory[-3:])
    return status.model_copy(update={"memory": memory})


def _short_diffs(limit: int) -> Callable[[IncidentStatus], IncidentStatus]:
    def reduce(status: IncidentStatus) -> IncidentStatus:
        proposal = status.proposal
        if proposal is None:
            return status
        return status.model_copy(update={"proposal": _cut_diffs(proposal, limit)})

    return reduce


def _cut_diffs(proposal: Proposal, limit: int) -> Proposal:
    actions = tuple(a.model_copy(update={"diff": cap(a.diff, limit)}) for a in proposal.actions)
    return proposal.model_copy(update={"actions": actions})


def _core(status: IncidentStatus) -> IncidentStatus:
    """The last resort: the plan can no longer be shown whole, so it is not offered at all."""
    return _short_memory(status).model_copy(
        update={"attempts": tuple(_brief(a) for a in status.attempts), "proposal": None, "memory": ()}
    )


_REDUCTIONS: tuple[Callable[[IncidentStatus], IncidentStatus], ...] = (
    _short_audit,
    _short_attempts,
    _short_checks,
    _short_memory,
    _short_diffs(2048),
    _short_diffs(512),
    _core,
)
