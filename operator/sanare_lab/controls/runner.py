"""The runner: stage, prove, repair, verify, compare; several controls at once, each in its own namespace."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from time import monotonic

from sanare.api.policy import PolicySpec, Verify
from sanare.api.status import Result
from sanare.errors import SanareError
from sanare.evaluator.evaluator import Evaluator
from sanare.kube.client import KubeClient
from sanare.text import one_line
from sanare_lab.app.catalogue import REGISTRY
from sanare_lab.controls.outcome import ControlOutcome, Outcome, judge
from sanare_lab.controls.stage import Stage, staged
from sanare_lab.controls.symptom import Scene, is_available, is_proved_broken, repaired, restarts
from sanare_lab.scenarios.scenario import Control, Scenario

Told = Callable[[ControlOutcome], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How controls are run.

    Attributes:
        parallel: controls at once.
        proof: seconds within which the fault must show.
        converge: seconds the evaluator waits for a repair to take effect.
        hold: seconds for which the evaluator wants health to last.
        durability: seconds of flat restart counts after one pod was deleted; 0 leaves that out.
        prefix: start of the namespaces' names.
        kubeconfig: of the cluster, for kubectl; None leaves it to the environment.
    """

    parallel: int = 4
    proof: float = 90.0
    converge: float = 90.0
    hold: float = 15.0
    durability: float = 60.0
    prefix: str = "lab-"
    kubectl: str = "kubectl"
    kubeconfig: str | None = None
    registry: str = REGISTRY

    @property
    def limit(self) -> float:
        """Seconds after which a whole control is given up, whatever it waits for."""
        return 60.0 + self.proof + 3 * (self.converge + self.hold) + 2 * self.durability

    @property
    def policy(self) -> PolicySpec:
        """The policy that the evaluator judges by."""
        wait = Verify(converge_timeout=timedelta(seconds=self.converge), hold=timedelta(seconds=self.hold))
        return PolicySpec(verify=wait)


@dataclass(frozen=True, slots=True)
class _Run:
    """One control in flight."""

    scenario: Scenario
    control: Control
    plan: Plan
    blank: ControlOutcome = field(init=False)

    def __post_init__(self) -> None:
        blank = ControlOutcome(self.scenario.id, self.control.name, Outcome.ERROR, faults=len(self.scenario.faults))
        object.__setattr__(self, "blank", blank)


async def run_all(
    client: KubeClient, scenarios: Iterable[Scenario], plan: Plan, *, tell: Told
) -> list[ControlOutcome]:
    """Every control of every scenario; `tell` hears of each as it ends. The order is the scenarios' own."""
    gate = asyncio.Semaphore(plan.parallel)

    async def one(run: _Run) -> ControlOutcome:
        async with gate:
            outcome = await run_control(client, run.scenario, run.control, plan)
        tell(outcome)
        return outcome

    runs = [_Run(scenario, control, plan) for scenario in scenarios for control in scenario.controls]
    return list(await asyncio.gather(*(one(run) for run in runs)))


async def run_control(client: KubeClient, scenario: Scenario, control: Control, plan: Plan) -> ControlOutcome:
    """One control in a fresh namespace. Never raises for what the cluster does: the outcome says it."""
    run = _Run(scenario, control, plan)
    namespace = plan.prefix + secrets.token_hex(4)
    try:
        async with (
            asyncio.timeout(plan.limit),
            staged(
                client,
                namespace=namespace,
                nonce=secrets.token_hex(8),
                kubectl=plan.kubectl,
                kubeconfig=plan.kubeconfig,
            ) as stage,
        ):
            return await _perform(run, stage)
    except TimeoutError:
        return replace(run.blank, why=f"given up after {plan.limit:g} s")
    except SanareError as error:
        return replace(run.blank, why=one_line(str(error), 600))


async def _perform(run: _Run, stage: Stage) -> ControlOutcome:
    scenario, function = run.scenario, run.scenario.function
    await stage.deploy(scenario, registry=run.plan.registry)
    if not await stage.until(function, lambda scene: is_proved_broken(scenario, scene), seconds=run.plan.proof):
        return replace(
            run.blank, outcome=Outcome.VOID, why=f"{scenario.symptom} did not show within {run.plan.proof:g} s"
        )
    evaluator = Evaluator(stage.client)
    incident = scenario.placed(stage.namespace)
    baseline, first = await evaluator.capture(incident, run.plan.policy)
    await stage.terminal.follow(run.control.steps, {"NONCE": stage.nonce})
    acted, since = monotonic(), datetime.now(UTC)
    verdict, _ = await evaluator.verify(incident, run.plan.policy, baseline, previous=first, since=since)
    seconds = round(monotonic() - acted, 1)
    scene = await stage.look(function)
    is_whole = verdict.result is Result.FIXED and scene.answered  # the function decides, fields only guard
    why = judge(verdict, run.control.expect, answered=scene.answered)
    if not why and is_whole and run.plan.durability:
        why = await _wear(run, stage)
    return replace(
        run.blank,
        outcome=Outcome.FAILED if why else Outcome.PASSED,
        result=str(verdict.result),
        kind=verdict.kind,
        reason=verdict.reason,
        why=why,
        repaired=len(scenario.faults) if is_whole else repaired(scenario.faults, scene),
        answered=scene.answered,
        seconds=seconds,
    )


async def _wear(run: _Run, stage: Stage) -> str:
    """Durability: one pod is deleted; the function must come back and hold. What failed, or an empty string."""
    function, lost = run.scenario.function, await stage.delete_one_pod(run.scenario)

    def is_back(scene: Scene) -> bool:
        gone = scene.find("Pod", lost) is None
        return gone and scene.answered and all(is_available(item) for item in scene.all("Deployment"))

    if not await stage.until(function, is_back, seconds=run.plan.converge):
        return f"did not recover from the loss of pod {lost}"
    before = restarts(await stage.look(function))
    if await stage.until(function, lambda scene: not scene.answered, seconds=run.plan.durability):
        return "the function failed again while it should hold"
    after = restarts(await stage.look(function))
    return "" if after == before else f"restart counts changed while it should hold: {before} to {after}"
