"""Evicting a pod: what the API server may say, and what that means."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import Configuration

from sanare import errors
from sanare.kube.client import KubeClient
from sanare.kube.eviction import EvictionEnd, evict

Asked = tuple[str, str, dict[str, Any]]  # path, impersonated user, body

AGENT = "system:serviceaccount:sanare-system:sanare-agent"


@asynccontextmanager
async def answering(status: int, message: str, seen: list[Asked]) -> AsyncIterator[KubeClient]:
    async def handle(request: web.Request) -> web.Response:
        seen.append((request.path, request.headers.get("Impersonate-User", ""), json.loads(await request.read())))
        return web.json_response({"kind": "Status", "code": status, "message": message}, status=status)

    app = web.Application()
    app.router.add_post("/{path:.*}", handle)
    async with TestServer(app) as server, KubeClient(Configuration(host=str(server.make_url("")))) as kube:
        yield kube


@pytest.mark.parametrize(
    ("status", "end", "words"),
    [
        (201, EvictionEnd.EVICTED, ""),
        (404, EvictionEnd.GONE, "not found"),
        (409, EvictionEnd.GONE, "the UID in the precondition"),
        (429, EvictionEnd.BLOCKED, "would violate the pod's disruption budget"),
        (403, EvictionEnd.BLOCKED, f"{AGENT} may not evict pods"),
        (500, EvictionEnd.BLOCKED, "more than one PodDisruptionBudget"),
    ],
)
async def test_the_end_of_an_eviction(status: int, end: EvictionEnd, words: str) -> None:
    seen: list[Asked] = []
    async with answering(status, words, seen) as kube:
        answer = await evict(kube, "shop", "web-1", uid="u1", impersonate=AGENT)
    assert (answer.end, answer.status) == (end, status)
    assert words in answer.message
    ((path, user, body),) = seen
    assert (path, user) == ("/api/v1/namespaces/shop/pods/web-1/eviction", AGENT)
    assert (body["kind"], body["deleteOptions"]["preconditions"]) == ("Eviction", {"uid": "u1"})


@pytest.mark.parametrize("status", [502, 503, 504])
async def test_an_end_that_nobody_knows_is_no_end(status: int) -> None:
    async with answering(status, "gateway", []) as kube:
        with pytest.raises(errors.Unreachable):
            await evict(kube, "shop", "web-1", uid="u1")


async def test_a_missing_right_says_which_one() -> None:
    async with answering(403, "no", []) as kube:
        answer = await evict(kube, "shop", "web-1", uid="u1")
    assert answer.message.endswith("give it the verb create on pods/eviction")
