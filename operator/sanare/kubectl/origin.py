"""What a deletion or a new Job is measured by. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sanare.api.manifest import Manifest, dig, items, mapping, number, text
from sanare.kube.resources import BY_KIND
from sanare.kubectl.judge import Concern
from sanare.kubectl.request import ApiRequest
from sanare.kubectl.scope import approval


def deletion_concerns(kind: str, before: Manifest | None) -> tuple[Concern, ...]:
    """Who must approve a deletion: nobody for a pod or a job that never succeeded, a person for the rest."""
    if kind == "Pod" or (kind == "Job" and not number(before, "status", "succeeded")):
        return ()
    return (approval("Delete", f"nothing creates a deleted {kind} again"),)


def job_template(body: Mapping[str, Any], cron_job: Manifest) -> Manifest | None:
    """What a Job from that CronJob may look like, for judging it as a change; None if it is not its owner."""
    owner = next(iter(items(body, "metadata", "ownerReferences")), {})
    if text(owner, "uid") != text(cron_job, "metadata", "uid") or not text(owner, "uid"):
        return None
    template = mapping(cron_job, "spec", "jobTemplate")
    metadata = {**mapping(template, "metadata"), "ownerReferences": dig(body, "metadata", "ownerReferences")}
    return {"kind": "Job", "metadata": metadata, "spec": mapping(template, "spec")}


def cron_job_path(request: ApiRequest) -> str:
    """The path of the CronJob that a new Job says it comes from, or an empty one."""
    owner = next(iter(items(request.body, "metadata", "ownerReferences")), {})
    if request.kind != "Job" or text(owner, "kind") != "CronJob" or not text(owner, "name"):
        return ""
    return BY_KIND["CronJob"].path(request.namespace, text(owner, "name"))
