"""Reads a create that came in protobuf: the API server's own dry run tells what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sanare.api.manifest import Manifest, items, mapping
from sanare.kube.client import RawAnswer
from sanare.kubectl.request import PROTOBUF, ApiRequest
from sanare.kubectl.session import Session

# What the API server adds to a new object, and would refuse or not repeat when it is sent again.
_METADATA = frozenset({"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"})
_ALLOCATED = {"Service": ("clusterIP", "clusterIPs", "healthCheckNodePort"), "Job": ("selector",)}
_JOB_LABELS = ("controller-uid", "job-name")


async def decoded(session: Session, request: ApiRequest) -> ApiRequest | RawAnswer:
    """The same request with its body as JSON, or the API server's refusal. Raises KubeError."""
    answer = await session.client.raw(
        "POST",
        request.path,
        query=dict(request.query) | {"dryRun": "All"},
        body=request.encoded,
        headers=session.headers(**{"Accept": "application/json", "Content-Type": PROTOBUF}),
    )
    if not answer.ok:
        return answer
    body = as_requested(request.kind, answer.manifest())
    return replace(request, body=body, encoded=b"", content_type="application/json")


def as_requested(kind: str, created: Manifest) -> dict[str, Any]:
    """A created object without what the API server allocated for it."""
    metadata = {k: v for k, v in mapping(created, "metadata").items() if k not in _METADATA}
    spec = {k: v for k, v in mapping(created, "spec").items() if k not in _ALLOCATED.get(kind, ())}
    if kind == "Job":
        spec["template"] = _without_job_labels(mapping(spec, "template"))
    if kind == "Service":
        spec["ports"] = [{k: v for k, v in port.items() if k != "nodePort"} for port in items(spec, "ports")]
    body = {k: v for k, v in created.items() if k != "status"} | {"metadata": metadata}
    return body | ({"spec": spec} if "spec" in created else {})


def _without_job_labels(template: Mapping[str, Any]) -> dict[str, Any]:
    metadata = mapping(template, "metadata")
    labels = {k: v for k, v in mapping(metadata, "labels").items() if k.rpartition("/")[2] not in _JOB_LABELS}
    return {**template, "metadata": {**metadata, "labels": labels}}
