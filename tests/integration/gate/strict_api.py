"""A small, strict stand-in for the API server: what it was not told of, it refuses."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from kubernetes.aio import client as kubernetes_client

from sanare.kube.client import KubeClient

Json = dict[str, Any]
Hook = Callable[[web.Request, Json], Awaitable[None]]


class StrictApi:
    """Objects by path. Reads and writes them as the API server does, as far as the gate needs it.

    A deletion with a body takes its options from the body alone, like the API server.
    """

    def __init__(self, objects: dict[str, Json]) -> None:
        self.objects = copy.deepcopy(objects)
        self.writes: list[tuple[str, str, bool]] = []
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        self.before_write: Hook | None = None
        self._version = 100

    def touch(self, path: str) -> None:
        """Change an object's version, as a controller's status update does."""
        self._version += 1
        self.objects[path]["metadata"]["resourceVersion"] = str(self._version)

    async def answer(self, http: web.Request) -> web.StreamResponse:
        """One request."""
        body = json.loads(await http.read() or b"null")
        self.seen.append((http.method, http.path_qs, dict(http.headers)))
        if http.method == "GET":
            return self._read(http)
        dry = "All" in http.query.getall("dryRun", [])
        if http.method == "DELETE" and body:
            dry = body.get("dryRun") == ["All"]
        if self.before_write and not dry:
            await self.before_write(http, body)
        known = http.path in self.objects or (http.method == "POST" and f"{http.path}/*" in self.objects)
        if not known:
            return self._status(404, "NotFound", f"{http.path} not found")
        self.writes.append((http.method, http.path, dry))
        return {"POST": self._create, "PUT": self._put, "PATCH": self._patch, "DELETE": self._delete}[http.method](
            http, body, dry
        )

    def _read(self, http: web.Request) -> web.Response:
        if http.path in self.objects:
            return web.json_response(self.objects[http.path])
        return self._status(404, "NotFound", f"{http.path} not found")

    def _create(self, http: web.Request, body: Json, dry: bool) -> web.Response:
        path = f"{http.path}/{body['metadata']['name']}"
        if path in self.objects:
            return self._status(409, "AlreadyExists", f"{path} exists")
        return self._store(path, {**body, "metadata": {**body["metadata"], "uid": f"uid-{path[-3:]}"}}, dry, 201)

    def _put(self, http: web.Request, body: Json, dry: bool) -> web.Response:
        live = self.objects[http.path]["metadata"]
        if body["metadata"].get("resourceVersion", live["resourceVersion"]) != live["resourceVersion"]:
            return self._status(409, "Conflict", "the object has been modified")
        return self._store(http.path, {**body, "metadata": {**body["metadata"], "uid": live["uid"]}}, dry)

    def _patch(self, http: web.Request, body: Any, dry: bool) -> web.Response:
        live = copy.deepcopy(self.objects[http.path])
        for path, value in _assignments(body):
            node = live
            for key in path[:-1]:
                node = node[int(key)] if isinstance(node, list) else node.setdefault(key, {})
            if path == ["metadata", "resourceVersion"] and value != live["metadata"]["resourceVersion"]:
                return self._status(409, "Conflict", "the object has been modified")
            _assign(node, path[-1], value)
        return self._store(http.path, live, dry)

    def _delete(self, http: web.Request, body: Json, dry: bool) -> web.Response:
        wanted = (body or {}).get("preconditions", {}).get("uid")
        if wanted not in (None, self.objects[http.path]["metadata"]["uid"]):
            return self._status(409, "Conflict", "uid differs")
        gone = self.objects[http.path] if dry else self.objects.pop(http.path)
        return web.json_response(gone)

    def _store(self, path: str, value: Json, dry: bool, status: int = 200) -> web.Response:
        self._version += 1
        stored = copy.deepcopy(value)
        stored["metadata"]["resourceVersion"] = str(self._version)
        if not dry:
            self.objects[path] = stored
        return web.json_response(stored, status=status)

    @staticmethod
    def _status(code: int, reason: str, message: str) -> web.Response:
        status = {"kind": "Status", "status": "Failure", "reason": reason, "message": message, "code": code}
        return web.json_response(status, status=code)


def _assignments(body: Any) -> list[tuple[list[str], Any]]:
    """A patch as assignments to paths: merge patches by their leaves, JSON patches by their operations."""
    if isinstance(body, list):
        return [(op["path"].split("/")[1:], op.get("value")) for op in body]
    found: list[tuple[list[str], Any]] = []
    for key, value in body.items():
        if isinstance(value, dict):
            found += [([key, *path], inner) for path, inner in _assignments(value)]
        else:
            found.append(([key], value))
    return found


def _assign(node: Any, key: str, value: Any) -> None:
    if isinstance(node, list):
        node[int(key)] = value
    elif value is None:
        node.pop(key, None)
    else:
        node[key] = value


@asynccontextmanager
async def serving(api: StrictApi) -> AsyncIterator[KubeClient]:
    """The stand-in on a free port, and a client that talks to it."""
    application = web.Application()
    application.router.add_route("*", "/{tail:.*}", api.answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    configuration = kubernetes_client.Configuration(host=f"http://127.0.0.1:{runner.addresses[0][1]}")
    configuration.retries = 0
    try:
        async with KubeClient(configuration, timeout=5) as client:
            yield client
    finally:
        await runner.cleanup()
