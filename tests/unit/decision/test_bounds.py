"""A status stays below its bound whatever is put into it, and keeps what decides."""

from __future__ import annotations

from sanare.api.attempt import Mutation
from sanare.api.status import Audit, IncidentStatus, MemoryEntry, ProposedAction
from sanare.api.verdict import CheckOutcome, CheckResult
from sanare.decision.bounds import HARD_BYTES, SOFT_BYTES, fit, size
from sanare.memory import audit
from tests.unit.incidents import T0, attempt, incident, proposal, verdict

WIDE = "🔥"  # four bytes of UTF-8 in one character


def full_status() -> IncidentStatus:
    """Everything at its schema's bound."""
    chain = Audit()
    for _ in range(audit.RECENT):
        chain = audit.append(chain, "Mutated", WIDE * 400, at=T0)
    mutation = Mutation(at=T0, verb="patch", object=WIDE * 320, summary=WIDE * 300)
    check = CheckOutcome(
        name="x", result=CheckResult.FAILED, kind="ImagePull", object=WIDE * 320, message=WIDE * 300
    )
    action = ProposedAction(argv=(WIDE * 1000,), stdin="", diff=WIDE * 8192)
    return incident().status.model_copy(
        update={
            "audit": chain,
            "attempts": tuple(
                attempt(n, mutations=(mutation,) * 16, leftovers=(WIDE * 300,) * 8, reason=WIDE * 1024)
                for n in range(1, 17)
            ),
            "verdict": verdict().model_copy(update={"checks": (check,) * 32, "reason": WIDE * 1024}),
            "memory": tuple(MemoryEntry(attempt=n, kind="Reflection", text=WIDE * 4000) for n in range(8)),
            "proposal": proposal().model_copy(update={"actions": (action,) * 16}),
        }
    )


def test_the_fullest_status_is_reduced_below_the_hard_bound() -> None:
    status = full_status()
    assert size(status) > HARD_BYTES
    assert size(fit(status)) <= HARD_BYTES


def test_a_status_with_room_is_left_alone() -> None:
    status = incident(attempts=(attempt(),), proposal=proposal()).status
    assert size(status) < SOFT_BYTES
    assert fit(status) == status


def test_what_decides_is_never_cut() -> None:
    status = full_status()
    kept = fit(status)
    assert kept.conditions == status.conditions
    assert kept.usage == status.usage
    assert kept.audit.head == status.audit.head
    assert kept.audit.dropped == len(status.audit.recent) - len(kept.audit.recent)
    assert [(a.number, a.state, a.result) for a in kept.attempts] == [
        (a.number, a.state, a.result) for a in status.attempts
    ]
