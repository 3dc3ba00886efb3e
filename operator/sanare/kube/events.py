"""Kubernetes Events: a small recorder with counting, because kopf's works only inside its handlers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sanare import errors
from sanare.api.manifest import Ref, number
from sanare.api.model import to_rfc3339
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND
from sanare.text import clean

MESSAGE_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing worth an Event: a past-tense CamelCase reason and a sentence."""

    reason: str
    message: str
    type: Literal["Normal", "Warning"] = "Normal"


class EventRecorder:
    """Writes core/v1 Events; the same reason and message on the same object is counted up, not repeated."""

    def __init__(self, kube: KubeClient, *, component: str = "sanare") -> None:
        self._kube = kube
        self._component = component

    async def record(self, about: Ref, happening: Happening, *, now: datetime) -> None:
        """Post or count up one Event. An Event is never worth failing for: what the API refuses is left out."""
        message = clean(happening.message, MESSAGE_BYTES)
        name = f"{about.name[:200]}.{_digest(about, happening.reason, message)}"
        stamp = to_rfc3339(now)
        body = {
            "metadata": {"name": name, "namespace": about.namespace},
            "involvedObject": {
                "apiVersion": about.api_version,
                "kind": about.kind,
                "name": about.name,
                "namespace": about.namespace,
                "uid": about.uid,
            },
            "reason": happening.reason,
            "message": message,
            "type": happening.type,
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
        }
        try:
            await self._kube.create(BY_KIND["Event"], about.namespace, body)
        except errors.Conflict:
            await self._count_up(about.namespace, name, stamp)
        except errors.KubeError:
            return

    async def _count_up(self, namespace: str, name: str, stamp: str) -> None:
        event = BY_KIND["Event"]
        try:
            seen = await self._kube.get(event, namespace, name)
            again = {"count": number(seen, "count", default=1) + 1, "lastTimestamp": stamp}
            await self._kube.patch(event, namespace, name, again)
        except errors.KubeError:
            return


def _digest(about: Ref, reason: str, message: str) -> str:
    return hashlib.sha256("\0".join((about.uid, about.kind, reason, message)).encode()).hexdigest()[:16]
