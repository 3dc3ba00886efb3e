"""Faults of the embedded cluster, as a client sees them; and clients that outlive them: kopf, and our own watch."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import kopf
import pytest

from sanare.errors import Gone, Unreachable
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND
from sanare_lab.cluster.cluster import Cluster
from sanare_lab.cluster.faults import Fault, FaultKind
from sanare_lab.cluster.resources import CONFIG_MAPS

PODS = "/api/v1/namespaces/default/pods"
MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A cluster of the test's own."""
    async with Cluster(scale=20) as cluster:
        yield cluster


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    """A client."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
        yield session


def _put(cluster: Cluster, name: str) -> None:
    cluster.store.create(CONFIG_MAPS, {"metadata": {"name": name, "namespace": "default"}})


async def _until(check: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not check():  # noqa: ASYNC110 - what is waited for has no event of its own
            await asyncio.sleep(0.05)


ANSWERS = [
    (FaultKind.CONFLICT, 409, "Conflict"),
    (FaultKind.THROTTLED, 429, "TooManyRequests"),
    (FaultKind.ERROR, 500, "InternalError"),
]


@pytest.mark.parametrize(("kind", "status", "reason"), ANSWERS, ids=[row[0].value for row in ANSWERS])
async def test_a_refused_request_does_nothing(
    cluster: Cluster, http: aiohttp.ClientSession, kind: FaultKind, status: int, reason: str
) -> None:
    cluster.faults.add(Fault(kind, "^POST .*/configmaps", requests=frozenset({1}), seconds=2))
    body = {"metadata": {"name": "a"}}
    async with http.post(cluster.url + MAPS, json=body) as answer:
        assert answer.status == status
        assert (await answer.json())["reason"] == reason
        assert answer.headers.get("Retry-After") == ("2" if status == 429 else None)
    assert cluster.store.get(CONFIG_MAPS, "default", "a") is None
    async with http.post(cluster.url + MAPS, json=body) as answer:
        assert answer.status == 201


async def test_a_dropped_request_ends_without_an_answer(cluster: Cluster, http: aiohttp.ClientSession) -> None:
    cluster.faults.add(Fault(FaultKind.DROP, "^POST", requests=frozenset({1})))
    with pytest.raises(aiohttp.ClientError):
        await http.post(cluster.url + MAPS, json={"metadata": {"name": "a"}})
    assert cluster.store.get(CONFIG_MAPS, "default", "a") is None


async def test_a_request_that_times_out_gets_no_answer(cluster: Cluster, http: aiohttp.ClientSession) -> None:
    cluster.faults.add(Fault(FaultKind.TIMEOUT, "^GET", requests=frozenset({1})))
    with pytest.raises(TimeoutError):
        await http.get(cluster.url + PODS, timeout=aiohttp.ClientTimeout(total=0.2))


async def test_a_late_answer_is_an_answer(cluster: Cluster, http: aiohttp.ClientSession) -> None:
    cluster.faults.add(Fault(FaultKind.LATENCY, "^GET", rate=1, seconds=0.05))
    async with http.get(cluster.url + PODS) as answer:
        assert answer.status == 200
    assert cluster.faults.hits == 1


async def test_a_stale_watch_stays_open_and_tells_nothing(cluster: Cluster, http: aiohttp.ClientSession) -> None:
    cluster.faults.add(Fault(FaultKind.STALE, "watch=true", requests=frozenset({1})))
    query = f"?watch=true&timeoutSeconds=1&resourceVersion={cluster.store.resource_version}"
    async with http.get(cluster.url + MAPS + query) as answer:
        _put(cluster, "a")
        assert await answer.read() == b""


async def test_a_gone_watch_is_told_so(cluster: Cluster, http: aiohttp.ClientSession) -> None:
    cluster.faults.add(Fault(FaultKind.GONE, "watch=true", requests=frozenset({1})))
    query = f"?watch=true&resourceVersion={cluster.store.resource_version}"
    async with http.get(cluster.url + MAPS + query) as answer:
        assert b'"code":410' in await answer.read()


async def test_a_cut_watch_breaks_off(cluster: Cluster, http: aiohttp.ClientSession) -> None:
    cluster.faults.add(Fault(FaultKind.DROP, "watch=true", requests=frozenset({1}), seconds=0.1))
    query = f"?watch=true&resourceVersion={cluster.store.resource_version}"
    async with http.get(cluster.url + MAPS + query) as answer:
        with pytest.raises(aiohttp.ClientError):
            await answer.read()


@pytest.fixture
async def seen(cluster: Cluster) -> AsyncIterator[list[str]]:
    """The names that a kopf operator has seen created in this cluster, whatever happens to it."""
    names: list[str] = []
    registry = kopf.OperatorRegistry()
    server = cluster.url

    @kopf.on.login(registry=registry)
    def log_in(**_: Any) -> kopf.ConnectionInfo:
        return kopf.ConnectionInfo(server=server)

    @kopf.on.event("v1", "configmaps", registry=registry)
    def see(name: str | None, **_: Any) -> None:
        if name and name not in names:
            names.append(name)

    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.watching.reconnect_backoff = 0.1
    settings.networking.error_backoffs = [0.2] * 100
    stop = threading.Event()

    def run() -> None:  # in a loop of its own: kopf cancels every task of its loop when it ends
        operator = kopf.operator(
            registry=registry, settings=settings, standalone=True, namespaces=["default"], stop_flag=stop
        )
        asyncio.run(operator)

    thread = threading.Thread(target=run)
    thread.start()
    yield names
    stop.set()
    await asyncio.to_thread(thread.join, 30)
    assert not thread.is_alive()


async def test_kopf_goes_on_after_cut_and_forgotten_watches(cluster: Cluster, seen: list[str]) -> None:
    _put(cluster, "first")
    await _until(lambda: "first" in seen)
    cluster.faults.add(Fault(FaultKind.DROP, "configmaps.*watch=true", requests=frozenset({1, 2}), seconds=0.1))
    cluster.faults.add(Fault(FaultKind.GONE, "configmaps.*watch=true", requests=frozenset({3})))
    await cluster.drop_connections()
    _put(cluster, "second")
    await _until(lambda: "second" in seen)
    cluster.store.log.forget()
    _put(cluster, "third")
    await _until(lambda: "third" in seen)


async def test_kopf_goes_on_after_a_restart(cluster: Cluster, seen: list[str]) -> None:
    _put(cluster, "before")
    await _until(lambda: "before" in seen)
    port = int(cluster.url.rpartition(":")[2])
    await cluster.stop()
    async with Cluster(scale=20, port=port) as again:
        _put(again, "after")
        await _until(lambda: "after" in seen)


@pytest.fixture
async def client(cluster: Cluster, tmp_path: Path) -> AsyncIterator[KubeClient]:
    """The operator's own client."""
    path = cluster.write_kubeconfig(tmp_path / "kubeconfig")
    async with await KubeClient.connect(timeout=5, kubeconfig=str(path)) as client:
        yield client


ENDS = [(FaultKind.GONE, Gone), (FaultKind.DROP, Unreachable)]


@pytest.mark.parametrize(("kind", "error"), ENDS, ids=[row[0].value for row in ENDS])
async def test_our_client_tells_why_a_watch_ended_and_lists_again(
    cluster: Cluster, client: KubeClient, kind: FaultKind, error: type[Exception]
) -> None:
    cluster.faults.add(Fault(kind, "watch=true", requests=frozenset({1}), seconds=0.1))
    config_maps = BY_KIND["ConfigMap"]
    before = await client.list(config_maps, "default")
    with pytest.raises(error):
        async for _ in client.watch(config_maps, "default", since=before.resource_version):
            pass
    _put(cluster, "later")
    again = await client.list(config_maps, "default")
    assert "later" in {item["metadata"]["name"] for item in again.items}
    _put(cluster, "latest")
    async for event in client.watch(config_maps, "default", since=again.resource_version):
        assert event.object["metadata"]["name"] == "latest"
        break


async def test_our_client_goes_on_after_cut_connections(cluster: Cluster, client: KubeClient) -> None:
    config_maps = BY_KIND["ConfigMap"]
    assert await client.list(config_maps, "default")
    await cluster.drop_connections()
    assert await client.list(config_maps, "default")
