"""Declared checks on the cluster of KUBECONFIG, with a real Prometheus that scrapes a real app.

Needs the lab's app image on the nodes. Tests with Prometheus need its binary on PATH (Debian: `apt-get install
prometheus`), those with a probe pod the operator's image on the nodes (SANARE_E2E_IMAGE). All of them run where the
cluster's Service addresses can be reached, as they can in the operator's pod.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
import yaml

from sanare import errors
from sanare.api.incident import Incident
from sanare.api.model import API_VERSION
from sanare.api.policy import PolicySpec
from sanare.api.verdict import CheckOutcome, Result, Verdict
from sanare.evaluator.declared.asker import Means
from sanare.evaluator.declared.prometheus import Server
from sanare.evaluator.evaluator import Evaluator
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND

PROMETHEUS = shutil.which("prometheus")
IMAGE = os.environ.get("SANARE_E2E_IMAGE", "")
REGISTRY = os.environ.get("SANARE_REGISTRY", "shop.local/")
TARGETS = {"targets": [{"kind": "Deployment", "name": "orders"}]}
SECONDS = 120
# The app answers with its nonce: here a metric in Prometheus's text format.
SHOP = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: orders}
spec:
  selector: {matchLabels: {app: orders}}
  template:
    metadata: {labels: {app: orders}}
    spec:
      containers:
        - name: orders
          image: @REGISTRY@app:1.4.2
          env: [{name: NONCE, value: orders_pending 42}]
          readinessProbe: {httpGet: {path: /readyz, port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: orders}
spec:
  selector: {app: orders}
  ports: [{name: http, port: 80, targetPort: 8080}]
"""

pytestmark = pytest.mark.asyncio(loop_scope="module")
needs_prometheus = pytest.mark.skipif(
    PROMETHEUS is None, reason="no prometheus on PATH: apt-get install prometheus"
)
needs_image = pytest.mark.skipif(not IMAGE, reason="SANARE_E2E_IMAGE names no image with Python for probe pods")


@dataclass(frozen=True)
class Shop:
    """A namespace with a Deployment and a Service `orders`, and an Incident about them."""

    client: KubeClient
    namespace: str
    uid: str
    address: str

    def incident(self, *checks: Mapping[str, Any]) -> Incident:
        metadata = {"name": "one", "namespace": self.namespace, "uid": self.uid}
        return Incident.parse({"metadata": metadata, "spec": {**TARGETS, "checks": checks}})

    async def outcome(self, check: Mapping[str, Any], means: Means | None = None) -> CheckOutcome:
        """What one look makes of one check."""
        incident = self.incident({"name": "mine", **check})
        policy = PolicySpec.parse({"verify": {"allowPods": True}})
        verdict, _ = await Evaluator(self.client, means).judge_now(incident, policy, None)
        (found,) = (each for each in verdict.checks if each.name == "declared/mine")
        return found

    async def verified(self, check: Mapping[str, Any], means: Means) -> Verdict:
        """The verdict after a whole verification with one check."""
        incident = self.incident({"name": "mine", **check})
        policy = PolicySpec.parse({"verify": {"allowPods": True, "hold": "3s", "convergeTimeout": "60s"}})
        evaluator = Evaluator(self.client, means)
        baseline, _ = await evaluator.capture(incident, policy)
        verdict, _ = await evaluator.verify(incident, policy, baseline, previous=None, since=datetime.now(UTC))
        return verdict

    async def left(self) -> int:
        """How many Jobs there are."""
        return len((await self.client.list(BY_KIND["Job"], self.namespace)).items)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(prepared: None) -> AsyncIterator[Shop]:
    async with await KubeClient.connect() as client:
        namespace = f"chk-{uuid.uuid4().hex[:8]}"
        await client.create(BY_KIND["Namespace"], "", {"metadata": {"name": namespace}})
        try:
            yield await _opened(client, namespace)
        finally:
            with suppress(errors.KubeError):
                await client.delete(BY_KIND["Namespace"], "", namespace)


async def _opened(client: KubeClient, namespace: str) -> Shop:
    for manifest in yaml.safe_load_all(SHOP.replace("@REGISTRY@", REGISTRY)):
        await client.create(BY_KIND[manifest["kind"]], namespace, manifest)
    body = {"apiVersion": API_VERSION, "kind": "Incident", "metadata": {"name": "one"}}
    # Observe and suspended: an operator that happens to watch leaves it alone.
    made = await client.create(
        BY_KIND["Incident"], namespace, {**body, "spec": {**TARGETS, "mode": "Observe", "suspend": True}}
    )
    service = await client.get(BY_KIND["Service"], namespace, "orders")
    opened = Shop(client, namespace, made["metadata"]["uid"], service["spec"]["clusterIP"])
    async with asyncio.timeout(SECONDS):
        while True:
            verdict, _ = await Evaluator(client).judge_now(opened.incident(), PolicySpec(), None)
            if verdict.result is Result.FIXED:
                return opened
            await asyncio.sleep(1)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    """A Prometheus that has scraped the app at least once."""
    folder, port = tmp_path_factory.mktemp("prometheus"), _free_port()
    scrape = {"job_name": "orders", "metrics_path": "/", "static_configs": [{"targets": [f"{shop.address}:80"]}]}
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [scrape]}
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    async with _running(folder, port) as running:
        async with asyncio.timeout(SECONDS):
            await _scraped(running)
        yield running


@asynccontextmanager
async def _running(folder: Path, port: int) -> AsyncIterator[Server]:
    assert PROMETHEUS is not None
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            PROMETHEUS,
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
            stdout=log,
            stderr=log,
        )
    try:
        yield Server(f"http://127.0.0.1:{port}")
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def _scraped(server: Server) -> None:
    """Return when there is data of some seconds."""
    query = {"query": "count_over_time(orders_pending[1m]) > 8"}
    async with aiohttp.ClientSession() as session:
        while True:
            with suppress(aiohttp.ClientError):
                async with session.get(f"{server.url}/api/v1/query", params=query) as answer:
                    if (await answer.json())["data"]["result"]:
                        return
            await asyncio.sleep(0.5)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


QUERIES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("holds", {"query": "orders_pending", "op": "==", "value": 42}, "Passed", "", "holds for 1 series"),
    ("not", {"query": "orders_pending", "op": "<", "value": 42}, "Failed", "DeclaredCheck", "is 42"),
    ("over a time", {"query": "up", "op": "==", "value": 1, "for": "5s"}, "Passed", "", "over 5s"),
    ("not yet", {"query": "up", "op": "==", "value": 1, "for": "10m"}, "Unknown", "Empty", "no data at"),
    ("no series", {"query": "orders_lost", "op": "==", "value": 0}, "Unknown", "Empty", "no data"),
    (
        "not a number",
        {"query": "0 * orders_pending / 0", "op": "!=", "value": 1},
        "Unknown",
        "Empty",
        "not a number",
    ),
    ("no query", {"query": "orders_pending{", "op": "==", "value": 1}, "Unknown", "Unknown", "not a query"),
    (
        "a scalar",
        {"query": "scalar(orders_pending)", "op": ">=", "value": 42, "for": "2s"},
        "Passed",
        "",
        "over 2s",
    ),
]


@needs_prometheus
@pytest.mark.parametrize(
    ("promql", "result", "kind", "says"), [case[1:] for case in QUERIES], ids=[case[0] for case in QUERIES]
)
async def test_prometheus_decides(
    shop: Shop, server: Server, promql: dict[str, Any], result: str, kind: str, says: str
) -> None:
    found = await shop.outcome({"promql": promql}, Means(server=server))
    assert (found.result, found.kind) == (result, kind), found.message
    assert says in found.message


@needs_prometheus
async def test_a_query_that_is_none_is_refused_before_anything_is_touched(shop: Shop, server: Server) -> None:
    incident = shop.incident({"name": "mine", "promql": {"query": "rate(up)", "op": ">", "value": 0}})
    with pytest.raises(errors.InvalidIncident, match=r"declared/mine: not a query: .*rate") as refused:
        await Evaluator(shop.client, Means(server=server)).refuse_invalid_checks(incident, PolicySpec())
    assert refused.value.reason == "InvalidCheck"


@needs_prometheus
async def test_without_data_a_verification_ends_unverified(shop: Shop, server: Server) -> None:
    verdict = await shop.verified(
        {"promql": {"query": "orders_pending", "op": ">", "value": 0}}, Means(server=server)
    )
    assert verdict.result is Result.FIXED, verdict.reason
    found = await shop.outcome({"promql": {"query": "absent", "op": ">", "value": 0}}, Means(server=server))
    assert found.kind == "Empty"


ASKED: list[tuple[str, dict[str, Any], str, str]] = [
    ("http", {"http": {"service": "orders", "matches": r"^orders_pending \d+"}}, "Passed", "200"),
    ("http, another body", {"http": {"service": "orders", "contains": "lost"}}, "Failed", "does not contain"),
    ("tcp", {"tcp": {"service": "orders", "port": "http"}}, "Passed", "accepts a connection"),
]


@pytest.mark.parametrize("origin", ["APIServerProxy", "Operator", pytest.param("ProbePod", marks=needs_image)])
@pytest.mark.parametrize(("check", "result", "says"), [case[1:] for case in ASKED], ids=[case[0] for case in ASKED])
async def test_a_service_answers_the_same_from_wherever_it_is_asked(
    shop: Shop, origin: str, check: dict[str, Any], result: str, says: str
) -> None:
    ((member, asked),) = check.items()
    found = await shop.outcome({member: {**asked, "from": origin}}, Means(probe_image=IMAGE))
    assert found.result == result, found.message
    assert says in found.message
    assert await shop.left() == 0


JOBS: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("passed", {"command": ["sh", "-c", "id -u | grep -qx 65532"]}, "Passed", "", "exited with 0"),
    ("another code", {"command": ["sh", "-c", "exit 3"]}, "Failed", "DeclaredCheck", "exited with 3"),
    ("nothing to write", {"command": ["sh", "-c", "touch /a && exit 9"], "exitCode": 1}, "Passed", "", "1"),
    ("a place to write", {"command": ["sh", "-c", "touch /tmp/a"]}, "Passed", "", "0"),
    ("no token", {"command": ["test", "!", "-e", "/var/run/secrets/kubernetes.io"]}, "Passed", "", "0"),
    ("too long", {"command": ["sleep", "60"], "timeout": "5s"}, "Unknown", "Timeout", "did not end within 5 s"),
    ("no image", {"image": "shop.local/none:1", "timeout": "5s"}, "Unknown", "Timeout", "Image"),
]


@pytest.mark.parametrize(
    ("job", "result", "kind", "says"), [case[1:] for case in JOBS], ids=[case[0] for case in JOBS]
)
async def test_a_job_runs_restricted_and_its_exit_code_decides(
    shop: Shop, job: dict[str, Any], result: str, kind: str, says: str
) -> None:
    found = await shop.outcome({"job": {"image": f"{REGISTRY}tools:3.1", "timeout": "3m", **job}})
    assert (found.result, found.kind) == (result, kind), found.message
    assert says in found.message
    assert await shop.left() == 0


async def test_a_job_passes_the_restricted_pod_security_standard(shop: Shop) -> None:
    label = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    await shop.client.patch(BY_KIND["Namespace"], "", shop.namespace, label)
    found = await shop.outcome({"job": {"image": f"{REGISTRY}tools:3.1", "command": ["true"], "timeout": "3m"}})
    assert found.result == "Passed", found.message


async def test_a_quota_that_leaves_no_room_for_a_job_says_forbidden(shop: Shop) -> None:
    quota = {"metadata": {"name": "none"}, "spec": {"hard": {"count/jobs.batch": "0"}}}
    await shop.client.create(BY_KIND["ResourceQuota"], shop.namespace, quota)
    job = {"image": f"{REGISTRY}tools:3.1", "command": ["true"], "timeout": "3m"}
    async with asyncio.timeout(SECONDS):  # the quota is counted in a moment after it was made
        while (found := await shop.outcome({"job": job})).result == "Passed":
            continue
    assert (found.result, found.kind) == ("Unknown", "Forbidden")
    assert "exceeded quota" in found.message
