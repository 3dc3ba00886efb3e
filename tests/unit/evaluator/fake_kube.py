"""A stand-in for the API server's door that refuses what it was not told, and counts what it is asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from sanare import errors
from sanare.evaluator.snapshot import Answer
from sanare.kube.client import KubeClient, ObjectList, RawAnswer, WatchEvent
from sanare.kube.resources import Resource
from tests.unit.evaluator.namespace import Namespace


@dataclass
class FakeKube:
    """Serves one namespace. `refuse` maps a kind to what asking for it raises; `hollow` kinds list nothing."""

    namespace: Namespace
    refuse: dict[str, errors.KubeError] = field(default_factory=dict)
    hollow: frozenset[str] = frozenset()
    namespaces: tuple[str, ...] = ("shop",)
    asked: list[str] = field(default_factory=list)
    logs: Mapping[str, str] = field(default_factory=dict)

    @property
    def door(self) -> KubeClient:
        return cast(KubeClient, self)

    async def list(self, resource: Resource, namespace: str = "", *, fields: str = "", **_: Any) -> ObjectList:
        self.asked.append(resource.plural)
        if resource.kind in self.refuse:
            raise self.refuse[resource.kind]
        if resource.kind in self.hollow:
            return ObjectList((), "")
        return ObjectList(tuple(self.namespace.objects.get(resource.kind, [])), "1")

    async def get(self, resource: Resource, namespace: str, name: str) -> Mapping[str, Any]:
        if resource.kind != "Namespace":
            raise AssertionError(f"not told of {resource.kind}")
        if resource.kind in self.refuse:
            raise self.refuse[resource.kind]
        if name not in self.namespaces:
            raise errors.NotFound("no such namespace", status=404)
        return {"metadata": {"name": name}}

    async def raw(self, method: str, path: str, *, query: Mapping[str, str] | None = None, **_: Any) -> RawAnswer:
        self.asked.append(path)
        if path.endswith("/log"):
            pod = path.split("/")[-2]
            previous = "previous" if (query or {}).get("previous") else "current"
            said = self.logs.get(f"{pod}/{previous}")
            return RawAnswer(200 if said else 404, (said or "").encode(), "text/plain")
        name = path.split("/services/")[-1].split(":")[0]
        return _wire(self.namespace.silent.get(name, Answer(status=200, body="ok")))

    async def watch(self, resource: Resource, namespace: str = "", **_: Any) -> AsyncIterator[WatchEvent]:
        await asyncio.sleep(3600)
        yield WatchEvent("BOOKMARK", {})


def _wire(answer: Answer) -> RawAnswer:
    if not answer.failure:
        return RawAnswer(answer.status, answer.body.encode(), "text/plain")
    code, reason = (503, "ServiceUnavailable") if answer.known else (403, "Forbidden")
    status = {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": answer.failure}
    return RawAnswer(code, json.dumps(status).encode(), "application/json")
