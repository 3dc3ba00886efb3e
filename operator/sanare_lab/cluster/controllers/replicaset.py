"""ReplicaSet: so many pods of one template, no more and no fewer."""

from __future__ import annotations

from collections.abc import Iterable

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
from sanare_lab.cluster.controllers.podstate import deletion_order, is_active, is_ready, ready_for
from sanare_lab.cluster.objects import Obj, dig, name_of, namespace_of
from sanare_lab.cluster.resources import PODS, REPLICA_SETS
from sanare_lab.cluster.selectors import has_all
from sanare_lab.cluster.store import ApiError, Change, Store

_BURST = 500  # pods that one reconcile creates or deletes at most
_BACKOFF_FIRST, _BACKOFF_MAX = 0.005, 1000.0


class ReplicaSetController(Controller):
    """Refusals (quota, service account) are retried with growing pauses, as client-go's rate limiter makes them."""

    component = "replicaset-controller"
    watches = (REPLICA_SETS, PODS)

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._failures: dict[Key, int] = {}

    def keys(self, change: Change) -> Iterable[Key]:
        """The ReplicaSet itself, a pod's owner, or whoever would adopt the pod."""
        if change.resource is REPLICA_SETS:
            yield key_of(change.object)
            return
        yield from owner_key(change.object, "ReplicaSet")
        if change.old is not None:
            yield from owner_key(change.old, "ReplicaSet")
        yield from selecting(self.store, REPLICA_SETS, change.object)

    def reconcile(self, key: Key) -> float | None:
        """Create or delete pods, and count them."""
        found = self.store.get(REPLICA_SETS, *key)
        if found is None:
            self._failures.pop(key, None)
            return None
        pods = claim(self.store, PODS, found)
        failure = self._scale(found, pods) if not is_going(found) else None
        wait = self._report(found, pods, failure)
        if failure is None:
            self._failures.pop(key, None)
            return wait
        count = self._failures[key] = self._failures.get(key, -1) + 1
        return min(_BACKOFF_FIRST * 2.0 ** min(count, 30), _BACKOFF_MAX)

    def _scale(self, owner: Obj, pods: list[Obj]) -> Obj | None:
        """The ReplicaFailure condition where something was refused."""
        active = [pod for pod in pods if is_active(pod)]
        wanted = int(owner["spec"].get("replicas", 1))
        if len(active) < wanted:
            return self._grow(owner, min(wanted - len(active), _BURST))
        for pod in sorted(active, key=deletion_order)[: len(active) - wanted]:
            self.store.delete(PODS, *key_of(pod), uid=pod["metadata"]["uid"])
            self.events.normal(owner, "SuccessfulDelete", f"Deleted pod: {name_of(pod)}")
        return None

    def _grow(self, owner: Obj, count: int) -> Obj | None:
        for _ in range(count):
            pod = pod_from(owner["spec"]["template"], owner)
            pod["metadata"]["generateName"] = f"{name_of(owner)}-"
            try:
                created = self.store.create(PODS, pod)
            except ApiError as exc:
                if dig(exc.body(), "details", "causes", 0, "reason") != "NamespaceTerminating":
                    self.events.warning(owner, "FailedCreate", f"Error creating: {exc.message}")
                return {"reason": "FailedCreate", "message": exc.message}
            self.events.normal(owner, "SuccessfulCreate", f"Created pod: {name_of(created)}")
        return None

    def _report(self, owner: Obj, pods: list[Obj], failure: Obj | None) -> float | None:
        owner = self.store.get(REPLICA_SETS, namespace_of(owner), name_of(owner)) or owner
        minimum = float(owner["spec"].get("minReadySeconds") or 0)
        now, scale = self.store.clock.now(), self.store.clock.scale
        active = [pod for pod in pods if is_active(pod)]
        ready = [pod for pod in active if is_ready(pod)]
        waits = [minimum - ready_for(pod, now, scale) for pod in ready] if minimum else []
        labels = dig(owner, "spec", "template", "metadata", "labels") or {}
        status: Obj = {
            "replicas": len(active),
            "fullyLabeledReplicas": sum(has_all(labels, pod["metadata"].get("labels") or {}) for pod in active),
            "readyReplicas": len(ready),
            "availableReplicas": len(ready) - sum(wait > 0 for wait in waits),
        }
        status = {key: value for key, value in status.items() if value or key == "replicas"}
        status["terminatingReplicas"] = sum(is_going(pod) for pod in pods)
        status["observedGeneration"] = owner["metadata"].get("generation", 1)
        if failure is not None:
            status["conditions"] = [self._failed(owner, failure)]
        self.write_status(REPLICA_SETS, owner, status)
        return min((wait for wait in waits if wait > 0), default=None)

    def _failed(self, owner: Obj, failure: Obj) -> Obj:
        for old in dig(owner, "status", "conditions") or []:
            if old["type"] == "ReplicaFailure":
                found: Obj = old
                return found
        return {"type": "ReplicaFailure", "status": "True", "lastTransitionTime": self.now(), **failure}
