"""`sanare-lab controls`: run them on the cluster of KUBECONFIG, or on the embedded one, and print a table."""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from sanare.errors import ConfigError
from sanare.kube.client import KubeClient
from sanare_lab.cluster.cluster import Cluster
from sanare_lab.controls.outcome import ControlOutcome, Outcome, compare, from_json, to_json
from sanare_lab.controls.runner import Plan, run_all
from sanare_lab.controls.table import comparison_table, outcome_table
from sanare_lab.scenarios.lint import complaints
from sanare_lab.scenarios.loader import load_all
from sanare_lab.scenarios.scenario import Scenario

_DEFAULT = Plan()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `sanare-lab controls`."""
    parser.add_argument(
        "--scenario",
        action="append",
        default=[],
        metavar="ID[/CONTROL]",
        help="only this one, or one control of it (repeatable)",
    )
    parser.add_argument(
        "--scenarios", type=Path, metavar="DIR", help="a folder of scenarios (default: the lab's own)"
    )
    parser.add_argument("--parallel", type=int, default=_DEFAULT.parallel, help="controls at once (%(default)s)")
    parser.add_argument(
        "--converge", type=float, default=_DEFAULT.converge, help="seconds to converge (%(default)s)"
    )
    parser.add_argument("--hold", type=float, default=_DEFAULT.hold, help="seconds health must last (%(default)s)")
    parser.add_argument(
        "--durability",
        type=float,
        default=_DEFAULT.durability,
        help="seconds to hold after a pod was deleted; 0 leaves it out (%(default)s)",
    )
    parser.add_argument("--prefix", default=_DEFAULT.prefix, help="start of the namespaces' names (%(default)s)")
    parser.add_argument("--registry", default=_DEFAULT.registry, help="where the cluster pulls from (%(default)s)")
    parser.add_argument("--embedded", action="store_true", help="start the embedded cluster and run them there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the outcomes")
    parser.add_argument(
        "--record",
        type=Path,
        metavar="DIR",
        help="keep what each passed control ended with, for tests without a cluster",
    )
    parser.add_argument("--compare", type=Path, metavar="FILE", help="outcomes of another cluster, to stand beside")


def run(args: argparse.Namespace) -> int:
    """Run the controls; 0 only when every one passed and, with --compare, both clusters agree."""
    scenarios = load_all(args.scenarios, only=[name.partition("/")[0] for name in args.scenario])
    _refuse_unsound(scenarios)
    scenarios = tuple(_chosen(scenario, args.scenario) for scenario in scenarios)
    plan = Plan(
        parallel=args.parallel,
        converge=args.converge,
        hold=args.hold,
        durability=args.durability,
        prefix=args.prefix,
        registry=args.registry,
        record=args.record,
    )
    console = Console(width=None if Console().is_terminal else 200)
    outcomes, cluster = asyncio.run(
        _run_embedded(scenarios, plan, console) if args.embedded else _run(scenarios, plan, console)
    )
    console.print(outcome_table(outcomes))
    if args.json:
        args.json.write_text(json.dumps(to_json(outcomes, cluster=cluster), indent=1) + "\n")
    agreed = args.compare is None or _agrees(console, outcomes, cluster, args.compare)
    return 0 if agreed and all(outcome.outcome is Outcome.PASSED for outcome in outcomes) else 1


async def _run(scenarios: tuple[Scenario, ...], plan: Plan, console: Console) -> tuple[list[ControlOutcome], str]:
    def tell(outcome: ControlOutcome) -> None:
        console.print(f"{outcome.outcome:8} {outcome.scenario} {outcome.control}", highlight=False)

    async with await KubeClient.connect(kubeconfig=plan.kubeconfig) as client:
        version = await client.request("GET", "/version")
        return await run_all(client, scenarios, plan, tell=tell), str(version.get("gitVersion", "unknown"))


async def _run_embedded(
    scenarios: tuple[Scenario, ...], plan: Plan, console: Console
) -> tuple[list[ControlOutcome], str]:
    with tempfile.TemporaryDirectory() as folder:
        async with Cluster() as cluster:
            kubeconfig = str(cluster.write_kubeconfig(Path(folder) / "kubeconfig"))
            outcomes, _ = await _run(scenarios, replace(plan, kubeconfig=kubeconfig), console)
    return outcomes, "embedded"


def _chosen(scenario: Scenario, names: Sequence[str]) -> Scenario:
    """The scenario with the controls that were asked for; all of them where none was named."""
    wanted = {control for name in names for id_, _, control in [name.partition("/")] if id_ == scenario.id}
    if not wanted or "" in wanted:
        return scenario
    known = {control.name for control in scenario.controls}
    if unknown := wanted - known:
        raise ConfigError(
            f"{scenario.id} has no control {', '.join(sorted(unknown))}; it has {', '.join(sorted(known))}"
        )
    return replace(scenario, controls=tuple(each for each in scenario.controls if each.name in wanted))


def _refuse_unsound(scenarios: tuple[Scenario, ...]) -> None:
    """A scenario without sound controls does not count, so it is not run."""
    found = [f"{scenario.id}: {complaint}" for scenario in scenarios for complaint in complaints(scenario)]
    if found:
        raise ConfigError("unsound scenarios:\n" + "\n".join(found))


def _agrees(console: Console, outcomes: list[ControlOutcome], cluster: str, other: Path) -> bool:
    document = json.loads(other.read_text())
    differences = compare(outcomes, from_json(document))
    console.print(comparison_table(differences, left=cluster, right=str(document["cluster"])))
    return all(difference.is_equal for difference in differences)
