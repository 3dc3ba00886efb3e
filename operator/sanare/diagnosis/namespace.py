"""Findings without an Incident: a namespace, or one object of it, looked at for whoever asks. Reads only.

One look over everything tells what does not work; each of those is then looked at as an Incident would be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sanare import errors
from sanare.api.incident import Incident, IncidentSpec, ObjectMeta, Target
from sanare.api.manifest import Manifest, owners, text
from sanare.api.policy import PolicySpec
from sanare.api.verdict import CheckResult
from sanare.diagnosis.diagnose import diagnose
from sanare.diagnosis.finding import Finding
from sanare.diagnosis.probing import confirm
from sanare.evaluator.evaluator import Evaluator
from sanare.evaluator.judge import assess, look_at
from sanare.evaluator.namespace import refuse_missing_namespace
from sanare.evaluator.ownership import ownership
from sanare.evaluator.seen import Seen
from sanare.evaluator.snapshot import Snapshot
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND

_KINDS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod", "Service")
_AT_ONCE = 4
_MOST = 40


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found.

    Attributes:
        looked_at: how many workloads, bare pods and Services were asked about.
        failing: what of them does not work, as Kind/name; a finding explains some of it.
        unseen: kind to why it could not be listed.
        unsure: object to what of it could not be checked, where nothing of it is known to fail.
        left_out: failing ones beyond the bound, which were not looked into.
    """

    findings: tuple[Finding, ...]
    looked_at: int
    failing: tuple[str, ...]
    unseen: Mapping[str, str]
    left_out: int = 0
    unsure: Mapping[str, str] = field(default_factory=dict)


async def survey(kube: KubeClient, namespace: str, target: Target | None = None) -> Survey:
    """Look at one target, or at every workload and Service. Raises InvalidIncident, KubeError."""
    unseen: dict[str, str] = {}
    targets = [target] if target is not None else await _targets(kube, namespace, unseen)
    if not targets:
        await refuse_missing_namespace(kube, namespace)
        return Survey((), 0, (), dict(sorted(unseen.items())))
    evaluator = Evaluator(kube)
    whole = await evaluator.snapshot(_about(namespace, targets))
    failing, unsure = await asyncio.to_thread(_told_apart, whole, targets)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(troubled: Target) -> tuple[Snapshot, tuple[Finding, ...]]:
        async with gate:
            incident = _about(namespace, [troubled])
            snapshot = whole if target is not None else await evaluator.snapshot(incident)
            snapshot = await confirm(kube, snapshot, incident)
            return snapshot, await asyncio.to_thread(diagnose, snapshot, incident)

    looks = await asyncio.gather(*(one(each) for each in failing[:_MOST]))
    for snapshot in (whole, *(look for look, _ in looks)):
        unseen |= snapshot.unseen
    found = dict.fromkeys(finding for _, findings in looks for finding in findings)
    named = tuple(f"{each.kind}/{each.name}" for each in failing)
    left_out = max(len(failing) - _MOST, 0)
    return Survey(tuple(found), len(targets), named, dict(sorted(unseen.items())), left_out, unsure)


async def _targets(kube: KubeClient, namespace: str, unseen: dict[str, str]) -> list[Target]:
    """Every workload, bare pod and Service. What may not be listed is told in `unseen`."""
    listed = await asyncio.gather(*(_list(kube, namespace, kind, unseen) for kind in _KINDS))
    return [_target(item) for items in listed for item in items if _is_standing(item)]


async def _list(kube: KubeClient, namespace: str, kind: str, unseen: dict[str, str]) -> tuple[Manifest, ...]:
    try:
        return (await kube.list(BY_KIND[kind], namespace)).items
    except (errors.Forbidden, errors.NotFound) as error:
        unseen[kind] = f"{type(error).__name__}: {error}"
        return ()


def _is_standing(manifest: Manifest) -> bool:
    """Whether nothing owns it, and it has not done its work already."""
    return next(owners(manifest), None) is None and text(manifest, "status", "phase") != "Succeeded"


def _target(manifest: Manifest) -> Target:
    kind = text(manifest, "kind")
    return Target(api_version=BY_KIND[kind].api_version, kind=kind, name=text(manifest, "metadata", "name"))


def _about(namespace: str, targets: Sequence[Target]) -> Incident:
    """An Incident that stands nowhere. Not validated: a namespace has more targets than an Incident may name."""
    spec = IncidentSpec.model_construct(targets=tuple(targets))
    return Incident.model_construct(metadata=ObjectMeta(name="diagnose", namespace=namespace), spec=spec)


def _told_apart(snapshot: Snapshot, targets: Iterable[Target]) -> tuple[list[Target], dict[str, str]]:
    """The targets with a failed check, and what could not be checked.

    A Service fails only where the workloads that it is meant for work.
    """
    found: list[Target] = []
    unsure: dict[str, str] = {}
    broken: set[str] = set()
    owned = ownership(snapshot)
    ordered = sorted(targets, key=lambda each: each.kind == "Service")
    for target in ordered:
        incident = _about(snapshot.namespace, [target])
        look = look_at(snapshot, incident, PolicySpec(), now=datetime.now(UTC), owned=owned)
        seen = assess(look)
        unsure |= {each.object: each.message for each in seen if _is_open(each)}
        meant = look.scope.intended.get(target.name, ()) if target.kind == "Service" else ()
        if broken & set(meant) or all(each.result is not CheckResult.FAILED for each in seen):
            continue
        broken.add(f"{target.kind}/{target.name}")
        found.append(target)
    return found, {name: why for name, why in unsure.items() if name not in broken}


def _is_open(seen: Seen) -> bool:
    """Whether a check could not be made; a kind that could not be listed is told once, not with each object."""
    return seen.result is CheckResult.UNKNOWN and seen.name != "list"
