"""Which kinds the embedded cluster serves: the built-in ones, and custom ones that CRDs add at run time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class ResourceType:
    """One kind, as discovery tells it. `generation` says whether a change of spec counts in metadata.generation."""

    kind: str
    group: str
    version: str
    plural: str
    singular: str
    namespaced: bool = True
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    generation: bool = False
    custom: bool = False

    @cached_property
    def key(self) -> str:
        """What the store files its objects under: the same for every version of a kind."""
        return f"{self.plural}.{self.group}"

    @cached_property
    def qualified(self) -> str:
        """`pods`, `deployments.apps`: how error messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @cached_property
    def api_version(self) -> str:
        """`v1`, `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @cached_property
    def has_status(self) -> bool:
        """Whether status is written through its own subresource alone."""
        return "status" in self.subresources


def _type(
    kind: str,
    group_version: str,
    short: str = "",
    *,
    plural: str = "",
    cluster: bool = False,
    subresources: str = "",
    shown_in_all: bool = False,
    generation: bool = False,
) -> ResourceType:
    group, _, version = group_version.rpartition("/")
    return ResourceType(
        kind=kind,
        group=group,
        version=version,
        plural=plural or f"{kind.lower()}s",
        singular=kind.lower(),
        namespaced=not cluster,
        short=tuple(short.split()),
        categories=("all",) if shown_in_all else (),
        subresources=tuple(subresources.split()),
        generation=generation,
    )


def _workload(kind: str, group_version: str, short: str = "", subresources: str = "status") -> ResourceType:
    return _type(kind, group_version, short, subresources=subresources, shown_in_all=True, generation=True)


_RBAC = "rbac.authorization.k8s.io/v1"

NAMESPACES = _type("Namespace", "v1", "ns", cluster=True, subresources="status finalize")
NODES = _type("Node", "v1", "no", cluster=True, subresources="status")
PERSISTENT_VOLUMES = _type("PersistentVolume", "v1", "pv", cluster=True, subresources="status")
PODS = _type(
    "Pod",
    "v1",
    "po",
    subresources="status log proxy binding eviction",
    shown_in_all=True,
    generation=True,
)
SERVICES = _type("Service", "v1", "svc", subresources="status proxy", shown_in_all=True)
ENDPOINTS = _type("Endpoints", "v1", "ep", plural="endpoints")
CONFIG_MAPS = _type("ConfigMap", "v1", "cm")
SECRETS = _type("Secret", "v1")
SERVICE_ACCOUNTS = _type("ServiceAccount", "v1", "sa", subresources="token")
PERSISTENT_VOLUME_CLAIMS = _type("PersistentVolumeClaim", "v1", "pvc", subresources="status")
RESOURCE_QUOTAS = _type("ResourceQuota", "v1", "quota", subresources="status")
LIMIT_RANGES = _type("LimitRange", "v1", "limits")
REPLICATION_CONTROLLERS = _workload("ReplicationController", "v1", "rc", "status scale")
EVENTS = _type("Event", "v1", "ev")
DEPLOYMENTS = _workload("Deployment", "apps/v1", "deploy", "status scale")
REPLICA_SETS = _workload("ReplicaSet", "apps/v1", "rs", "status scale")
STATEFUL_SETS = _workload("StatefulSet", "apps/v1", "sts", "status scale")
DAEMON_SETS = _workload("DaemonSet", "apps/v1", "ds")
CONTROLLER_REVISIONS = _type("ControllerRevision", "apps/v1")
JOBS = _workload("Job", "batch/v1")
CRON_JOBS = _workload("CronJob", "batch/v1", "cj")
HORIZONTAL_POD_AUTOSCALERS = _type(
    "HorizontalPodAutoscaler", "autoscaling/v2", "hpa", subresources="status", shown_in_all=True
)
INGRESSES = _type(
    "Ingress", "networking.k8s.io/v1", "ing", plural="ingresses", subresources="status", generation=True
)
INGRESS_CLASSES = _type(
    "IngressClass", "networking.k8s.io/v1", plural="ingressclasses", cluster=True, generation=True
)
NETWORK_POLICIES = _type(
    "NetworkPolicy", "networking.k8s.io/v1", "netpol", plural="networkpolicies", generation=True
)
POD_DISRUPTION_BUDGETS = _type("PodDisruptionBudget", "policy/v1", "pdb", subresources="status", generation=True)
ENDPOINT_SLICES = _type("EndpointSlice", "discovery.k8s.io/v1", generation=True)
LEASES = _type("Lease", "coordination.k8s.io/v1")
ROLES = _type("Role", _RBAC)
ROLE_BINDINGS = _type("RoleBinding", _RBAC)
CLUSTER_ROLES = _type("ClusterRole", _RBAC, cluster=True)
CLUSTER_ROLE_BINDINGS = _type("ClusterRoleBinding", _RBAC, cluster=True)
STORAGE_CLASSES = _type("StorageClass", "storage.k8s.io/v1", "sc", plural="storageclasses", cluster=True)
PRIORITY_CLASSES = _type(
    "PriorityClass", "scheduling.k8s.io/v1", "pc", plural="priorityclasses", cluster=True, generation=True
)
CUSTOM_RESOURCE_DEFINITIONS = _type(
    "CustomResourceDefinition",
    "apiextensions.k8s.io/v1",
    "crd crds",
    cluster=True,
    subresources="status",
    generation=True,
)

BUILT_IN: tuple[ResourceType, ...] = tuple(
    value for value in list(globals().values()) if isinstance(value, ResourceType)
)


class Registry:
    """The kinds served now. A later type of the same group, version and plural replaces the earlier one."""

    def __init__(self) -> None:
        self._types = {(t.group, t.version, t.plural): t for t in BUILT_IN}

    def __iter__(self) -> Iterator[ResourceType]:
        return iter(list(self._types.values()))

    def add(self, resource: ResourceType) -> None:
        """Serve a kind."""
        self._types[resource.group, resource.version, resource.plural] = resource

    def remove(self, group: str, plural: str) -> None:
        """Serve a kind no more, in any version."""
        self._types = {
            key: value for key, value in self._types.items() if (value.group, value.plural) != (group, plural)
        }

    def find(self, group: str, version: str, plural: str) -> ResourceType | None:
        """The kind behind a URL."""
        return self._types.get((group, version, plural))

    def by_kind(self, api_version: str, kind: str) -> ResourceType | None:
        """The kind that an ownerReference or a manifest names."""
        return next((t for t in self if t.kind == kind and t.api_version == api_version), None)
