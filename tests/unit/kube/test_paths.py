"""What a path may ask: a name or a proxied path never leads to something else than the path's beginning names."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import Configuration

from sanare import errors
from sanare.api.checks import CelObject, HttpCheck
from sanare.evaluator.collect import _ask_once
from sanare.evaluator.declared import expression, proxied
from sanare.evaluator.declared.reply import Reply
from sanare.evaluator.snapshot import Probe
from sanare.kube.client import KubeClient
from tests.unit.evaluator.namespace import shop

SECRET = {"kind": "Secret", "metadata": {"name": "db"}, "data": {"password": "eA=="}}


@asynccontextmanager
async def telling(seen: list[str]) -> AsyncIterator[KubeClient]:
    """An API server that answers everything with a Secret."""

    async def handle(request: web.Request) -> web.Response:
        seen.append(request.path)
        return web.json_response(SECRET)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    async with TestServer(app) as server, KubeClient(Configuration(host=str(server.make_url("")))) as kube:
        yield kube


@pytest.mark.parametrize("name", ["../secrets/db", "..%2Fsecrets%2Fdb", "..", "web/status", "web?watch=1", "web#"])
async def test_the_name_of_an_object_reads_nothing_else(name: str) -> None:
    seen: list[str] = []
    wanted = CelObject.model_validate({"as": "x", "apiVersion": "v1", "kind": "ConfigMap", "name": name})
    async with telling(seen) as kube:
        assert isinstance(await expression.fetch(kube, "shop", wanted), Reply)
    assert seen == []


DETOURS = [
    "/../../../secrets/db",
    "/%2e%2e/%2e%2e/%2e%2e/secrets",
    "/a/%252e%252e/b",
    "/..%2f..%2fsecrets",
    "/a/./b",
]


@pytest.mark.parametrize("path", DETOURS)
async def test_a_declared_path_does_not_lead_out_of_the_proxy(path: str) -> None:
    seen: list[str] = []
    async with telling(seen) as kube:
        reply = await proxied.ask_http(kube, shop().snapshot(), HttpCheck(service="web", path=path))
    assert reply.unknown
    assert seen == []


@pytest.mark.parametrize("path", DETOURS)
async def test_the_path_of_a_probe_does_not_lead_out_of_the_proxy(path: str) -> None:
    seen: list[str] = []
    async with telling(seen) as kube:
        answer = await _ask_once(kube, "shop", Probe("Pod", "web-1-0", "8080", path))
    assert not answer.known
    assert seen == []


async def test_dots_within_a_name_are_no_detour() -> None:
    seen: list[str] = []
    async with telling(seen) as kube:
        await kube.raw("GET", "/api/v1/namespaces/shop/services/web:80/proxy/a..b/.well-known/v1.0")
        with pytest.raises(errors.Invalid):
            await kube.raw("GET", "/api/v1/namespaces/shop/pods/../secrets")
    assert seen == ["/api/v1/namespaces/shop/services/web:80/proxy/a..b/.well-known/v1.0"]
