"""What becomes of each alert of a notification: one result for each, none lost."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum

from sanare import errors
from sanare.api.manifest import Ref
from sanare.api.model import to_rfc3339
from sanare.ingest.incident import incident_name, incident_of
from sanare.ingest.owner import workload_of
from sanare.ingest.payload import Alert, Payload
from sanare.ingest.scope import Scope
from sanare.ingest.target import namespace_of, object_of
from sanare.kube.client import KubeClient
from sanare.kube.records import save_record
from sanare.kube.resources import BY_KIND
from sanare.kube.status import fetch_incident
from sanare.telemetry import ALERTS, logger
from sanare.text import one_line

_AT_ONCE = 8
_LOG = logger(__name__)


class Result(StrEnum):
    """What became of an alert."""

    CREATED = "Created"
    EXISTS = "Exists"  # this firing has its Incident already
    RESOLVED = "Resolved"  # it no longer fires; its open Incident, where it has one, is told so
    NO_TARGET = "NoTarget"  # its labels name no object, or one that does not exist
    OUT_OF_SCOPE = "OutOfScope"  # its namespace is not one that the administrator allowed
    REFUSED = "Refused"  # the API server refused the Incident; sending it again will not help
    RETRY = "Retry"  # the API server did not answer; send it again


@dataclass(frozen=True, slots=True)
class Entry:
    """The answer for one alert."""

    alert: str
    fingerprint: str
    result: Result
    incident: str = ""
    message: str = ""

    def wire(self) -> dict[str, str]:
        """The JSON form, without what is empty."""
        return {key: str(value) for key, value in asdict(self).items() if value}


async def receive(kube: KubeClient, scope: Scope, payload: Payload, *, now: datetime) -> tuple[Entry, ...]:
    """Open an Incident for each firing alert. Never raises for one alert: its entry says what happened."""
    limit = asyncio.Semaphore(_AT_ONCE)

    async def one(alert: Alert) -> Entry:
        async with limit:
            result, incident, message = await _settle(kube, scope, alert, group_key=payload.group_key, now=now)
        entry = Entry(
            alert=one_line(alert.name, 256),
            fingerprint=one_line(alert.fingerprint, 64),
            result=result,
            incident=incident,
            message=one_line(message, 600),
        )
        ALERTS.labels(result=result.value).inc()
        _LOG.info("alert received", **entry.wire())
        return entry

    return tuple(await asyncio.gather(*(one(alert) for alert in payload.alerts)))


async def _settle(
    kube: KubeClient, scope: Scope, alert: Alert, *, group_key: str, now: datetime
) -> tuple[Result, str, str]:
    """The result, the Incident as namespace/name, and what there is to say."""
    if not alert.is_firing(now):
        return await _end(kube, scope, alert, now=now)
    named = object_of(alert.labels)
    if named is None:
        missing = "workload, pod or service" if namespace_of(alert.labels) else "namespace"
        return Result.NO_TARGET, "", f"the alert's labels name no {missing}"
    if refusal := scope.refusal(named.namespace):
        return Result.OUT_OF_SCOPE, "", refusal
    try:
        return await _open(kube, alert, named, group_key=group_key)
    except errors.NotFound as error:
        return Result.NO_TARGET, "", str(error)
    except errors.Unreachable as error:
        return Result.RETRY, "", str(error)
    except errors.KubeError as error:
        return Result.REFUSED, "", str(error)


async def _end(kube: KubeClient, scope: Scope, alert: Alert, *, now: datetime) -> tuple[Result, str, str]:
    """Leave the end of the alert in a record of its open Incident: the status is the reconciler's alone."""
    namespace, name = namespace_of(alert.labels), incident_name(alert)
    if not namespace or scope.refusal(namespace):
        return Result.RESOLVED, "", ""
    try:
        incident = await fetch_incident(kube, namespace, name)
        if incident.status.resolved_at is None:
            data = json.dumps({"endsAt": to_rfc3339(alert.end(now))})
            await save_record(kube, incident, "AlertEnd", 0, data)
    except errors.NotFound:
        return Result.RESOLVED, "", ""
    except errors.Unreachable as error:
        return Result.RETRY, "", str(error)
    except errors.Conflict:
        pass  # told before
    except errors.KubeError as error:
        return Result.RESOLVED, f"{namespace}/{name}", str(error)
    return Result.RESOLVED, f"{namespace}/{name}", ""


async def _open(kube: KubeClient, alert: Alert, named: Ref, *, group_key: str) -> tuple[Result, str, str]:
    identity = f"{named.namespace}/{incident_name(alert)}"
    try:
        target = await workload_of(kube, named)
        await kube.create(BY_KIND["Incident"], named.namespace, incident_of(alert, target, group_key=group_key))
    except errors.Conflict:
        return Result.EXISTS, identity, ""
    return Result.CREATED, identity, f"target {target}"
