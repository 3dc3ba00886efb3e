"""Every scenario's controls on the cluster of KUBECONFIG: what the evaluator says of right and false repairs.

The nodes need the app's images (`sanare-lab images app.tar`, then load the archive, or SANARE_IMAGE_LOAD).
Every ninth control runs, which takes in right repairs, false ones and none at all; SANARE_E2E_ALL=1 runs them all.
SANARE_SCENARIOS names a folder of scenarios other than the lab's own, of which all controls run.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from rich.console import Console

from sanare.kube.client import KubeClient
from sanare_lab.controls.outcome import ControlOutcome, Outcome, compare, from_json
from sanare_lab.controls.runner import Plan, Rooms, run_control
from sanare_lab.controls.table import comparison_table
from sanare_lab.scenarios.loader import load_all
from sanare_lab.scenarios.scenario import Control, Scenario

FOLDER = os.environ.get("SANARE_SCENARIOS")
PLAN = Plan(parallel=int(os.environ.get("SANARE_E2E_PARALLEL", "4")), prefix="scn-")
EVERY = 1 if FOLDER or os.environ.get("SANARE_E2E_ALL") else 9
CONTROLS = [
    pytest.param((scenario, control), id=f"{scenario.id}-{control.name}")
    for scenario in load_all(Path(FOLDER) if FOLDER else None)
    for control in scenario.controls
][::EVERY]

Running = dict[tuple[str, str], "asyncio.Task[ControlOutcome]"]

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(request: pytest.FixtureRequest, prepared: None) -> AsyncIterator[Running]:
    """Every selected control, already under way: each test waits for its own."""
    client = await KubeClient.connect()
    rooms = Rooms.of(PLAN.parallel)
    wanted = [
        item.callspec.params["case"]
        for item in request.session.items
        if item.path == request.path and hasattr(item, "callspec")
    ]
    tasks = {
        (scenario.id, control.name): asyncio.create_task(run_control(client, scenario, control, PLAN, rooms=rooms))
        for scenario, control in wanted
    }
    yield tasks
    for task in tasks.values():
        task.cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)
    await client.close()


@pytest.mark.parametrize("case", CONTROLS)
async def test_the_evaluator_says_what_is_true(running: Running, case: tuple[Scenario, Control]) -> None:
    scenario, control = case
    outcome = await running[scenario.id, control.name]
    assert outcome.outcome is Outcome.PASSED, f"{outcome.outcome}: {outcome.why}"


async def test_both_clusters_say_the_same(running: Running, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Verdict and kind of every control, side by side; printed, and equal to the last."""
    real = await asyncio.gather(*running.values())
    await _run_embedded(tmp_path / "embedded.json", [f"{scenario}/{control}" for scenario, control in running])
    embedded = from_json(json.loads((tmp_path / "embedded.json").read_text()))
    differences = compare(real, embedded)
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():  # type: ignore[union-attr]
        Console(width=140).print("\n", comparison_table(differences, left="real", right="embedded"))
    assert [f"{d.scenario} {d.control}: {d.left} / {d.right}" for d in differences if not d.is_equal] == []


async def _run_embedded(outcomes: Path, controls: list[str]) -> None:
    """The same controls on the embedded cluster, in a process of its own."""
    only = [word for control in controls for word in ("--scenario", control)]
    folder = ["--scenarios", FOLDER] if FOLDER else []
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "sanare_lab.cli", "controls", "--embedded", "--json", str(outcomes)),
        *("--parallel", "6", "--durability", "3", *folder, *only),
        stdout=asyncio.subprocess.DEVNULL,
    )
    async with asyncio.timeout(1800 if EVERY == 1 else 600):
        await process.wait()
