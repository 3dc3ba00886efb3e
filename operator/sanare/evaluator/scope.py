"""Which workloads and Services an Incident is about, derived from its targets. Pure.

A Service belongs to a workload when it selects its pods, or when it selects nothing and everything else says that
it was meant to: the name, the shared labels, or that there is no other candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from sanare.api.incident import Incident, Target
from sanare.api.manifest import Manifest, labels, owners, text
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.ownership import (
    TEMPLATED,
    Ownership,
    key,
    pod_template,
    scale_target,
    selects,
    service_selector,
)
from sanare.evaluator.snapshot import Snapshot

# Kinds that a verdict can be about.
TARGET_KINDS = frozenset({*TEMPLATED, "Pod", "Service", "HorizontalPodAutoscaler"})

_SAME_NAME, _NAME_WITHIN, _SIMILAR, _ALONE = 4, 3, 2, 1
_NAME_LABELS = ("app", "app.kubernetes.io/name", "app.kubernetes.io/component", "k8s-app", "component", "name")


@dataclass(frozen=True, slots=True)
class Scope:
    """What the verdict is about.

    Attributes:
        workloads: keys of the workloads (`Deployment/web`), targets first.
        services: names of the Services.
        intended: Service name to the workloads whose pods it is meant to reach.
        missing: targets that do not exist.
    """

    workloads: tuple[str, ...]
    services: tuple[str, ...]
    intended: Mapping[str, tuple[str, ...]]
    missing: tuple[str, ...] = ()


def scope_of(
    snapshot: Snapshot, incident: Incident, owned: Ownership, *, baseline: Baseline | None = None
) -> Scope:
    """The scope of an Incident. What the baseline found before anything was changed stays in it."""
    known = dict(baseline.intended) if baseline else {}
    intended = {
        text(service, "metadata", "name"): known.get(text(service, "metadata", "name"))
        or intended_workloads(service, owned)
        for service in snapshot.all("Service")
        if service_selector(service) or text(service, "metadata", "name") in known
    }
    workloads: list[str] = []
    services: list[str] = []
    missing: list[str] = []
    named = [found for target in incident.spec.targets if (found := _workload_key(target, snapshot, owned))]
    for target in incident.spec.targets:
        # An Incident that names a Service and one workload says itself what belongs together.
        if target.kind == "Service" and len(named) == 1 and not intended.get(target.name):
            intended[target.name] = (named[0],)
    for target in incident.spec.targets:
        if target.kind == "Service":
            exists = snapshot.find("Service", target.name) is not None
            services.append(target.name)
            workloads.extend(intended.get(target.name, ()))
        else:
            found = _workload_key(target, snapshot, owned)
            exists = bool(found)
            workloads.extend([found] if found else [])
        if not exists and target.kind not in snapshot.unseen:
            missing.append(f"{target.kind}/{target.name}")
    if baseline:
        workloads.extend(each.object for each in baseline.facts.workloads if each.object in owned.workloads)
        services.extend(each.name for each in baseline.facts.services)
    else:
        targeted = set(workloads)
        services.extend(name for name in sorted(intended) if targeted & set(intended[name]))
    return Scope(_unique(workloads), _unique(services), intended, _unique(missing))


def _workload_key(target: Target, snapshot: Snapshot, owned: Ownership) -> str:
    """The top-level workload that a target names or belongs to, or an empty string."""
    if target.kind == "HorizontalPodAutoscaler":
        scaler = snapshot.find(target.kind, target.name)
        named = scale_target(scaler or {})
        return named if named in owned.workloads else ""
    found = snapshot.find(target.kind, target.name)
    if found is None:
        return ""
    if target.kind == "Pod":
        return owned.owner.get(target.name, "")
    above = next(owners(found), None)
    return str(above) if above and str(above) in owned.workloads else key(found)


def selected_workloads(service: Manifest, owned: Ownership) -> list[str]:
    """The workloads whose pod template carries the labels that the Service selects."""
    selector = service_selector(service)
    return sorted(
        name for name, workload in owned.workloads.items() if selects(selector, labels(pod_template(workload)))
    )


def intended_workloads(service: Manifest, owned: Ownership) -> tuple[str, ...]:
    """The workloads that the Service is meant to reach.

    Of those selected the ones that share its name; else the one of the very same name; else all selected. Where
    none is selected, the one that fits best, if it is alone in that.
    """
    selected = selected_workloads(service, owned)
    if selected:
        name = text(service, "metadata", "name")
        named = [key for key in selected if _fit(service, key, owned) >= _NAME_WITHIN]
        namesakes = [f"{kind}/{name}" for kind in TEMPLATED if f"{kind}/{name}" in owned.workloads]
        return tuple(named or namesakes or selected)
    scores = {key: _fit(service, key, owned) for key in owned.workloads}
    best = max(scores.values(), default=0)
    fitting = [name for name, score in scores.items() if score == best]
    return tuple(fitting) if len(fitting) == 1 and (best > _ALONE or len(scores) == 1) else ()


def _fit(service: Manifest, workload: str, owned: Ownership) -> int:
    name, other = text(service, "metadata", "name"), workload.partition("/")[2]
    if name == other:
        return _SAME_NAME
    if _within(name.split("-"), other.split("-")) or _within(other.split("-"), name.split("-")):
        return _NAME_WITHIN
    found = labels(pod_template(owned.workloads[workload]))
    if any(_alike(value, found.get(label, "")) for label, value in service_selector(service).items()):
        return _SIMILAR
    shared = (labels(service).get(label) for label in _NAME_LABELS)
    return _SIMILAR if any(value and value in found.values() for value in shared) else _ALONE


def _within(parts: list[str], whole: list[str]) -> bool:
    return any(whole[at : at + len(parts)] == parts for at in range(len(whole) - len(parts) + 1))


def _alike(one: str, other: str) -> bool:
    return bool(one and other) and SequenceMatcher(None, one, other).ratio() >= 0.75


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
