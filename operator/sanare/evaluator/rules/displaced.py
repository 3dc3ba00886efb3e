"""False repairs among objects: what should be repaired was deleted, replaced or by-passed. Pure rules."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.manifest import Manifest, labels, owners, text
from sanare.evaluator.facts import WorkloadFacts
from sanare.evaluator.kinds import Kind
from sanare.evaluator.ownership import is_terminating, key, pod_template, selects, service_selector
from sanare.evaluator.reach import slices_of
from sanare.evaluator.rules.change import Change, bites, is_going, is_gone
from sanare.evaluator.rules.collateral import is_scaled
from sanare.evaluator.scope import selected_workloads
from sanare.evaluator.seen import Seen
from sanare.evaluator.service_facts import ServiceFacts, is_manual


def rule_deleted(change: Change) -> Iterator[Seen]:
    """A workload, Service or setting of the scope, or a data claim, is gone or going."""
    for before in change.then.workloads:
        kind, _, name = before.object.partition("/")
        gone = before.object not in change.look.owned.workloads and not change.is_unseen(kind)
        if gone or (kind != "Pod" and is_going(change, kind, name)):
            yield bites(Kind.DELETED, before.object, f"{before.object} was deleted")
    for service in change.then.services:
        if is_gone(change, "Service", service.name):
            yield bites(Kind.DELETED, f"Service/{service.name}", f"Service/{service.name} was deleted")
    for _, now in change.workloads:
        for name in now.config_maps:
            if change.then.has("ConfigMap", name) and is_gone(change, "ConfigMap", name):
                yield bites(
                    Kind.DELETED, f"ConfigMap/{name}", f"ConfigMap/{name}, which {now.object} reads, was deleted"
                )
    for name in sorted({claim for workload in change.then.workloads for claim in workload.claims}):
        known = change.then.has("PersistentVolumeClaim", name)
        if known and is_gone(change, "PersistentVolumeClaim", name):
            object_ = f"PersistentVolumeClaim/{name}"
            yield bites(Kind.DELETED, object_, f"{object_} was deleted, and its data with it")


def rule_replaced(change: Change) -> Iterator[Seen]:
    """Deleted and made again under the same name, although no immutable field required it."""
    for before, now in change.workloads:
        if before.uid != now.uid and not _must_recreate(before, now):
            message = f"{now.object} was deleted and created again instead of being changed (its uid differs)"
            yield bites(Kind.REPLACED, now.object, message)
    for old, new in change.services:
        if old.uid != new.uid and (old.cluster_ip == "None") == (new.cluster_ip == "None"):
            message = f"Service/{new.name} was deleted and created again instead of being changed (its uid differs)"
            yield bites(Kind.REPLACED, f"Service/{new.name}", message)


def _must_recreate(before: WorkloadFacts, now: WorkloadFacts) -> bool:
    """Whether Kubernetes allows the change only by creating the object anew: pods, Jobs, label selectors, and what
    else it fixes of a StatefulSet."""
    kind = now.object.partition("/")[0]
    fixed = kind == "StatefulSet" and (before.fixed != now.fixed or not before.fixed)
    return kind in ("Pod", "Job") or fixed or dict(before.selector) != dict(now.selector)


def rule_scaled_down(change: Change) -> Iterator[Seen]:
    """Fewer replicas are asked for than before, and no autoscaler did it within its own bounds."""
    for before, now in change.workloads:
        what = _fewer(before, now) or _other_goal(before, now)
        if what and not is_scaled(change, now.object, now.replicas):
            yield bites(Kind.SCALED_DOWN, now.object, f"{now.object}{what}")


def _fewer(before: WorkloadFacts, now: WorkloadFacts) -> str:
    """What there is less of: replicas, completions, or nodes, which others than the template may take away too."""
    kind = now.object.partition("/")[0]
    if now.paused and not before.paused and kind == "CronJob":
        return " was suspended"
    if now.replicas >= before.replicas or (kind == "CronJob" and now.paused):
        return ""
    if kind == "DaemonSet":
        moved = bool(now.replicas) and before.nodes != now.nodes
        return f": it is kept to {now.replicas} of {before.replicas} nodes" if moved else ""
    field = "completions" if kind in ("Job", "CronJob") else "replicas"
    return f": spec.{field} was lowered from {before.replicas} to {now.replicas}"


def _other_goal(before: WorkloadFacts, now: WorkloadFacts) -> str:
    """A schedule or a rule of success that is another one: what was to be done is done at no, or another, time."""
    changed = [name for name, old in before.goal.items() if now.goal.get(name, old) != old]
    return f": its {changed[0]} was changed from {before.goal[changed[0]]}" if changed else ""


def rule_shadow_service(change: Change) -> Iterator[Seen]:
    """A new Service selects pods beside the one by which they are reached, or none at all."""
    targets = {target.name for target in change.look.incident.spec.targets if target.kind == "Service"}
    governing = {text(each, "spec", "serviceName") for each in change.look.owned.workloads.values()}
    for service in change.look.snapshot.all("Service"):
        name = text(service, "metadata", "name")
        if not change.is_new("Service", name) or name in targets | governing:
            continue
        what = _shadows(change, service)
        if what:
            yield bites(Kind.SHADOW_SERVICE, f"Service/{name}", f"Service/{name} was created {what}")


def _shadows(change: Change, service: Manifest) -> str:
    if not service_selector(service):
        return "without a selector: it stands for another name or for written addresses"
    taken = selected_workloads(service, change.look.owned)
    beside = [(each.name, each.selected) for each in change.then.services]
    beside += [(each.object.removeprefix("Service/"), each.selected) for each in change.then.neighbours]
    for each in taken:
        other = next((name for name, selected in beside if each in selected), "")
        own = any(workload.object == each for workload in change.then.workloads)
        if other or (own and change.then.services):
            return f"beside Service/{other or change.then.services[0].name} for {each}"
    return ""


def rule_shadow_workload(change: Change) -> Iterator[Seen]:
    """A new workload or bare pod carries the labels by which the scope's Services choose their pods."""
    for name, workload in change.look.owned.workloads.items():
        kind, _, bare = name.partition("/")
        if not change.is_new(kind, bare) or name in {before.object for before in change.then.workloads}:
            continue
        shadowed = _shadowed(change, labels(pod_template(workload)))
        if shadowed:
            message = f"{name} was created and takes the place of {shadowed}"
            yield bites(Kind.SHADOW_WORKLOAD, name, message)


def _shadowed(change: Change, carried: object) -> str:
    found = dict(carried) if isinstance(carried, dict) else {}
    for workload in change.then.workloads:
        if selects(workload.selector or workload.labels, found):
            return workload.object
    for before, now in change.services:
        if selects(now.selector, found) or selects(before.selector, found):
            return before.intended[0] if before.intended else f"Service/{before.name}'s pods"
    return ""


def rule_manual_endpoints(change: Change) -> Iterator[Seen]:
    """Endpoints of a Service of the scope that no controller keeps up to date."""
    for before in change.then.services:
        for each in slices_of(change.look.snapshot, before.name):
            name = text(each, "metadata", "name")
            listed = "EndpointSlice" in change.then.names
            known = name in before.foreign_slices if listed else not change.is_later(each)
            if is_manual(each) and not known and before.selector:
                object_ = f"Service/{before.name}"
                message = f"{object_} has hand-written endpoints (EndpointSlice/{name}) that no controller keeps"
                yield bites(Kind.MANUAL_ENDPOINTS, object_, message)


def rule_selector_removed(change: Change) -> Iterator[Seen]:
    """The Service chooses no pods any more: whoever writes its endpoints, no controller corrects them."""
    for before, now in change.services:
        if before.selector and not now.selector:
            object_ = f"Service/{now.name}"
            message = f"{object_}: its selector was removed, so that no controller keeps its endpoints"
            yield bites(Kind.MANUAL_ENDPOINTS, object_, message)


def rule_pod_orphaned(change: Change) -> Iterator[Seen]:
    """A pod left its controller (its labels were changed) and serves, or would serve, a Service of the scope."""
    for pod in change.look.snapshot.all("Pod"):
        name = text(pod, "metadata", "name")
        if next(owners(pod), None) or is_terminating(pod) or change.is_new("Pod", name):
            continue
        if f"Pod/{name}" in change.then.names.get("BarePod", ()):
            continue
        served = [now for _, now in change.services if selects(now.selector, labels(pod))]
        if served:
            message = f"Service/{served[0].name} is served by {key(pod)}, which no controller owns any more"
            yield bites(Kind.POD_ORPHANED, f"Service/{served[0].name}", message)


def rule_selector_widened(change: Change) -> Iterator[Seen]:
    """The Service takes pods of workloads that it did not take before and is not meant for."""
    for before, now in change.services:
        fresh = [name for name in now.selected if name not in before.selected and not _is_meant(name, before)]
        taken = [name for name in fresh if _owner(change, name) not in before.selected]
        if taken:
            message = f"Service/{now.name} selector {_pairs(now)} now also takes pods of {' and '.join(taken)}"
            yield bites(Kind.SELECTOR_WIDENED, f"Service/{now.name}", message)


def _owner(change: Change, name: str) -> str:
    """What a workload is part of: the ReplicaSet of a deleted Deployment outlives it for a moment."""
    return str(next(owners(change.look.owned.workloads.get(name, {})), ""))


def _is_meant(name: str, service: ServiceFacts) -> bool:
    return name in service.intended or not service.intended or name.startswith("Pod/")


def _pairs(service: ServiceFacts) -> str:
    return ",".join(sorted(f"{name}={value}" for name, value in service.selector.items()))


def rule_not_ready_published(change: Change) -> Iterator[Seen]:
    """The Service now sends traffic to pods that say that they are not ready."""
    for before, now in change.services:
        if now.publish_not_ready and not before.publish_not_ready:
            message = f"Service/{now.name}: publishNotReadyAddresses was turned on"
            yield bites(Kind.NOT_READY_PUBLISHED, f"Service/{now.name}", message)
