"""A recorded plan: the commands that would write, what they would change, and its digest. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sanare.api.manifest import Manifest, mapping
from sanare.api.status import ProposedAction
from sanare.kubectl.diff import render_diff
from sanare.kubectl.journal import MutationRecord
from sanare.kubectl.manifest import canonical
from sanare.kubectl.tool import Command
from sanare.text import cap_middle

_DIFF_BYTES = 8192
# The one moment that kubectl itself writes into objects; it differs in every dry run.
_RESTARTED = re.compile(r"(kubectl\.kubernetes\.io/restartedAt: ).*")


@dataclass(frozen=True, slots=True)
class PlannedCommand:
    """One command of a plan and the dry-run records of what it would write."""

    command: Command
    records: tuple[MutationRecord, ...]


def proposed_action(planned: PlannedCommand) -> ProposedAction:
    """The command with its objects and its diff, as it stands in status for a person."""
    return ProposedAction(
        argv=planned.command.argv,
        stdin=planned.command.stdin,
        objects=tuple(str(record.ref) for record in planned.records[:16]),
        diff=cap_middle("\n".join(_diff(record) for record in planned.records), _DIFF_BYTES),
    )


def plan_digest(planned: Sequence[PlannedCommand], *, attempt: int) -> str:
    """`sha256:...` over commands, objects' uids and diffs; another object or another effect is another plan."""
    content = [
        {
            "argv": list(one.command.argv),
            "stdin": one.command.stdin,
            "writes": [
                {"verb": r.verb, "object": str(r.ref), "uid": r.ref.uid if r.before else "", "diff": _diff(r)}
                for r in one.records
            ],
        }
        for one in planned
    ]
    text = canonical({"attempt": attempt, "plan": content})
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _diff(record: MutationRecord) -> str:
    """What the record would change. A new object is shown as it was asked for: the API server adds random names."""
    told = render_diff(record.before, _after(record), limit=_DIFF_BYTES)
    return _RESTARTED.sub(r"\1(the moment it is applied)", told)


def _after(record: MutationRecord) -> Manifest | None:
    if record.verb == "delete":
        return None
    return record.after if record.before is not None else mapping(record.body)
