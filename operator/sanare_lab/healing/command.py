"""`sanare-lab heal`: the operator against scenarios, on the cluster of KUBECONFIG or on the embedded one."""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from sanare.kube.client import KubeClient
from sanare_lab.cluster.cluster import Cluster
from sanare_lab.healing.heal import Healing, HealPlan, heal_all, to_json
from sanare_lab.healing.process import operator_process
from sanare_lab.healing.table import healing_table
from sanare_lab.scenarios.loader import load_all
from sanare_lab.scenarios.scenario import Scenario

_DEFAULT = HealPlan()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `sanare-lab heal`."""
    parser.add_argument("--scenario", action="append", default=[], metavar="ID", help="only this one (repeatable)")
    parser.add_argument("--scenarios", type=Path, metavar="DIR", help="a folder of scenarios of your own")
    parser.add_argument("--parallel", type=int, default=_DEFAULT.parallel, help="at once (%(default)s)")
    parser.add_argument("--registry", default=_DEFAULT.registry, help="where the cluster pulls from (%(default)s)")
    parser.add_argument("--embedded", action="store_true", help="start the embedded cluster and heal there")
    parser.add_argument("--crds", type=Path, default=Path("crds"), help="the CRDs it serves (%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what became of each")
    parser.add_argument("--log", type=Path, metavar="FILE", help="keep the operator's log")


def run(args: argparse.Namespace) -> int:
    """Heal; 0 only when every scenario was healed and verified."""
    scenarios = load_all(args.scenarios, only=args.scenario)
    console = Console(width=None if Console().is_terminal else 200)
    plan = HealPlan(parallel=args.parallel, registry=args.registry)
    log = args.log or Path(tempfile.mkstemp(prefix="sanare-", suffix=".log")[1])
    work = (
        _heal_embedded(scenarios, plan, console, log, crds=args.crds)
        if args.embedded
        else _heal(scenarios, plan, console, log)
    )
    healings = asyncio.run(work)
    console.print(healing_table(healings))
    if args.json:
        args.json.write_text(json.dumps(to_json(healings), indent=1) + "\n")
    return 0 if all(healing.is_healed for healing in healings) else 1


async def _heal(scenarios: tuple[Scenario, ...], plan: HealPlan, console: Console, log: Path) -> list[Healing]:
    def tell(healing: Healing) -> None:
        console.print(f"{healing.outcome or healing.phase or 'error':12} {healing.scenario}", highlight=False)

    environment = {"SANARE_WORKERS": str(max(plan.parallel, 1))}
    if plan.kubeconfig:
        environment["KUBECONFIG"] = plan.kubeconfig
    async with (
        await KubeClient.connect(kubeconfig=plan.kubeconfig) as client,
        operator_process(log=log, environment=environment),
    ):
        return await heal_all(client, scenarios, plan, tell=tell)


async def _heal_embedded(
    scenarios: tuple[Scenario, ...], plan: HealPlan, console: Console, log: Path, *, crds: Path
) -> list[Healing]:
    with tempfile.TemporaryDirectory() as folder:
        async with Cluster(crds=crds) as cluster:
            kubeconfig = str(cluster.write_kubeconfig(Path(folder) / "kubeconfig"))
            return await _heal(scenarios, replace(plan, kubeconfig=kubeconfig), console, log)
