"""Which kinds one look lists, and how many requests it may make. Pure.

A look asks for what its verdict needs and nothing else: what the pods belong to, what the templates mention, the
evidence where something is wrong, and the guards where nothing is, because only then they decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sanare.api.checks import Check
from sanare.api.incident import Incident
from sanare.api.manifest import Manifest, items, number, owners, text
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.facts import WorkloadFacts, references
from sanare.evaluator.ownership import containers, pod_template
from sanare.evaluator.scope import TARGET_KINDS, Scope
from sanare.evaluator.snapshot import Snapshot

# One look at a Deployment behind one Service, whatever its size: lists, requests from outside and logs together.
BUDGET = 10
# Kinds whose objects limit others. Their names and limits are kept in the baseline.
GUARDS = ("ResourceQuota", "LimitRange", "NetworkPolicy", "PodDisruptionBudget")
SCALER = "HorizontalPodAutoscaler"
# Kinds that the workloads beside the scope need, and that nothing brings back.
KEPT = ("ConfigMap", "CronJob")
BINDINGS = ("RoleBinding", "ClusterRoleBinding")

# What an analyzer may want to know of a namespace.
EVERYTHING = (
    "EndpointSlice",
    "ConfigMap",
    "Event",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "PersistentVolumeClaim",
    "ServiceAccount",
    *GUARDS,
    SCALER,
)

_CONTROLLERS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
# What is above or below a kind in an owner chain.
_CHAINS = {"Deployment": ("ReplicaSet",), "ReplicaSet": ("Deployment",), "CronJob": ("Job",)}


def first_kinds(incident: Incident, baseline: Baseline | None, *, capture: bool) -> tuple[str, ...]:
    """What is certain before anything was looked at: pods, Services, what the Incident or the baseline names."""
    named = [target.kind for target in incident.spec.targets if target.kind in TARGET_KINDS]
    known: list[str] = []
    if baseline:
        facts = baseline.facts
        objects = (*(each.object for each in facts.workloads), *(each.object for each in facts.neighbours))
        known = [object_.partition("/")[0] for object_ in objects]
    named += _declared_kinds(incident.spec.checks)
    # At the first look pods tell what endpoints there are; later on somebody may have written some by hand.
    return with_chains(("Pod", "Service", *([] if capture else ["EndpointSlice"]), *named, *known))


def _declared_kinds(checks: Iterable[Check]) -> Iterator[str]:
    """What declared checks are judged from: the workloads that they name, and what stands behind a Service."""
    for check in checks:
        if check.rollout:
            yield check.rollout.kind
        elif check.endpoints or check.http or check.tcp:
            yield "EndpointSlice"


def with_chains(kinds: Iterable[str]) -> tuple[str, ...]:
    """The kinds with those that owner chains through them need."""
    found = [each for kind in kinds for each in (kind, *_CHAINS.get(kind, ()))]
    return tuple(dict.fromkeys(found))


def owning_kinds(pods: Iterable[Manifest]) -> tuple[str, ...]:
    """The kinds of the pods' controllers, apart from Jobs: their pods end by themselves."""
    kinds = {owner.kind for pod in pods for owner in owners(pod)}
    return with_chains(sorted(kinds & {*_CONTROLLERS, "ReplicationController"}))


def candidate_kinds(incident: Incident, scope: Scope) -> tuple[str, ...]:
    """Everything that a Service without pods may be meant for, where the pods do not say it."""
    lost = [
        target
        for target in incident.spec.targets
        if target.kind == "Service" and not scope.intended.get(target.name)
    ]
    return _CONTROLLERS if lost or not scope.workloads else ()


def mentioned_kinds(workloads: Iterable[Manifest]) -> Iterator[str]:
    """Kinds that the templates of the scope refer to and that a repair may correct the reference to."""
    known = tuple(workloads)
    volumes = [volume for each in known for volume in items(pod_template(each), "spec", "volumes")]
    if any("persistentVolumeClaim" in each for each in volumes) or any(
        items(each, "spec", "volumeClaimTemplates") for each in known
    ):
        yield "PersistentVolumeClaim"


def names_an_account(workloads: Iterable[Manifest]) -> bool:
    """Whether a template runs as an account other than `default`."""
    accounts = {text(pod_template(workload), "spec", "serviceAccountName") for workload in workloads}
    return bool(accounts - {"", "default"})


def reads_config(workloads: Iterable[WorkloadFacts]) -> bool:
    """Whether ConfigMaps, or variables that a ConfigMap may document, play a part in the templates."""
    return any(
        each.config_maps or any(container.env or container.sources for container in each.containers)
        for each in workloads
    )


def mentions_config(workloads: Iterable[Manifest]) -> bool:
    """The same of whole objects, those beside the scope included: a neighbour's settings may be changed too."""
    return any(
        items(container, "env")
        or items(container, "envFrom")
        or any("configMap" in volume or "projected" in volume for volume in items(template, "spec", "volumes"))
        for template in map(pod_template, workloads)
        for container, _ in containers(template)
    )


def kept_kinds(snapshot: Snapshot, workloads: Iterable[Manifest]) -> Iterator[str]:
    """Kinds whose names a baseline keeps where the namespace shows that there are some that others need."""
    if any(references(each, "configMap") for each in workloads):
        yield "ConfigMap"
    if any(owner.kind == "Job" for pod in snapshot.all("Pod") for owner in owners(pod)):
        yield "CronJob"


def guard_kinds(baseline: Baseline) -> tuple[str, ...]:
    """The guards that were there before the first attempt, what others need, and bindings: anybody may add one."""
    named = (kind for kind in (*GUARDS, SCALER, *KEPT) if baseline.facts.names.get(kind))
    return (*named, *baseline.bindings)


def may_exist(kind: str, baseline: Baseline | None) -> bool:
    """Whether there may be objects of a kind: the baseline saw some, or did not look."""
    return baseline is None or baseline.facts.names.get(kind) != ()


def is_shrunk(baseline: Baseline, workloads: Mapping[str, Manifest]) -> bool:
    """Whether a workload of the namespace asks for fewer replicas than before: an autoscaler may have done it."""
    asked = {each.object: each.replicas for each in baseline.facts.workloads}
    asked |= {each.object: each.replicas for each in baseline.facts.neighbours}
    return any(
        number(workload, "spec", "replicas", default=1) < asked.get(name, 0) for name, workload in workloads.items()
    )


def budget(scope: Scope, ports: int) -> int:
    """How many requests one look at the scope may make: ten, and one for each further workload or Service port."""
    return BUDGET + max(len(scope.workloads) - 1, 0) + max(ports - 1, 0)


def reserve(baseline: Baseline | None, *, capture: bool, troubled: bool) -> int:
    """How many requests the guards will take after this look."""
    if capture:
        return len(GUARDS)
    return 0 if troubled or baseline is None else len(guard_kinds(baseline))
