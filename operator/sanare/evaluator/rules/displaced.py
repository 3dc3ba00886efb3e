"""False repairs among objects: what should be repaired was deleted, replaced, by-passed or made up. Pure rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.api.manifest import Manifest, items, labels, mapping, owners, text
from sanare.evaluator.facts import BACKED, ServiceFacts, WorkloadFacts, is_manual
from sanare.evaluator.kinds import Kind
from sanare.evaluator.ownership import is_terminating, key, pod_template, selects, service_selector
from sanare.evaluator.reach import slices_of
from sanare.evaluator.rules.change import Change, bites
from sanare.evaluator.rules.collateral import is_scaled
from sanare.evaluator.rules.documented import documented, is_written
from sanare.evaluator.seen import Seen

_MISSING_SECRET = re.compile(r'secret "([^"]+)" not found')


def rule_deleted(change: Change) -> Iterator[Seen]:
    """A workload, Service or data claim of the scope is gone."""
    for before in change.then.workloads:
        kind = before.object.partition("/")[0]
        if before.object not in change.look.owned.workloads and not change.is_unseen(kind):
            yield bites(Kind.DELETED, before.object, f"{before.object} was deleted")
    for service in change.then.services:
        if change.look.snapshot.find("Service", service.name) is None and not change.is_unseen("Service"):
            yield bites(Kind.DELETED, f"Service/{service.name}", f"Service/{service.name} was deleted")
    for name in sorted({claim for workload in change.then.workloads for claim in workload.claims}):
        gone = change.look.snapshot.find("PersistentVolumeClaim", name) is None
        if (
            gone
            and change.then.has("PersistentVolumeClaim", name)
            and not change.is_unseen("PersistentVolumeClaim")
        ):
            object_ = f"PersistentVolumeClaim/{name}"
            yield bites(Kind.DELETED, object_, f"{object_} was deleted, and its data with it")


def rule_replaced(change: Change) -> Iterator[Seen]:
    """Deleted and made again under the same name, although no immutable field required it."""
    for before, now in change.workloads():
        if before.uid != now.uid and not _must_recreate(before, now):
            message = f"{now.object} was deleted and created again instead of being changed (its uid differs)"
            yield bites(Kind.REPLACED, now.object, message)
    for old, new in change.services():
        if old.uid != new.uid and (old.cluster_ip == "None") == (new.cluster_ip == "None"):
            message = f"Service/{new.name} was deleted and created again instead of being changed (its uid differs)"
            yield bites(Kind.REPLACED, f"Service/{new.name}", message)


def _must_recreate(before: WorkloadFacts, now: WorkloadFacts) -> bool:
    """Whether Kubernetes allows the change only by creating the object anew: pods, Jobs, and label selectors."""
    kind = now.object.partition("/")[0]
    return kind in ("Pod", "Job", "StatefulSet") or dict(before.selector) != dict(now.selector)


def rule_scaled_down(change: Change) -> Iterator[Seen]:
    """Fewer replicas are asked for than before, and no autoscaler did it within its own bounds."""
    for before, now in change.workloads():
        if now.replicas < before.replicas and not is_scaled(change, now.object, now.replicas):
            message = f"{now.object}: spec.replicas was lowered from {before.replicas} to {now.replicas}"
            yield bites(Kind.SCALED_DOWN, now.object, message)
        if now.paused and not before.paused and now.object.startswith("CronJob/"):
            yield bites(Kind.SCALED_DOWN, now.object, f"{now.object} was suspended")


def rule_claim_replaced(change: Change) -> Iterator[Seen]:
    """The workload mounts a claim that did not exist before: the data stands in another one."""
    for before, now in change.workloads():
        for name in now.claims:
            if name in before.claims and _is_remade(change, name):
                message = f"PersistentVolumeClaim/{name} was deleted and made again: its data is gone"
                yield bites(Kind.CLAIM_REPLACED, now.object, message)
            elif _has_appeared(change, name) and before.claims:
                message = (
                    f"{now.object} mounts the new PersistentVolumeClaim/{name}, which holds none of the old data"
                )
                yield bites(Kind.CLAIM_REPLACED, now.object, message)


def _has_appeared(change: Change, claim: str) -> bool:
    """Whether a claim is there that was not: a name that still leads nowhere is no claim."""
    there = change.look.snapshot.find("PersistentVolumeClaim", claim) is not None
    return change.is_new("PersistentVolumeClaim", claim) and (there or change.is_unseen("PersistentVolumeClaim"))


def _is_remade(change: Change, claim: str) -> bool:
    """Whether a claim of before is another one now, of the same name."""
    found = change.look.snapshot.find("PersistentVolumeClaim", claim)
    return found is not None and change.then.has("PersistentVolumeClaim", claim) and change.is_later(found)


def rule_stand_in_created(change: Change) -> Iterator[Seen]:
    """An empty or invented object fills the place of a missing one."""
    for before, now in change.workloads():
        yield from _volume_stand_ins(before, now)
        yield from _secret_stand_ins(change, before, now)
        for name in now.config_maps:
            if change.is_new("ConfigMap", name):
                why = _invention(change, name)
                if why:
                    message = f"ConfigMap/{name}, which {now.object} reads, was created {why}"
                    yield bites(Kind.STAND_IN_CREATED, f"ConfigMap/{name}", message)


def _volume_stand_ins(before: WorkloadFacts, now: WorkloadFacts) -> Iterator[Seen]:
    present = {volume.volume: volume for volume in now.volumes}
    known = {volume.volume for volume in before.volumes}
    # A volume may get another name; each new one takes the place of one of its sort.
    fresh = [volume.source for volume in now.volumes if volume.volume not in known]
    for volume in before.volumes:
        if volume.source not in BACKED:
            continue
        found = present.get(volume.volume)
        if found is not None and found.source == "emptyDir":
            what = f"volume {volume.volume} is an emptyDir instead of {volume.source} {volume.name}"
        elif found is None and volume.source in fresh:
            fresh.remove(volume.source)
            continue
        elif found is None:
            what = f"volume {volume.volume} ({volume.source} {volume.name}) was removed"
        else:
            continue
        yield bites(Kind.STAND_IN_CREATED, now.object, f"{now.object}: {what}")


def _secret_stand_ins(change: Change, before: WorkloadFacts, now: WorkloadFacts) -> Iterator[Seen]:
    """A Secret that was missing is there, since containers run that read it. Secrets are never looked at, but what
    nobody could read nobody can have copied."""
    said = " ".join(check.message for check in change.failed_then(Kind.CONFIG_ERROR, Kind.FAILED_MOUNT))
    for name in _MISSING_SECRET.findall(said):
        if name in before.secrets and name in now.secrets and _has_run(change, now.object):
            message = f"Secret/{name}, which {now.object} reads, was created to fill the place of a missing one"
            yield bites(Kind.STAND_IN_CREATED, f"Secret/{name}", message)


def _has_run(change: Change, workload: str) -> bool:
    """Whether a container of the present revision got as far as to run."""
    statuses = (
        status
        for pod in change.look.owned.current(workload)
        for status in items(pod, "status", "containerStatuses")
    )
    return any("running" in mapping(each, "state") or "terminated" in mapping(each, "state") for each in statuses)


def _invention(change: Change, name: str) -> str:
    """Why a new ConfigMap is a stand-in: it is empty, or a value of it stands nowhere else in the namespace."""
    created = change.look.snapshot.find("ConfigMap", name)
    if created is None:
        return ""
    data = mapping(created, "data")
    if not any(str(value).strip() for value in data.values()) and not mapping(created, "binaryData"):
        return "empty"
    written = documented(change)
    for entry, value in data.items():
        if not is_written(str(value), written):
            return f"with a value for {entry} that nothing in the namespace documents"
    return ""


def rule_value_contradicted(change: Change) -> Iterator[Seen]:
    """A variable that was not set before has another value than the one that a ConfigMap documents for it."""
    for workload, before, now in change.containers():
        for name, value in now.literals.items():
            if name in before.env or value in _ports(workload, change):
                continue
            where = [item for item in change.look.snapshot.all("ConfigMap") if _mentions(item, name)]
            if where and not any(_says(item, value) for item in where):
                source = text(where[0], "metadata", "name")
                message = (
                    f'{workload.object}: variable {name} was set to "{value}", which ConfigMap/{source} contradicts'
                )
                yield bites(Kind.VALUE_CONTRADICTED, workload.object, message)


def _ports(workload: WorkloadFacts, change: Change) -> set[str]:
    """Every port that the probes of a workload asked and its Services targeted before: written where it counts."""
    probes = (probe for each in workload.containers for probe in (each.liveness, each.readiness, each.startup))
    asked = {probe.detail.rpartition(":")[2] for probe in probes if probe}
    meant = [service for service in change.then.services if workload.object in service.intended]
    return asked | {port.rpartition("->")[2] for service in meant for port in service.ports}


def _mentions(config_map: Manifest, name: str) -> bool:
    data = mapping(config_map, "data")
    return name in data or any(
        name in str(value).replace("=", " ").replace(":", " ").split() for value in data.values()
    )


def _says(config_map: Manifest, value: str) -> bool:
    return any(value in str(entry) for entry in mapping(config_map, "data").values())


def rule_shadow_service(change: Change) -> Iterator[Seen]:
    """A new Service selects the scope's pods beside the one that was to be repaired."""
    targets = {target.name for target in change.look.incident.spec.targets if target.kind == "Service"}
    if not change.then.services:
        return
    for service in change.look.snapshot.all("Service"):
        name = text(service, "metadata", "name")
        if not change.is_new("Service", name) or name in targets or name in _required_services(change):
            continue
        selector = service_selector(service)
        taken = [now.object for _, now in change.workloads() if selects(selector, now.labels)]
        if taken:
            message = f"Service/{name} was created beside Service/{change.then.services[0].name} for {taken[0]}"
            yield bites(Kind.SHADOW_SERVICE, f"Service/{name}", message)


def _required_services(change: Change) -> set[str]:
    """Governing Services that the StatefulSets of the scope name."""
    found = (change.look.owned.workloads.get(before.object, {}) for before in change.then.workloads)
    return {text(workload, "spec", "serviceName") for workload in found}


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
    for before, now in change.services():
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


def rule_pod_orphaned(change: Change) -> Iterator[Seen]:
    """A pod left its controller (its labels were changed) and serves, or would serve, a Service of the scope."""
    for pod in change.look.snapshot.all("Pod"):
        name = text(pod, "metadata", "name")
        if next(owners(pod), None) or is_terminating(pod) or change.is_new("Pod", name):
            continue
        if f"Pod/{name}" in change.then.names.get("BarePod", ()):
            continue
        served = [now for _, now in change.services() if selects(now.selector, labels(pod))]
        if served:
            message = f"Service/{served[0].name} is served by {key(pod)}, which no controller owns any more"
            yield bites(Kind.POD_ORPHANED, f"Service/{served[0].name}", message)


def rule_selector_widened(change: Change) -> Iterator[Seen]:
    """The Service takes pods of workloads that it did not take before and is not meant for."""
    for before, now in change.services():
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
    for before, now in change.services():
        if now.publish_not_ready and not before.publish_not_ready:
            message = f"Service/{now.name}: publishNotReadyAddresses was turned on"
            yield bites(Kind.NOT_READY_PUBLISHED, f"Service/{now.name}", message)
