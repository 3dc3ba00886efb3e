"""Reading the facts of a namespace from one look: the scope in detail, everything else by name and health. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.manifest import Manifest, items, mapping, owners, text
from sanare.api.verdict import CheckOutcome
from sanare.evaluator.baseline import Baseline, bounded
from sanare.evaluator.bounds import guard_facts
from sanare.evaluator.facts import (
    Facts,
    Health,
    WorkloadFacts,
    asked_for,
    references,
    settings_of,
    template_digest,
    workload_facts,
)
from sanare.evaluator.health import is_available
from sanare.evaluator.images import repository
from sanare.evaluator.look import Look
from sanare.evaluator.ownership import TEMPLATED, containers, pod_template
from sanare.evaluator.reach import slices_of
from sanare.evaluator.scope import selected_workloads
from sanare.evaluator.service_facts import service_facts
from sanare.evaluator.traffic import serves
from sanare.evaluator.wanted import BINDINGS, GUARDS, SCALER

# Whose names are kept: an object of these kinds that appears or vanishes means something to a rule.
_NAMED = (
    *TEMPLATED,
    "Service",
    "EndpointSlice",
    "ConfigMap",
    "PersistentVolumeClaim",
    "ResourceQuota",
    "LimitRange",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "HorizontalPodAutoscaler",
    "ServiceAccount",
)
_MAX_NAMES = 400
_MAX_REVISIONS = 10
_MAX_GUARDS = 100


def take_baseline(
    look: Look, failing: tuple[CheckOutcome, ...], *, version: str = "", bindings: tuple[str, ...] = BINDINGS
) -> Baseline:
    """What a later look is compared with, bounded in size."""
    return bounded(
        Baseline(
            namespace=look.snapshot.namespace,
            taken_at=look.now,
            facts=read_facts(look),
            failing=failing[:16],
            unseen=dict(look.snapshot.unseen),
            resource_version=version,
            bindings=bindings,
        )
    )


def read_facts(look: Look) -> Facts:
    """The facts of one look."""
    owned, scope = look.owned, look.scope
    services = [service for name in scope.services if (service := look.snapshot.find("Service", name))]
    return Facts(
        targets=tuple(
            name
            for target in look.incident.spec.targets
            if (name := f"{target.kind}/{target.name}") not in scope.missing
        ),
        workloads=tuple(
            without_values(workload_facts(owned.workloads[name])).model_copy(
                update=_history(look, owned.workloads[name])
            )
            for name in scope.workloads
            if name in owned.workloads
        ),
        services=tuple(
            service_facts(
                service,
                tuple(selected_workloads(service, owned)),
                scope.intended.get(text(service, "metadata", "name"), ()),
                slices_of(look.snapshot, text(service, "metadata", "name")),
            )
            for service in services
        ),
        neighbours=tuple(_neighbours(look)),
        guards=tuple(guard_facts(item) for kind in (*GUARDS, SCALER) for item in look.snapshot.all(kind))[
            :_MAX_GUARDS
        ],
        names=_names(look),
        working_repositories=tuple(sorted(_working(look))),
        settings=_settings(look),
    )


def _settings(look: Look) -> dict[str, dict[str, str]]:
    workloads = (look.owned.workloads[name] for name in look.scope.workloads if name in look.owned.workloads)
    read = {name for workload in workloads for name in references(workload, "configMap")}
    return {name: settings_of(found) for name in sorted(read) if (found := look.snapshot.find("ConfigMap", name))}


def without_values(facts: WorkloadFacts) -> WorkloadFacts:
    """The facts without the values of variables: a baseline is kept, and a value may be a password."""
    cleared = tuple(container.model_copy(update={"literals": {}}) for container in facts.containers)
    return facts.model_copy(update={"containers": cleared})


def _history(look: Look, workload: Manifest) -> dict[str, object]:
    """What a rollback may go back to: templates and images of the workload's ReplicaSets, the newest first."""
    uid = text(workload, "metadata", "uid")
    own = [item for item in look.snapshot.all("ReplicaSet") if any(owner.uid == uid for owner in owners(item))]
    own.sort(key=lambda item: text(item, "metadata", "creationTimestamp"), reverse=True)
    templates = [pod_template(item) for item in own[:_MAX_REVISIONS]]
    present = template_digest(pod_template(workload))
    images: dict[str, list[str]] = {}
    for container, _ in (each for template in templates for each in containers(template)):
        images.setdefault(text(container, "name"), []).append(text(container, "image"))
    return {
        "earlier_images": {name: tuple(dict.fromkeys(of_one)) for name, of_one in images.items()},
        "revisions": tuple(each for each in dict.fromkeys(map(template_digest, templates)) if each != present),
    }


def _names(look: Look) -> dict[str, tuple[str, ...]]:
    """All names of the kinds that were listed; of a kind with too many none, so that none is missing."""
    found = {
        kind: tuple(sorted(text(item, "metadata", "name") for item in look.snapshot.all(kind) if _lasts(item)))
        for kind in _NAMED
        if look.snapshot.is_listed(kind)
    }
    found["BarePod"] = tuple(
        sorted(name.partition("/")[2] for name in look.owned.workloads if name.startswith("Pod/"))
    )
    return {kind: names for kind, names in found.items() if len(names) <= _MAX_NAMES}


def _lasts(item: Manifest) -> bool:
    """Whether an object does not go with a pod, as the claims of ephemeral volumes do."""
    return not any(text(each, "kind") == "Pod" for each in items(item, "metadata", "ownerReferences"))


def _neighbours(look: Look) -> Iterator[Health]:
    for name, workload in sorted(look.owned.workloads.items()):
        if name not in look.scope.workloads and not _ends_by_itself(workload):
            daemon = text(workload, "kind") == "DaemonSet"
            yield Health(
                object=name,
                uid=text(workload, "metadata", "uid"),
                healthy=is_available(look, name),
                replicas=asked_for(workload),
                nodes=workload_facts(workload).nodes if daemon else (),
            )
    for service in look.snapshot.all("Service"):
        name = text(service, "metadata", "name")
        if name not in look.scope.services and mapping(service, "spec").get("selector"):
            facts = service_facts(service, tuple(selected_workloads(service, look.owned)), (), ())
            yield Health(
                object=f"Service/{name}",
                uid=facts.uid,
                healthy=serves(look, name),
                selected=facts.selected,
                ports=facts.ports,
            )


def _ends_by_itself(workload: Manifest) -> bool:
    """Whether the absence of a workload says nothing: Jobs, and pods that have ended or are not started again."""
    if text(workload, "kind") != "Pod":
        return text(workload, "kind") == "Job"
    ended = text(workload, "status", "phase") in ("Succeeded", "Failed")
    return ended or text(workload, "spec", "restartPolicy") in ("Never", "OnFailure")


def _working(look: Look) -> set[str]:
    """Image repositories that a container of the namespace has been started from."""
    found = set()
    for pod in look.snapshot.all("Pod"):
        images = {
            text(container, "name"): text(container, "image") for container in items(pod, "spec", "containers")
        }
        for status in items(pod, "status", "containerStatuses"):
            if text(status, "imageID") and text(status, "name") in images:
                found.add(repository(images[text(status, "name")]))
    return found
