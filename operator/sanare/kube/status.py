"""The one writer of an Incident's status: merge patches of what changed, guarded by the resourceVersion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sanare import errors
from sanare.api.incident import Incident
from sanare.api.status import IncidentStatus
from sanare.decision.bounds import SOFT_BYTES, fit, size
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND

_TRIES = 5


def merge_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON merge patch (RFC 7386) that turns `old` into `new`: lists whole, removed keys null."""
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            if inner := merge_difference(before, value):
                patch[key] = inner
        elif value != before:
            patch[key] = value
    return patch


async def fetch_incident(kube: KubeClient, namespace: str, name: str) -> Incident:
    """A fresh Incident. Raises NotFound, Unreachable, pydantic.ValidationError."""
    return Incident.parse(await kube.get(BY_KIND["Incident"], namespace, name))


async def write_status(kube: KubeClient, incident: Incident, status: IncidentStatus) -> Incident:
    """Write the status and return the Incident as it stands then. Raises KubeError.

    On a conflict the object is read again and the same status written on top: nobody else writes status, so what
    moved was the spec, which the next pass reads.
    """
    status = fit(status)
    for _ in range(_TRIES):
        patch = merge_difference(incident.status.wire(), status.wire())
        if not patch:
            return incident
        try:
            return await _send(kube, incident, patch)
        except errors.Conflict:
            incident = await fetch_incident(kube, incident.metadata.namespace, incident.metadata.name)
        except (errors.TooLarge, errors.Invalid):
            smaller = fit(status, SOFT_BYTES // 4)
            if size(smaller) >= size(status):
                raise
            status = smaller
    raise errors.Conflict(f"Incident/{incident.metadata.name}: the status could not be written in {_TRIES} tries")


async def _send(kube: KubeClient, incident: Incident, patch: Mapping[str, Any]) -> Incident:
    meta = incident.metadata
    body = {"metadata": {"resourceVersion": meta.resource_version, "uid": meta.uid}, "status": patch}
    return Incident.parse(
        await kube.patch(BY_KIND["Incident"], meta.namespace, meta.name, body, subresource="status")
    )
