"""IncidentRecords: creating and reading the owned, immutable pieces of an Incident's record."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.incident import Incident, ObjectMeta
from sanare.api.manifest import mapping, text
from sanare.api.model import API_VERSION
from sanare.api.record import RecordSpec, RecordType
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND

_RECORD = BY_KIND["IncidentRecord"]
_OWNER_LABEL = "sanare.dev/incident"


def record_name(incident: ObjectMeta, kind: RecordType, part: int) -> str:
    """The name of a piece: it follows from what it holds, so that writing it twice is noticed.

    The uid is in it: an Incident that was deleted and made anew under its name never meets the old one's pieces.
    """
    return f"{incident.name[:200]}-{incident.uid[:8]}-{kind.lower()}-{part}"


async def save_record(kube: KubeClient, incident: Incident, kind: RecordType, part: int, data: str) -> str:
    """Create a piece and return its name. Raises Conflict where that piece is written already, KubeError."""
    meta = incident.metadata
    name = record_name(meta, kind, part)
    owner = {"apiVersion": API_VERSION, "kind": "Incident", "name": meta.name, "uid": meta.uid, "controller": True}
    spec = RecordSpec(type=kind, incident=meta.name, part=part, data=data)
    body = {
        "apiVersion": API_VERSION,
        "kind": "IncidentRecord",
        "metadata": {
            "name": name,
            "namespace": meta.namespace,
            "labels": {_OWNER_LABEL: meta.uid},
            "ownerReferences": [owner],
        },
        "spec": spec.wire(),
    }
    await kube.create(_RECORD, meta.namespace, body)
    return name


async def read_record(kube: KubeClient, namespace: str, name: str) -> RecordSpec:
    """One piece. Raises KubeError, pydantic.ValidationError."""
    return RecordSpec.parse(mapping(await kube.get(_RECORD, namespace, name), "spec"))


async def list_records(kube: KubeClient, incident: Incident, kind: RecordType) -> tuple[RecordSpec, ...]:
    """Every piece of one type that the Incident owns, by part. Raises KubeError."""
    meta = incident.metadata
    found = await kube.list(_RECORD, meta.namespace, labels=f"{_OWNER_LABEL}={meta.uid}")
    return tuple(sorted(_of_type(found.items, kind), key=lambda spec: spec.part))


def _of_type(manifests: tuple[object, ...], kind: RecordType) -> Iterator[RecordSpec]:
    for manifest in manifests:
        if text(manifest, "spec", "type") == kind:
            yield RecordSpec.parse(mapping(manifest, "spec"))
