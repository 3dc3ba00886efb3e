"""A strict stand-in for the API server's side of one Incident: its status and its records."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sanare import errors
from sanare.api.incident import Incident
from sanare.kube.client import ObjectList
from sanare.kube.resources import Resource


@dataclass
class Shelf:
    """Keeps what is created and patched; anything else it refuses. `gate` holds a status write back."""

    incident: Incident
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    gate: asyncio.Event | None = None

    async def patch(
        self, resource: Resource, namespace: str, name: str, body: Any, *, subresource: str = ""
    ) -> Any:
        assert (resource.kind, subresource) == ("Incident", "status")
        if self.gate is not None:
            await self.gate.wait()
        wire = _merged(self.incident.wire(), {"status": body["status"]})
        self.incident = Incident.parse(wire)
        return wire

    async def create(self, resource: Resource, namespace: str, body: Mapping[str, Any]) -> Any:
        if resource.kind == "Event":
            return {}
        assert resource.kind == "IncidentRecord"
        name = body["metadata"]["name"]
        if name in self.records:
            raise errors.Conflict(f"{name} exists", status=409)
        self.records[name] = dict(body)
        return body

    async def get(self, resource: Resource, namespace: str, name: str) -> Any:
        if name not in self.records:
            raise errors.NotFound(f"{name} not found", status=404)
        return self.records[name]

    async def list(self, resource: Resource, namespace: str = "", *, labels: str = "") -> ObjectList:
        assert labels == f"sanare.dev/incident={self.incident.metadata.uid}"
        return ObjectList(tuple(self.records.values()), "1")


def _merged(old: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7386)."""
    if not isinstance(patch, Mapping):
        return patch
    kept = dict(old) if isinstance(old, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            kept.pop(key, None)
        else:
            kept[key] = _merged(kept.get(key), value)
    return kept
