"""A shop that works, on the embedded cluster, and a door to ask about it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from sanare.api.incident import Incident
from sanare.api.model import API_VERSION
from sanare.api.policy import PolicySpec
from sanare.api.verdict import CheckOutcome, Result, Verdict
from sanare.evaluator.declared.asker import Means
from sanare.evaluator.evaluator import Evaluator
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND
from sanare_lab.cluster.cluster import Cluster

ROOT = Path(__file__).parents[3]
SPEC = {"targets": [{"kind": "Deployment", "name": "web"}]}
SHOP = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: shop.local/app:1.4.2
          env: [{name: NONCE, value: order-4711}]
          readinessProbe: {httpGet: {path: /readyz, port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: side}
spec:
  selector: {matchLabels: {app: side}}
  template:
    metadata: {labels: {app: side}}
    spec: {containers: [{name: side, image: "shop.local/app:1.4.2"}]}
---
apiVersion: v1
kind: Service
metadata: {name: side}
spec:
  selector: {app: side}
  ports: [{name: astray, port: 81, targetPort: 9}]
---
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {key: value}
"""


@dataclass(frozen=True)
class Shop:
    """One namespace with a Deployment and a Service `web`, and a neighbour `side` whose Service leads nowhere."""

    client: KubeClient
    uid: str
    means: Means = field(default_factory=Means)

    async def verdict(self, *checks: Mapping[str, Any], allow_pods: bool = False) -> Verdict:
        """One look at an Incident with these checks."""
        verify = {"allowPods": allow_pods, "hold": "0s"}
        policy = PolicySpec.parse({"verify": verify})
        verdict, _ = await Evaluator(self.client, self.means).judge_now(self.incident(*checks), policy, None)
        return verdict

    async def outcome(self, check: Mapping[str, Any], *, allow_pods: bool = False) -> CheckOutcome:
        """What one check came to."""
        verdict = await self.verdict({"name": "mine", **check}, allow_pods=allow_pods)
        (found,) = (each for each in verdict.checks if each.name == "declared/mine")
        return found

    def incident(self, *checks: Mapping[str, Any]) -> Incident:
        """The Incident with these checks; its uid is that of the one that exists, since Jobs are owned by it."""
        metadata = {"name": "one", "namespace": "default", "uid": self.uid}
        return Incident.parse({"metadata": metadata, "spec": {**SPEC, "checks": checks}})

    async def healthy(self) -> None:
        """Return when it works."""
        while True:
            if (await self.verdict()).result is Result.FIXED:
                return
            await asyncio.sleep(0.2)

    async def made(self) -> int:
        """How many pods Jobs of checks have had so far."""
        events = await self.client.list(BY_KIND["Event"], "default", fields="reason=SuccessfulCreate")
        return sum(event["involvedObject"]["name"].startswith("sanare-check-") for event in events.items)

    async def job(self) -> None:
        """Return when there is a Job."""
        while True:
            if await self.jobs():
                return
            await asyncio.sleep(0.1)

    async def jobs(self) -> int:
        """How many Jobs there are."""
        return len((await self.client.list(BY_KIND["Job"], "default")).items)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    async with Cluster(scale=10, crds=ROOT / "crds") as cluster:
        kubeconfig = str(cluster.write_kubeconfig(tmp_path_factory.mktemp("shop") / "kubeconfig"))
        async with await KubeClient.connect(kubeconfig=kubeconfig) as client:
            for manifest in yaml.safe_load_all(SHOP):
                await client.create(BY_KIND[manifest["kind"]], "default", manifest)
            spec = {"apiVersion": API_VERSION, "kind": "Incident", "metadata": {"name": "one"}, "spec": SPEC}
            incident = await client.create(BY_KIND["Incident"], "default", spec)
            made = Shop(client, incident["metadata"]["uid"])
            async with asyncio.timeout(30):
                await made.healthy()
            yield made
