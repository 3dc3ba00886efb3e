"""Scenario controls on the embedded cluster, waits made short: runner, app and evaluator together."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from sanare.api.verdict import Result
from sanare.kube.client import KubeClient
from sanare_lab.cluster.cluster import Cluster
from sanare_lab.controls.outcome import ControlOutcome, Outcome
from sanare_lab.controls.runner import Plan, Rooms, run_all, run_control
from sanare_lab.scenarios.loader import load_all
from sanare_lab.scenarios.scenario import Expectation

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on PATH")
(SCENARIO,) = load_all(only=["port-mismatch"])


@pytest.fixture
async def plan(tmp_path: Path) -> AsyncIterator[Plan]:
    async with Cluster(scale=10) as cluster:
        kubeconfig = str(cluster.write_kubeconfig(tmp_path / "kubeconfig"))
        yield Plan(parallel=2, converge=60, hold=1, durability=1, kubeconfig=kubeconfig)


@pytest.fixture
async def client(plan: Plan) -> AsyncIterator[KubeClient]:
    async with await KubeClient.connect(kubeconfig=plan.kubeconfig) as connected:
        yield connected


async def test_every_control_of_a_scenario_ends_as_it_must(client: KubeClient, plan: Plan) -> None:
    told: list[ControlOutcome] = []
    outcomes = await run_all(client, [SCENARIO], plan, tell=told.append)
    assert [(each.control, each.outcome, each.why) for each in outcomes] == [
        (control.name, Outcome.PASSED, "") for control in SCENARIO.controls
    ]
    assert {each.key for each in told} == {each.key for each in outcomes}


async def test_a_control_that_expects_another_verdict_fails(client: KubeClient, plan: Plan) -> None:
    nothing = next(control for control in SCENARIO.controls if control.name == "nothing")
    wrong = replace(nothing, expect=Expectation(result=Result.FIXED))
    outcome = await run_control(client, SCENARIO, wrong, plan, rooms=Rooms.of(1))
    assert outcome.outcome is Outcome.FAILED
    assert outcome.why.startswith("expected Fixed, got NotFixed")


async def test_a_scenario_that_does_not_break_is_void(client: KubeClient, plan: Plan) -> None:
    whole = replace(SCENARIO, broken=SCENARIO.broken.replace("targetPort: 8473", "targetPort: 8437"))
    outcome = await run_control(client, whole, whole.controls[0], replace(plan, proof=3), rooms=Rooms.of(1))
    assert outcome.outcome is Outcome.VOID
    assert "Service/cart answers with the nonce" in outcome.why


async def test_manifests_that_the_cluster_refuses_are_an_error_of_the_control(
    client: KubeClient, plan: Plan
) -> None:
    refused = replace(SCENARIO, broken=SCENARIO.broken.replace("replicas: 2", "replicas: two"))
    outcome = await run_control(client, refused, refused.controls[0], plan, rooms=Rooms.of(1))
    assert outcome.outcome is Outcome.ERROR
    assert "the broken form was refused" in outcome.why
