"""What the API asks of the node about Pods, and the binding and eviction of a Pod."""

from __future__ import annotations

from typing import Protocol

from aiohttp import web

from sanare_lab.cluster.api.rendering import json_answer
from sanare_lab.cluster.api.request import Call
from sanare_lab.cluster.node import PodResponse
from sanare_lab.cluster.objects import Obj, dig
from sanare_lab.cluster.resources import PODS
from sanare_lab.cluster.store import EVERYTHING, Store

_CREATED: Obj = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


class Pods(Protocol):
    """The node, as the API needs it."""

    def logs(
        self, namespace: str, pod: str, container: str, *, previous: bool = False, tail_lines: int | None = None
    ) -> str | None:
        """The log of a container's current or previous run, None where there was no such run."""

    async def http(
        self, namespace: str, pod: str, port: int, method: str, path: str, *, body: bytes = b""
    ) -> PodResponse:
        """One request to the application in a Pod. Raises ConnectionRefused, NoRoute."""

    async def http_ip(self, ip: str, port: int, method: str, path: str, *, body: bytes = b"") -> PodResponse:
        """The same by address, for endpoints that name no Pod."""


async def bind(store: Store, call: Call) -> web.Response:
    """POST of pods/binding: the Pod gets its node."""
    body = await call.object_body()
    node = dig(body, "target", "name")
    target = call.target
    store.require(PODS, target.namespace, target.name)
    store.modify(
        PODS, target.namespace, target.name, lambda pod: pod["spec"].update(nodeName=node), subresource=EVERYTHING
    )
    return json_answer(_CREATED, 201)


async def evict(store: Store, call: Call) -> web.Response:
    """POST of pods/eviction: a deletion; disruption budgets are not looked at."""
    await call.body()
    store.delete(PODS, call.target.namespace, call.target.name, dry_run=call.dry_run)
    return json_answer(_CREATED, 201)
