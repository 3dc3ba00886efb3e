"""The runner: stage, prove, repair, verify, compare; several controls at once, each in its own namespace."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Self

from sanare.api.manifest import text
from sanare.api.policy import PolicySpec, Verify
from sanare.api.verdict import Result
from sanare.errors import SanareError
from sanare.evaluator.evaluator import Evaluator
from sanare.kube.client import KubeClient
from sanare.text import one_line
from sanare_lab.app.catalogue import REGISTRY
from sanare_lab.controls.outcome import ControlOutcome, Outcome, judge
from sanare_lab.controls.recording import Recording, write
from sanare_lab.controls.stage import Stage, staged
from sanare_lab.controls.symptom import Scene, is_available, is_proved_broken, lacking_proof, repaired, restarts
from sanare_lab.scenarios.scenario import Control, Scenario

Told = Callable[[ControlOutcome], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How controls are run.

    Attributes:
        parallel: controls at once.
        proof: seconds within which the fault must show, and a lost pod must be replaced.
        converge: seconds the evaluator waits for a repair to take effect.
        hold: seconds for which the evaluator wants health to last.
        durability: seconds of flat restart counts after one pod was deleted; 0 leaves that out.
        prefix: start of the namespaces' names.
        record: folder for recordings of the controls that pass; None keeps none.
        kubeconfig: of the cluster, for kubectl; None leaves it to the environment.
    """

    parallel: int = 4
    proof: float = 180.0
    converge: float = 90.0
    hold: float = 15.0
    durability: float = 60.0
    prefix: str = "lab-"
    kubectl: str = "kubectl"
    kubeconfig: str | None = None
    registry: str = REGISTRY
    record: Path | None = None

    @property
    def limit(self) -> float:
        """Seconds after which a control is given up, whatever it waits for; durability not counted."""
        return 120.0 + self.proof + 3 * (self.converge + self.hold)

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


@dataclass(frozen=True, slots=True)
class Rooms:
    """How many controls act at once, and how many hold at once: holding is waiting and costs the cluster little."""

    acting: asyncio.Semaphore
    holding: asyncio.Semaphore

    @classmethod
    def of(cls, size: int) -> Self:
        """As much room for the one as for the other."""
        return cls(asyncio.Semaphore(size), asyncio.Semaphore(size))


async def run_all(
    client: KubeClient, scenarios: Iterable[Scenario], plan: Plan, *, tell: Told
) -> list[ControlOutcome]:
    """Every control of every scenario; `tell` hears of each as it ends. The order is the scenarios' own."""
    rooms = Rooms.of(plan.parallel)

    async def one(scenario: Scenario, control: Control) -> ControlOutcome:
        outcome = await run_control(client, scenario, control, plan, rooms=rooms)
        tell(outcome)
        return outcome

    pairs = [(scenario, control) for scenario in scenarios for control in scenario.controls]
    return list(await asyncio.gather(*(one(scenario, control) for scenario, control in pairs)))


async def run_control(
    client: KubeClient, scenario: Scenario, control: Control, plan: Plan, *, rooms: Rooms
) -> ControlOutcome:
    """One control in a fresh namespace. Never raises for what the cluster does: the outcome says it."""
    run = _Run(scenario, control, plan)
    try:
        async with AsyncExitStack() as stack:
            async with rooms.acting, asyncio.timeout(plan.limit):
                stage = await stack.enter_async_context(_stage(client, plan))
                outcome = await _perform(run, stage)
            if outcome.outcome is not Outcome.PASSED or outcome.result != Result.FIXED or not plan.durability:
                return outcome
            async with rooms.holding:
                why = await _wear(run, stage)
            return replace(outcome, outcome=Outcome.FAILED, why=why) if why else outcome
    except TimeoutError:
        return replace(run.blank, why=f"given up after {plan.limit:g} s")
    except SanareError as error:
        return replace(run.blank, why=one_line(str(error), 600))


def _stage(client: KubeClient, plan: Plan) -> AbstractAsyncContextManager[Stage]:
    namespace, nonce = plan.prefix + secrets.token_hex(4), secrets.token_hex(8)
    return staged(client, namespace=namespace, nonce=nonce, kubectl=plan.kubectl, kubeconfig=plan.kubeconfig)


async def _perform(run: _Run, stage: Stage) -> ControlOutcome:
    scenario, function = run.scenario, run.scenario.function
    await stage.deploy(scenario, registry=run.plan.registry)
    if not await stage.until(function, lambda scene: is_proved_broken(scenario, scene), seconds=run.plan.proof):
        lacking = lacking_proof(scenario, await stage.look(function))
        why = f"not proved broken within {run.plan.proof:g} s: {lacking}"
        return replace(run.blank, outcome=Outcome.VOID, why=why)
    evaluator = Evaluator(stage.client)
    incident = scenario.placed(stage.namespace)
    baseline, first = await evaluator.capture(incident, run.plan.policy)
    await stage.terminal.follow(run.control.steps, {"NONCE": stage.nonce, "NAMESPACE": stage.namespace})
    acted, since = monotonic(), datetime.now(UTC)
    verdict, last = await evaluator.verify(incident, run.plan.policy, baseline, previous=first, since=since)
    seconds = round(monotonic() - acted, 1)
    scene = await stage.look(function)
    is_whole = verdict.result is Result.FIXED and scene.answered  # the function decides, fields only guard
    why = judge(verdict, run.control.expect, answered=scene.answered)
    if run.plan.record and not why:
        hold = run.plan.policy.verify.hold
        said = {"result": str(verdict.result), "kind": verdict.kind}
        ended = Recording(scenario.id, run.control.name, incident, baseline, last, since, hold, **said)
        await asyncio.to_thread(write, run.plan.record, ended, nonce=stage.nonce)
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
        gone = all(text(pod, "metadata", "uid") != lost for pod in scene.all("Pod"))
        return gone and scene.answered and all(is_available(item) for item in scene.workloads)

    if not await stage.until(function, is_back, seconds=run.plan.proof):
        return "did not recover from the loss of one pod"
    before = restarts(await stage.look(function))
    if await stage.until(function, lambda scene: not scene.answered, seconds=run.plan.durability):
        return "the function failed again while it should hold"
    after = restarts(await stage.look(function))
    return "" if after == before else f"restart counts changed while it should hold: {before} to {after}"
