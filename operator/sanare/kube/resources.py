"""Which kinds there are and where the API server keeps them: a closed table, so that no word is guessed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of the API, by what its URL needs."""

    kind: str
    api_version: str
    plural: str
    namespaced: bool = True
    short: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """The API group, empty for the core group."""
        return self.api_version.rpartition("/")[0]

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The URL path of the collection, or of one object, or of its subresource."""
        root = f"/apis/{self.api_version}" if self.group else f"/api/{self.api_version}"
        scope = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        rest = "".join(f"/{part}" for part in (name, subresource) if part)
        return f"{root}{scope}/{self.plural}{rest}"


def _core(kind: str, plural: str, *short: str, namespaced: bool = True) -> Resource:
    return Resource(kind, "v1", plural, namespaced, short)


def _apps(kind: str, plural: str, *short: str) -> Resource:
    return Resource(kind, "apps/v1", plural, True, short)


RESOURCES: tuple[Resource, ...] = (
    _core("Namespace", "namespaces", "ns", namespaced=False),
    _core("Node", "nodes", "no", namespaced=False),
    _core("PersistentVolume", "persistentvolumes", "pv", namespaced=False),
    _core("Pod", "pods", "po"),
    _core("Service", "services", "svc"),
    _core("Endpoints", "endpoints", "ep"),
    _core("ConfigMap", "configmaps", "cm"),
    _core("Secret", "secrets"),
    _core("ServiceAccount", "serviceaccounts", "sa"),
    _core("PersistentVolumeClaim", "persistentvolumeclaims", "pvc"),
    _core("ResourceQuota", "resourcequotas", "quota"),
    _core("LimitRange", "limitranges", "limits"),
    _core("ReplicationController", "replicationcontrollers", "rc"),
    _core("Event", "events", "ev"),
    _apps("Deployment", "deployments", "deploy"),
    _apps("ReplicaSet", "replicasets", "rs"),
    _apps("StatefulSet", "statefulsets", "sts"),
    _apps("DaemonSet", "daemonsets", "ds"),
    _apps("ControllerRevision", "controllerrevisions"),
    Resource("Job", "batch/v1", "jobs"),
    Resource("CronJob", "batch/v1", "cronjobs", short=("cj",)),
    Resource("HorizontalPodAutoscaler", "autoscaling/v2", "horizontalpodautoscalers", short=("hpa",)),
    Resource("Ingress", "networking.k8s.io/v1", "ingresses", short=("ing",)),
    Resource("NetworkPolicy", "networking.k8s.io/v1", "networkpolicies", short=("netpol",)),
    Resource("PodDisruptionBudget", "policy/v1", "poddisruptionbudgets", short=("pdb",)),
    Resource("EndpointSlice", "discovery.k8s.io/v1", "endpointslices"),
    Resource("Lease", "coordination.k8s.io/v1", "leases"),
    Resource("Role", "rbac.authorization.k8s.io/v1", "roles"),
    Resource("RoleBinding", "rbac.authorization.k8s.io/v1", "rolebindings"),
    Resource("StorageClass", "storage.k8s.io/v1", "storageclasses", False, ("sc",)),
    Resource("Incident", "sanare.dev/v1alpha1", "incidents", short=("inc",)),
    Resource("IncidentRecord", "sanare.dev/v1alpha1", "incidentrecords", short=("increc",)),
    Resource("RemediationPolicy", "sanare.dev/v1alpha1", "remediationpolicies", short=("rpol",)),
)

BY_KIND = {resource.kind: resource for resource in RESOURCES}
BY_PLURAL = {(resource.group, resource.plural): resource for resource in RESOURCES}
