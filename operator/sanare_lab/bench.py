"""`make bench`: what things take on the embedded cluster, as ratios of one run."""

from __future__ import annotations

import asyncio
import resource
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sanare.api.incident import Incident
from sanare.api.policy import PolicySpec
from sanare.evaluator.evaluator import Evaluator
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND
from sanare_lab.cluster.cluster import Cluster

PODS = 1000
SCALE = 20.0
NAMESPACE = "bench"
_LISTED = ("Pod", "Deployment", "ReplicaSet", "Service", "EndpointSlice", "ConfigMap", "Event")
_LIMIT_SECONDS = 120.0


async def _timed(work: Callable[[], Awaitable[Any]]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = await work()
    return time.perf_counter() - start, result


async def _measure(path: Path) -> Table:
    cluster = Cluster(scale=SCALE, crds=Path("crds"))
    started, _ = await _timed(cluster.start)
    try:
        kubeconfig = cluster.write_kubeconfig(path)
        async with await KubeClient.connect(kubeconfig=str(kubeconfig)) as client:
            ready, _ = await _timed(lambda: _deploy(client))
            lists, _ = await _timed(lambda: _list_all(client))
            evaluation, _ = await _timed(lambda: Evaluator(client).capture(_incident(), PolicySpec()))
    finally:
        await cluster.stop()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return _table(started, ready, lists, evaluation, memory)


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
    await asyncio.gather(*(client.list(BY_KIND[kind], NAMESPACE) for kind in _LISTED))


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


def _table(started: float, ready: float, lists: float, evaluation: float, memory: float) -> Table:
    table = Table(title=f"{PODS} pods, waits {SCALE:g} times as short", title_justify="left")
    for column in ("what", "s", "ratio to the bare lists"):
        table.add_column(column, justify="left" if column == "what" else "right")
    rows = (
        ("the bare lists of a namespace", lists),
        ("one evaluation of it (the first, with its baseline)", evaluation),
        ("all pods Ready", ready),
        ("start of the embedded cluster, with the CRDs", started),
    )
    for what, seconds in rows:
        table.add_row(what, f"{seconds:.2f}", f"{seconds / lists:.2f}")
    table.caption = f"peak memory of the process: {memory:.0f} MiB"
    return table


def main() -> None:
    """Measure once and print."""
    with tempfile.TemporaryDirectory() as folder:
        Console().print(asyncio.run(_measure(Path(folder) / "kubeconfig")))


if __name__ == "__main__":
    main()
