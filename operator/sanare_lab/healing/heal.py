"""One scenario through the operator: broken and proved so, an Incident, and what became of it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from sanare.api.incident import Incident, IncidentSpec
from sanare.api.model import API_VERSION
from sanare.api.policy import PolicySpec
from sanare.api.status import Outcome, Phase
from sanare.errors import SanareError
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND
from sanare.kube.status import fetch_incident
from sanare_lab.app.catalogue import REGISTRY
from sanare_lab.controls.stage import Stage, staged
from sanare_lab.controls.symptom import is_proved_broken
from sanare_lab.scenarios.scenario import Scenario

_ENDED = (Phase.RESOLVED, Phase.FAILED, Phase.ESCALATED, Phase.INVALID, Phase.AWAITING_APPROVAL)
_LOOK_EVERY = 0.5


@dataclass(frozen=True, slots=True)
class HealPlan:
    """How scenarios are healed.

    Attributes:
        parallel: scenarios at once.
        proof: seconds within which the fault must show.
        limit: seconds the operator has from the Incident's creation.
        policy: the RemediationPolicy to name; None leaves the operator's default.
    """

    parallel: int = 4
    proof: float = 90.0
    limit: float = 480.0
    prefix: str = "heal-"
    kubectl: str = "kubectl"
    kubeconfig: str | None = None
    registry: str = REGISTRY
    policy: PolicySpec | None = None


@dataclass(frozen=True, slots=True)
class Healing:
    """What became of one scenario.

    Attributes:
        seconds: from the Incident's creation to the start of the first healthy window that lasted the hold.
        converged: of those, the seconds after the last mutation: what the cluster needed by itself.
        why: why there is no verdict, where there is none.
    """

    scenario: str
    phase: str = ""
    outcome: str = ""
    attempts: int = 0
    mutations: int = 0
    seconds: float | None = None
    converged: float | None = None
    reason: str = ""
    why: str = ""
    incident: Incident | None = None

    @property
    def is_healed(self) -> bool:
        """Whether an attempt repaired it, verified."""
        return self.outcome == Outcome.FIXED

    @property
    def ratio(self) -> float | None:
        """Time to verified over the time the cluster needed by itself; 1 would be a repair in no time."""
        if self.seconds is None or self.converged is None:
            return None
        return self.seconds / max(self.converged, 1.0)


async def heal_all(
    client: KubeClient, scenarios: Iterable[Scenario], plan: HealPlan, *, tell: Callable[[Healing], None]
) -> list[Healing]:
    """Every scenario, several at once, each in its own namespace; the operator must be running."""
    room = asyncio.Semaphore(plan.parallel)

    async def one(scenario: Scenario) -> Healing:
        async with room:
            healing = await heal(client, scenario, plan)
        tell(healing)
        return healing

    return list(await asyncio.gather(*(one(scenario) for scenario in scenarios)))


async def heal(client: KubeClient, scenario: Scenario, plan: HealPlan) -> Healing:
    """One scenario. Never raises for what the cluster or the operator does: the result says it."""
    blank = Healing(scenario.id)
    try:
        async with broken(client, scenario, plan) as stage:
            created = await create_incident(stage, scenario, plan.policy)
            ended = await watch_end(stage, created.metadata.name, limit=plan.limit)
            return read_healing(scenario, ended)
    except TimeoutError:
        return replace(blank, why=f"no end within {plan.limit:g} s")
    except SanareError as error:
        return replace(blank, why=str(error))


@asynccontextmanager
async def broken(client: KubeClient, scenario: Scenario, plan: HealPlan) -> AsyncIterator[Stage]:
    """A namespace with the scenario deployed and proved broken. Raises SanareError where it does not break."""
    namespace = plan.prefix + secrets.token_hex(4)
    async with staged(
        client, namespace=namespace, nonce=secrets.token_hex(8), kubectl=plan.kubectl, kubeconfig=plan.kubeconfig
    ) as stage:
        await stage.deploy(scenario, registry=plan.registry)
        proved = await stage.until(
            scenario.function, lambda scene: is_proved_broken(scenario, scene), seconds=plan.proof
        )
        if not proved:
            raise SanareError(f"void: {scenario.symptom} did not show within {plan.proof:g} s")
        yield stage


async def create_incident(stage: Stage, scenario: Scenario, policy: PolicySpec | None) -> Incident:
    """Create the scenario's Incident, under a policy where one is given. Raises KubeError."""
    spec = scenario.incident.spec
    if policy is not None:
        await _create_policy(stage, policy)
        spec = IncidentSpec.parse({**spec.wire(), "policyRef": {"name": "lab"}})
    body = {
        "apiVersion": API_VERSION,
        "kind": "Incident",
        "metadata": {"name": scenario.incident.metadata.name},
        "spec": spec.wire(),
    }
    return Incident.parse(await stage.client.create(BY_KIND["Incident"], stage.namespace, body))


async def _create_policy(stage: Stage, policy: PolicySpec) -> None:
    body = {
        "apiVersion": API_VERSION,
        "kind": "RemediationPolicy",
        "metadata": {"name": "lab"},
        "spec": policy.wire(),
    }
    await stage.client.create(BY_KIND["RemediationPolicy"], stage.namespace, body)


async def watch_end(
    stage: Stage,
    name: str,
    *,
    limit: float,
    phases: Iterable[Phase] = _ENDED,
    tell: Callable[[Incident], None] = lambda _: None,
    holds: Callable[[Incident], bool] = lambda _: True,
) -> Incident:
    """Look until the Incident is in one of the phases and the condition holds; `tell` sees every look.

    Raises TimeoutError, KubeError.
    """
    wanted = frozenset(phases)
    async with asyncio.timeout(limit):
        while True:
            incident = await fetch_incident(stage.client, stage.namespace, name)
            tell(incident)
            if incident.status.phase in wanted and holds(incident):
                return incident
            await asyncio.sleep(_LOOK_EVERY)


def read_healing(scenario: Scenario, incident: Incident) -> Healing:
    """The figures of an Incident that has ended."""
    status = incident.status
    verdict = status.verdict
    healthy = verdict.healthy_since if verdict is not None else None
    writes = [mutation.at for attempt in status.attempts for mutation in attempt.mutations]
    return Healing(
        scenario=scenario.id,
        phase=status.phase,
        outcome=status.outcome or "",
        attempts=len(status.attempts),
        mutations=sum(attempt.mutation_count for attempt in status.attempts),
        seconds=_seconds(incident.metadata.creation_timestamp, healthy),
        converged=_seconds(writes[-1] if writes else None, healthy),
        reason=verdict.reason if verdict is not None else "",
        incident=incident,
    )


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return None if start is None or end is None else max((end - start).total_seconds(), 0.0)


def to_json(healings: Iterable[Healing]) -> list[dict[str, Any]]:
    """The wire form, without the Incidents themselves."""
    return [
        {name: value for name, value in asdict(replace(healing, incident=None)).items() if name != "incident"}
        for healing in healings
    ]


def from_json(document: Iterable[dict[str, Any]]) -> tuple[Healing, ...]:
    """Read what `to_json` wrote. Raises TypeError on anything else."""
    return tuple(Healing(**entry) for entry in document)
