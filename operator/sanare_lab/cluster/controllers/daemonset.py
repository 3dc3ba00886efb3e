"""DaemonSet: one pod on each node that takes it."""

from __future__ import annotations

from collections.abc import Iterable

from sanare_lab.cluster.controllers.admission import TEMPLATE_GENERATION
from sanare_lab.cluster.controllers.controller import (
    Controller,
    Key,
    claim,
    is_going,
    key_of,
    owner_key,
    pod_from,
    selecting,
)
from sanare_lab.cluster.controllers.podstate import is_finished, is_ready
from sanare_lab.cluster.controllers.revisions import HASH, current_revision, trim
from sanare_lab.cluster.node.placement import NOTHING, reasons_against
from sanare_lab.cluster.objects import Obj, dig, name_of
from sanare_lab.cluster.resources import DAEMON_SETS, NODES, PODS
from sanare_lab.cluster.store import ApiError, Change

_RETRY = 5.0
_TOLERATED = (
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unschedulable",
)


class DaemonSetController(Controller):
    """RollingUpdate one pod at a time, OnDelete, revision history."""

    component = "daemonset-controller"
    watches = (DAEMON_SETS, PODS, NODES)

    def keys(self, change: Change) -> Iterable[Key]:
        """The DaemonSet itself, a pod's owner or adopter; a node concerns all."""
        if change.resource is DAEMON_SETS:
            yield key_of(change.object)
        elif change.resource is NODES:
            yield from (key_of(item) for item in self.store.list(DAEMON_SETS))
        else:
            yield from owner_key(change.object, "DaemonSet")
            yield from selecting(self.store, DAEMON_SETS, change.object)

    def reconcile(self, key: Key) -> float | None:
        """Create what is missing, delete what is too much or of an old template, write the status."""
        found = self.store.get(DAEMON_SETS, *key)
        if found is None or is_going(found):
            return None
        revision = current_revision(self.store, found, HASH)
        hashed = revision["metadata"]["labels"][HASH]
        wanted = [name_of(node) for node in self.store.list(NODES) if self._fits(found, node)]
        wait = self._place(found, wanted, hashed)
        self._report(found, wanted, hashed)
        return wait

    def _fits(self, owner: Obj, node: Obj) -> bool:
        template = owner["spec"]["template"]
        spec = {**(template.get("spec") or {})}
        spec["tolerations"] = [*(spec.get("tolerations") or []), *_tolerations()]
        reasons = reasons_against({**template, "spec": spec}, node, NOTHING, [])
        return not any(not reason.curable for reason in reasons)

    def _place(self, owner: Obj, wanted: list[str], hashed: str) -> float | None:
        by_node: dict[str, list[Obj]] = {}
        for pod in claim(self.store, PODS, owner):
            by_node.setdefault(target_of(pod), []).append(pod)
        for node in wanted:
            pods = [pod for pod in by_node.pop(node, []) if not self._swept(owner, pod)]
            if not pods and not self._create(owner, node, hashed):
                return _RETRY
            self._replace(owner, pods, hashed)
        for pods in by_node.values():
            for pod in pods:
                self._delete(owner, pod)
        return None

    def _swept(self, owner: Obj, pod: Obj) -> bool:
        if is_finished(pod):
            self._delete(owner, pod)
            return True
        return False

    def _replace(self, owner: Obj, pods: list[Obj], hashed: str) -> None:
        if dig(owner, "spec", "updateStrategy", "type") == "OnDelete":
            return
        for pod in pods:
            if pod["metadata"].get("labels", {}).get(HASH) != hashed:
                self._delete(owner, pod)

    def _create(self, owner: Obj, node: str, hashed: str) -> bool:
        pod = pod_from(owner["spec"]["template"], owner)
        labels = {**(pod["metadata"].get("labels") or {}), HASH: hashed}
        labels["pod-template-generation"] = owner["metadata"]["annotations"][TEMPLATE_GENERATION]
        pod["metadata"] |= {"generateName": f"{name_of(owner)}-", "labels": labels}
        pod["spec"]["tolerations"] = [*(pod["spec"].get("tolerations") or []), *_tolerations()]
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        pod["spec"]["affinity"] = {**(pod["spec"].get("affinity") or {}), "nodeAffinity": required}
        try:
            created = self.store.create(PODS, pod)
        except ApiError as exc:
            self.events.warning(owner, "FailedCreate", f"Error creating: {exc.message}")
            return False
        self.events.normal(owner, "SuccessfulCreate", f"Created pod: {name_of(created)}")
        return True

    def _delete(self, owner: Obj, pod: Obj) -> None:
        if not is_going(pod):
            self.store.delete(PODS, *key_of(pod))
            self.events.normal(owner, "SuccessfulDelete", f"Deleted pod: {name_of(pod)}")

    def _report(self, owner: Obj, wanted: list[str], hashed: str) -> None:
        owner = self.store.get(DAEMON_SETS, *key_of(owner)) or owner
        pods = [pod for pod in claim(self.store, PODS, owner) if not is_going(pod)]
        placed = {target_of(pod): pod for pod in pods}
        here = [placed[node] for node in wanted if node in placed]
        ready = sum(is_ready(pod) for pod in here)
        status: Obj = {
            "currentNumberScheduled": len(here),
            "desiredNumberScheduled": len(wanted),
            "numberMisscheduled": len(placed.keys() - set(wanted)),
            "numberReady": ready,
            "observedGeneration": owner["metadata"].get("generation", 1),
        }
        optional = {
            "numberAvailable": ready,
            "numberUnavailable": len(wanted) - ready,
            "updatedNumberScheduled": sum(pod["metadata"].get("labels", {}).get(HASH) == hashed for pod in here),
        }
        status |= {key: value for key, value in optional.items() if value}
        self.write_status(DAEMON_SETS, owner, status)
        used = (f"{name_of(owner)}-{pod['metadata'].get('labels', {}).get(HASH)}" for pod in pods)
        trim(self.store, owner, used)


def target_of(pod: Obj) -> str:
    """The node that the pod runs on, or is meant for."""
    terms = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    meant = dig(pod, "spec", *terms, 0, "matchFields", 0, "values", 0)
    return str(dig(pod, "spec", "nodeName") or meant or "")


def _tolerations() -> list[Obj]:
    return [
        {
            "key": key,
            "operator": "Exists",
            "effect": "NoSchedule" if "pressure" in key or "unsch" in key else "NoExecute",
        }
        for key in _TOLERATED
    ]
