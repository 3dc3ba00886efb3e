"""The arena of a journey: one cluster, one running operator, and staged scenarios in it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from sanare.api.incident import Incident
from sanare.api.manifest import Manifest, text
from sanare.api.status import AuditEntry, Phase
from sanare.kube.client import KubeClient
from sanare.kube.records import list_records
from sanare.kube.resources import BY_KIND
from sanare.kubectl.journal import MutationRecord
from sanare.memory import audit
from sanare_lab.controls.stage import Stage
from sanare_lab.healing import HealPlan, OperatorProcess, operator_process
from sanare_lab.healing.heal import broken, watch_end
from sanare_lab.model import ScriptedModel
from sanare_lab.scenarios.loader import load_all
from sanare_lab.scenarios.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Pace:
    """How patient a cluster makes us, in seconds. `patience` is `converge` where a journey sees the end of it."""

    hold: str
    converge: str
    patience: str
    limit: float
    proof: float


@dataclass(frozen=True, slots=True)
class Arena:
    """A cluster by its kubeconfig. `audit_log` is its API server's own audit log, where it has one."""

    kubeconfig: Path
    kubectl: str
    pace: Pace
    folder: Path
    registry: str = "shop.local/"
    audit_log: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[KubeClient]:
        """A client with the kubeconfig's own rights."""
        async with await KubeClient.connect(kubeconfig=str(self.kubeconfig)) as client:
            yield client

    @asynccontextmanager
    async def operator(
        self, *namespaces: str, model: ScriptedModel | None = None
    ) -> AsyncIterator[OperatorProcess]:
        """The operator as a process, for these namespaces alone, with the model where one is given."""
        environment = {
            "KUBECONFIG": str(self.kubeconfig),
            "SANARE_KUBECTL": self.kubectl,
            "SANARE_RELIST_SECONDS": "5",
            **self.environment,
            **({"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "scripted"} if model else {}),
        }
        log = self.folder / f"operator-{'-'.join(namespaces) or 'all'}.log"
        async with operator_process(log=log, namespaces=namespaces, environment=environment) as operator:
            yield operator

    @asynccontextmanager
    async def broken(self, scenario: str) -> AsyncIterator[Journey]:
        """A scenario of the library, deployed in a namespace of its own and proved broken."""
        (found,) = load_all(only=[scenario])
        plan = HealPlan(
            kubectl=self.kubectl, kubeconfig=str(self.kubeconfig), proof=self.pace.proof, registry=self.registry
        )
        async with self.client() as client, broken(client, found, plan) as stage:
            yield Journey(self, found, stage)


@dataclass(frozen=True, slots=True)
class Journey:
    """One staged scenario and what a person does around it."""

    arena: Arena
    scenario: Scenario
    stage: Stage

    @property
    def namespace(self) -> str:
        return self.stage.namespace

    async def kubectl(self, *argv: str, stdin: str = "") -> str:
        """A person's command; it must succeed."""
        code, output = await self.stage.terminal.run(list(argv), stdin=stdin)
        assert code == 0, output
        return output

    async def apply(self, *manifests: Mapping[str, Any]) -> None:
        await self.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all([dict(m) for m in manifests]))

    async def policy(self, **spec: Any) -> None:
        """A RemediationPolicy `journey` with this cluster's pace."""
        pace = {"hold": self.arena.pace.hold, "convergeTimeout": self.arena.pace.converge, **spec.pop("verify", {})}
        await self.apply(
            {
                "apiVersion": "sanare.dev/v1alpha1",
                "kind": "RemediationPolicy",
                "metadata": {"name": "journey"},
                "spec": {"verify": pace, **spec},
            }
        )

    async def incident(self, **spec: Any) -> str:
        """The scenario's Incident, under the policy `journey`, changed by `spec`; its name."""
        name = self.scenario.incident.metadata.name
        base = {**self.scenario.incident.spec.wire(), "policyRef": {"name": "journey"}}
        await self.apply(
            {
                "apiVersion": "sanare.dev/v1alpha1",
                "kind": "Incident",
                "metadata": {"name": name},
                "spec": {key: value for key, value in {**base, **spec}.items() if value is not None},
            }
        )
        return name

    async def sanare(self, *argv: str) -> tuple[int, str, str]:
        """The command line, as a person runs it: exit code, output, errors."""
        command = [sys.executable, "-m", "sanare", *argv, "-n", self.namespace]
        process = await asyncio.create_subprocess_exec(
            *command,
            "--kubeconfig",
            str(self.arena.kubeconfig),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(self.arena.pace.limit):
            output, errors = await process.communicate()
        return process.returncode or 0, output.decode(), errors.decode()

    async def until(
        self, name: str, *phases: Phase, holds: Callable[[Incident], bool] = lambda _: True
    ) -> Incident:
        """Look until the Incident is in one of the phases (any, when none is given) and the condition holds."""
        limit = self.arena.pace.limit
        return await watch_end(self.stage, name, limit=limit, phases=phases or Phase, holds=holds)

    async def read(self, kind: str, name: str) -> Manifest:
        return await self.stage.client.get(BY_KIND[kind], self.namespace, name)

    async def events(self, reason: str) -> list[Manifest]:
        found = await self.stage.client.list(BY_KIND["Event"], self.namespace)
        return [event for event in found.items if text(event, "reason") == reason]

    async def told(self, reason: str) -> list[Manifest]:
        """The Events of that reason, once there are any: they follow the status."""
        async with asyncio.timeout(self.arena.pace.limit):
            while True:
                if found := await self.events(reason):
                    return found
                await asyncio.sleep(0.5)

    async def trail(self, incident: Incident) -> list[AuditEntry]:
        """The whole audit chain, from records and status; it must be unbroken."""
        records = [audit.unpack(r.data) for r in await list_records(self.stage.client, incident, "Audit")]
        result = audit.verify(incident.status.audit, records)
        assert result.whole, result.message
        entries = {entry.seq: entry for part in (*records, incident.status.audit.recent) for entry in part}
        return [entries[seq] for seq in sorted(entries)]

    async def journal(self, incident: Incident) -> list[MutationRecord]:
        """Every mutation of every attempt, in full."""
        records = await list_records(self.stage.client, incident, "Journal")
        return [MutationRecord.parse(json.loads(record.data)["record"]) for record in records]
