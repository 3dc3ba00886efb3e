"""`make bench`: what things take on the embedded cluster, as ratios of one run."""

from __future__ import annotations

import asyncio
import resource
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from rich.console import Console
from rich.table import Table

from sanare.api.incident import Incident
from sanare.api.policy import PolicySpec
from sanare.api.verdict import Result
from sanare.evaluator.evaluator import Evaluator
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND
from sanare_lab.cluster.cluster import Cluster

PODS = 1000
SCALE = 20.0
NAMESPACE = "bench"
_LISTED = ("Pod", "Deployment", "ReplicaSet", "Service", "EndpointSlice", "ConfigMap", "Event")
_LIMIT_SECONDS = 120.0


class CountingClient(KubeClient):
    """A client that counts its requests; a page of a list is one, and so is an attempt that is repeated."""

    requests = 0

    @asynccontextmanager
    async def stream(self, *arguments: Any, **options: Any) -> AsyncIterator[aiohttp.ClientResponse]:
        """As the client's, counted."""
        self.requests += 1
        async with super().stream(*arguments, **options) as response:
            yield response


@dataclass(frozen=True, slots=True)
class Measured:
    """One thing done: seconds, API requests, and the longest time (s) in which nothing else could run."""

    seconds: float
    requests: int
    blocked: float
    result: Any


async def _timed(client: CountingClient, work: Callable[[], Awaitable[Any]]) -> Measured:
    before, start = client.requests, time.perf_counter()
    beat = asyncio.create_task(_longest_gap())
    result = await work()
    seconds = time.perf_counter() - start
    beat.cancel()
    (blocked,) = await asyncio.gather(beat)
    return Measured(seconds, client.requests - before, blocked, result)


async def _longest_gap() -> float:
    """The longest time, in seconds, between two turns of the event loop until cancelled."""
    longest, last = 0.0, time.perf_counter()
    with suppress(asyncio.CancelledError):
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
    return longest


async def _measure(path: Path) -> Table:
    cluster = Cluster(scale=SCALE, crds=Path("crds"))
    begun = time.perf_counter()
    await cluster.start()
    started = time.perf_counter() - begun
    try:
        kubeconfig = cluster.write_kubeconfig(path)
        async with await CountingClient.connect(kubeconfig=str(kubeconfig)) as client:
            evaluator = Evaluator(client)
            ready = await _timed(client, lambda: _deploy(client))
            lists = await _timed(client, lambda: _list_all(client))
            first = await _timed(client, lambda: evaluator.capture(_incident(), PolicySpec()))
            baseline, verdict = first.result
            again = await _timed(client, lambda: evaluator.judge_now(_incident(), PolicySpec(), baseline))
    finally:
        await cluster.stop()
    if {verdict.result, again.result[0].result} != {Result.FIXED}:
        raise RuntimeError(f"a healthy Deployment was not called so: {verdict.reason}; {again.result[0].reason}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return _table(started, ready, lists, first, again, memory=memory)


async def _deploy(client: KubeClient) -> None:
    """One Deployment of `PODS` pods, until all of them are Ready."""
    await client.create(BY_KIND["Namespace"], "", {"metadata": {"name": NAMESPACE}})
    await client.create(BY_KIND["Deployment"], NAMESPACE, _deployment())
    await client.create(BY_KIND["Service"], NAMESPACE, _service())
    async with asyncio.timeout(_LIMIT_SECONDS):
        while True:
            if await _all_ready(client):
                return
            await asyncio.sleep(0.2)


async def _all_ready(client: KubeClient) -> bool:
    found = await client.get(BY_KIND["Deployment"], NAMESPACE, "web")
    status = found.get("status", {})
    return bool(status.get("readyReplicas") == PODS)


async def _list_all(client: KubeClient) -> None:
    """The lists that an evaluation needs, and nothing else."""
    await asyncio.gather(*(client.list(BY_KIND[kind], NAMESPACE, chunk=2 * PODS) for kind in _LISTED))


def _deployment() -> dict[str, Any]:
    container = {
        "name": "web",
        "image": "shop.local/app:1.4.2",
        "ports": [{"containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 8080}, "periodSeconds": 5},
    }
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": PODS, "selector": {"matchLabels": labels}, "template": template}
    return {"metadata": {"name": "web"}, "spec": spec}


def _service() -> dict[str, Any]:
    return {
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]},
    }


def _incident() -> Incident:
    targets = [{"kind": "Deployment", "name": "web"}]
    return Incident.parse({"metadata": {"name": "bench", "namespace": NAMESPACE}, "spec": {"targets": targets}})


def _table(
    started: float, ready: Measured, lists: Measured, first: Measured, again: Measured, *, memory: float
) -> Table:
    table = Table(title=f"{PODS} pods, waits {SCALE:g} times as short", title_justify="left")
    for column in ("what", "requests", "s", "longest stop, s", "ratio to the bare lists"):
        table.add_column(column, justify="left" if column == "what" else "right")
    rows = (
        ("the bare lists of a namespace", lists),
        ("one evaluation of it, the first, with its baseline", first),
        ("one evaluation of it, a later one", again),
        ("all pods Ready", ready),
    )
    for what, measured in rows:
        blocked, ratio = f"{measured.blocked:.2f}", f"{measured.seconds / lists.seconds:.2f}"
        table.add_row(what, str(measured.requests), f"{measured.seconds:.2f}", blocked, ratio)
    table.add_row("start of the embedded cluster, with the CRDs", "", f"{started:.2f}", "", "")
    table.caption = (
        f"peak memory of the process, the cluster in it: {memory:.0f} MiB. A stop is how long nothing else could "
        "run; the cluster's own work is in it."
    )
    return table


def main() -> None:
    """Measure once and print."""
    with tempfile.TemporaryDirectory() as folder:
        Console().print(asyncio.run(_measure(Path(folder) / "kubeconfig")))


if __name__ == "__main__":
    main()
