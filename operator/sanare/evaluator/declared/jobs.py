"""Jobs that answer declared checks: a command of a person's, or a request from inside of the namespace.

A Job is restricted (no root, no capabilities, no token, a read-only root file system), limited in time and
resources, owned by the Incident, and deleted as soon as it has answered, or else by its time to live.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sanare import errors
from sanare.api.incident import ObjectMeta
from sanare.api.manifest import Manifest, dig, items, mapping, owners, text
from sanare.api.model import API_VERSION
from sanare.evaluator.declared.reply import Reply, unanswered
from sanare.evaluator.kinds import Kind
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND
from sanare.text import one_line

PREFIX = "sanare-check-"
_JOB, _POD = BY_KIND["Job"], BY_KIND["Pod"]
_CONTAINER = "check"
_USER = 65532
_POLL = 1.0  # seconds
_TIDY_SECONDS = 10.0
_LIVE = 120  # seconds that a finished Job outlives its answer where it could not be deleted
_AT_ONCE = 8
_REMEMBERED = 512
_OUTPUT_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Ended:
    """How the container of a Job ended, and the beginning of what it printed."""

    exit_code: int
    output: bytes = b""


def job_manifest(incident: ObjectMeta, image: str, command: Sequence[str], *, timeout: timedelta) -> dict[str, Any]:
    """A restricted Job of one container that runs once, owned by the Incident."""
    owner = {
        "apiVersion": API_VERSION,
        "kind": "Incident",
        "name": incident.name,
        "uid": incident.uid,
        "controller": True,
    }
    spec: dict[str, Any] = {
        "backoffLimit": 0,
        "activeDeadlineSeconds": math.ceil(timeout.total_seconds()) + 5,
        "ttlSecondsAfterFinished": _LIVE,
        "template": {"spec": _pod_spec(image, command)},
    }
    metadata = {
        "generateName": PREFIX,
        "namespace": incident.namespace,
        "labels": {"app.kubernetes.io/managed-by": "sanare"},
        "ownerReferences": [owner],
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def _pod_spec(image: str, command: Sequence[str]) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": _CONTAINER,
        "image": image,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "resources": {
            "requests": {"cpu": "10m", "memory": "32Mi"},
            "limits": {"cpu": "500m", "memory": "256Mi"},
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - in the pod, an emptyDir
    }
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container | ({"command": list(command)} if command else {})],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "16Mi"}}],
    }


class Jobs:
    """Makes Jobs, waits for them, removes them, and knows which ones are its own by their uids."""

    def __init__(self, kube: KubeClient) -> None:
        self._kube = kube
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._made: deque[str] = deque(maxlen=_REMEMBERED)

    @property
    def made(self) -> frozenset[str]:
        """Uids of the Jobs that this process made lately: what a label says may be copied, a uid may not."""
        return frozenset(self._made)

    async def run(
        self, incident: ObjectMeta, image: str, command: Sequence[str], *, timeout: timedelta, output: bool = False
    ) -> Ended | Reply:
        """Run a command to its end. Never raises for what the cluster does; a Reply says why it did not run."""
        manifest = job_manifest(incident, image, command, timeout=timeout)
        async with self._room:
            try:
                async with self._job(incident.namespace, manifest) as job:
                    return await self._wait(job, timeout, output=output)
            except errors.KubeError as error:
                return unanswered(error)

    @asynccontextmanager
    async def _job(self, namespace: str, manifest: Mapping[str, Any]) -> AsyncIterator[Manifest]:
        job = await self._kube.create(_JOB, namespace, manifest)
        self._made.append(text(job, "metadata", "uid"))
        try:
            yield job
        finally:
            tidying = asyncio.create_task(self._delete(job))
            await asyncio.shield(tidying)

    async def _delete(self, job: Manifest) -> None:
        namespace, name = text(job, "metadata", "namespace"), text(job, "metadata", "name")
        with suppress(errors.KubeError, TimeoutError):
            async with asyncio.timeout(_TIDY_SECONDS):
                await self._kube.delete(_JOB, namespace, name, uid=text(job, "metadata", "uid"))

    async def _wait(self, job: Manifest, timeout: timedelta, *, output: bool) -> Ended | Reply:
        pod: Manifest = {}
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                while True:
                    pod = await self._pod(job) or pod
                    code = dig(_status(pod), "state", "terminated", "exitCode")
                    if isinstance(code, int):
                        return Ended(code, await self._output(pod) if output else b"")
                    await asyncio.sleep(_POLL)
        except TimeoutError:
            why = _waiting(pod)
            seconds = f"{timeout.total_seconds():g} s"
            return Reply(failure=f"the Job did not end within {seconds}: {why}", unknown=Kind.TIMEOUT)

    async def _pod(self, job: Manifest) -> Manifest | None:
        """The Job's pod, by its owner's uid. Raises NotFound where the Job is gone."""
        namespace, name, uid = (text(job, "metadata", field) for field in ("namespace", "name", "uid"))
        found = await self._kube.list(_POD, namespace, labels=f"batch.kubernetes.io/job-name={name}")
        pod = next((pod for pod in found.items if any(owner.uid == uid for owner in owners(pod))), None)
        if pod is None:
            await self._kube.get(_JOB, namespace, name)
        return pod

    async def _output(self, pod: Manifest) -> bytes:
        path = _POD.path(text(pod, "metadata", "namespace"), text(pod, "metadata", "name"), "log")
        query = {"container": _CONTAINER, "limitBytes": str(_OUTPUT_BYTES)}
        answer = await self._kube.raw("GET", path, query=query, limit=_OUTPUT_BYTES)
        return answer.body if answer.ok else b""


def _status(pod: Manifest) -> Manifest:
    statuses = items(pod, "status", "containerStatuses")
    return next((one for one in statuses if text(one, "name") == _CONTAINER), {})


def _waiting(pod: Manifest) -> str:
    """What the pod last waited for."""
    if not pod:
        return "no pod of it was created; a quota or an admission policy may refuse it"
    waiting = mapping(_status(pod), "state", "waiting")
    said = " ".join(filter(None, (text(waiting, "reason"), text(waiting, "message"))))
    if said:
        return one_line(said, 200)
    return "it still runs" if mapping(_status(pod), "state", "running") else "its pod was not started"
