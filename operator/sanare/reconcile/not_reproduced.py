"""What a person was given as not reproduced: whether its alert has ended meanwhile."""

from __future__ import annotations

import json
from datetime import datetime

from sanare import errors
from sanare.api.model import to_rfc3339
from sanare.kube.client import KubeClient
from sanare.kube.records import read_record, record_name
from sanare.reconcile.chronicle import Chronicle


async def note_alert_end(kube: KubeClient, chronicle: Chronicle) -> None:
    """Stage the end of the alert where the webhook has left a record of it."""
    if chronicle.status.alert_ended_at is not None:
        return
    meta = chronicle.incident.metadata
    try:
        record = await read_record(kube, meta.namespace, record_name(meta, "AlertEnd", 0))
    except errors.NotFound:
        return
    ended = datetime.fromisoformat(json.loads(record.data)["endsAt"])
    chronicle.change(alert_ended_at=ended)
    chronicle.note("AlertEnded", f"at {to_rfc3339(ended)}")
