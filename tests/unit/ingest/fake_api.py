"""An API server for the webhook's tests: it knows what it was given and refuses everything else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import Configuration

from sanare.kube.client import KubeClient


def status(code: int, reason: str) -> web.Response:
    body = {"kind": "Status", "code": code, "reason": reason, "message": f"the server says {reason}"}
    return web.json_response(body, status=code)


@dataclass
class ApiServer:
    """Objects by URL path. `broken` answers every request with that HTTP status."""

    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    namespaces: frozenset[str] = frozenset({"shop"})
    broken: int = 0
    created: dict[str, dict[str, Any]] = field(default_factory=dict)

    def own(self, path: str, kind: str, owner: tuple[str, str] | None = None) -> None:
        """Add an object, with the kind and name of its controller."""
        parts = path.split("/")
        metadata: dict[str, Any] = {"namespace": parts[-3], "name": parts[-1]}
        if owner:
            metadata["ownerReferences"] = [
                {"apiVersion": "apps/v1", "kind": owner[0], "name": owner[1], "uid": "1", "controller": True}
            ]
        self.objects[path] = {"kind": kind, "metadata": metadata}

    async def handle(self, request: web.Request) -> web.Response:
        if self.broken:
            return status(self.broken, "Broken")
        if request.method == "GET":
            found = self.objects.get(request.path)
            return web.json_response(found) if found else status(404, "NotFound")
        if request.method != "POST" or not request.path.endswith(("/incidents", "/incidentrecords")):
            return status(403, "Forbidden")
        return await self._create(request)

    async def _create(self, request: web.Request) -> web.Response:
        body = await request.json()
        namespace = request.path.split("/")[-2]
        name = f"{namespace}/{body['metadata']['name']}"
        if namespace not in self.namespaces:
            return status(404, "NotFound")
        if name in self.created:
            return status(409, "AlreadyExists")
        self.created[name] = body
        return web.json_response(body, status=201)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[KubeClient]:
        """The operator's own client, talking to this server."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.handle)
        async with TestServer(app) as server, KubeClient(Configuration(host=str(server.make_url("")))) as kube:
            yield kube
