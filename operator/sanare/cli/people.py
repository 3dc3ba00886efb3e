"""The verbs for people: approve, reject, and the audit trail."""

from __future__ import annotations

import argparse
from typing import Any

from pydantic import ValidationError

from sanare.api.incident import Incident
from sanare.api.model import to_rfc3339
from sanare.api.status import AuditEntry, Phase
from sanare.errors import ConfigError
from sanare.kube.client import KubeClient
from sanare.kube.records import list_records
from sanare.kube.resources import BY_KIND
from sanare.kube.status import fetch_incident
from sanare.memory import audit
from sanare.text import one_line


async def command(kube: KubeClient, arguments: argparse.Namespace) -> int:
    """Run one verb and return its exit code. Raises SanareError."""
    incident = await named_incident(kube, arguments)
    if arguments.verb == "audit":
        show = _show if arguments.audit_verb == "show" else _verify
        return await show(kube, incident)
    return await _decide(kube, incident, arguments)


async def named_incident(kube: KubeClient, arguments: argparse.Namespace) -> Incident:
    """The Incident that was named. Raises ConfigError, KubeError."""
    kind, _, name = arguments.incident.rpartition("/")
    if kind not in ("", "inc", "incident", "incidents") or not name:
        raise ConfigError(f"{arguments.incident!r} is not an Incident: write incident/NAME")
    try:
        return await fetch_incident(kube, arguments.namespace, name)
    except ValidationError as error:
        raise ConfigError(f"incident/{name} cannot be read: {one_line(str(error), 600)}") from error


async def _decide(kube: KubeClient, incident: Incident, arguments: argparse.Namespace) -> int:
    proposal = incident.status.proposal
    meta = incident.metadata
    # What was given to a person without a plan is closed by rejecting it.
    closes = arguments.verb == "reject" and incident.status.phase is Phase.ESCALATED
    if proposal is None and not closes:
        raise ConfigError(f"incident/{meta.name} shows no plan (phase {incident.status.phase}); nothing to decide")
    approval: dict[str, Any] = {
        "decision": "Approve" if arguments.verb == "approve" else "Reject",
        "digest": proposal.digest if proposal is not None else "",
        "approver": arguments.as_person,
        "comment": arguments.comment,
        "actions": None,
    }
    await kube.patch(BY_KIND["Incident"], meta.namespace, meta.name, {"spec": {"approval": approval}})
    print(f"incident/{meta.name}: {approval['decision']} {approval['digest'] or '(closed)'}")
    return 0


async def _chain(kube: KubeClient, incident: Incident) -> list[tuple[AuditEntry, ...]]:
    records = await list_records(kube, incident, "Audit")
    return [audit.unpack(record.data) for record in records]


async def _verify(kube: KubeClient, incident: Incident) -> int:
    result = audit.verify(incident.status.audit, await _chain(kube, incident))
    print(f"incident/{incident.metadata.name}: {'whole' if result.whole else 'BROKEN'}: {result.message}")
    return 0 if result.whole else 1


async def _show(kube: KubeClient, incident: Incident) -> int:
    records = await _chain(kube, incident)
    entries = {entry.seq: entry for part in [*records, incident.status.audit.recent] for entry in part}
    for seq in sorted(entries):
        entry = entries[seq]
        print(f"{entry.seq:>4}  {to_rfc3339(entry.at)}  {entry.event:<18} {entry.detail}")
    return 0
