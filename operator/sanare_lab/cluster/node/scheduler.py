"""Scheduler: binds pods that have no node yet, and says why one stays without."""

from __future__ import annotations

from sanare_lab.cluster.node.placement import (
    NOTHING,
    Requests,
    explain,
    host_ports,
    reasons_against,
    requests_of,
)
from sanare_lab.cluster.objects import Obj, dig, name_of, namespace_of, timestamp
from sanare_lab.cluster.recorder import Recorder
from sanare_lab.cluster.resources import NODES, PERSISTENT_VOLUME_CLAIMS, PODS
from sanare_lab.cluster.store import ApiError, Change, Store
from sanare_lab.cluster.timers import Timers

_AGAIN = 300.0  # seconds after which a pod without a node is tried again whatever happens


class Scheduler:
    """Fed with changes by the node; keeps what each node's pods ask for, so that no decision lists all pods."""

    def __init__(self, store: Store, timers: Timers) -> None:
        self._store = store
        self._timers = timers
        self._recorder = Recorder(store, "default-scheduler", "default-scheduler-node0")
        self._asked: dict[tuple[str, str], tuple[str, Requests]] = {}
        self._used: dict[str, Requests] = {}
        self._waiting: dict[tuple[str, str], str] = {}

    def observe(self, change: Change) -> None:
        """Take note of a change, and try whatever it may have made possible."""
        if change.resource is PODS:
            self._observe_pod(change.object, gone=change.type == "DELETED")
        elif change.resource in (NODES, PERSISTENT_VOLUME_CLAIMS):
            self.retry()

    def _observe_pod(self, pod: Obj, *, gone: bool) -> None:
        key = (namespace_of(pod), name_of(pod))
        node = dig(pod, "spec", "nodeName")
        if gone:
            self._waiting.pop(key, None)
            if self._release(key):
                self.retry()
        elif not node:
            if key not in self._waiting or not dig(pod, "status", "conditions"):
                self._try(key)
        elif dig(pod, "status", "phase") in ("Succeeded", "Failed"):
            if self._release(key):
                self.retry()
        else:
            self._hold(key, node, pod)

    def _hold(self, key: tuple[str, str], node: str, pod: Obj) -> None:
        self._waiting.pop(key, None)
        if key not in self._asked:
            asked = requests_of(pod)
            self._asked[key] = (node, asked)
            self._used[node] = self._used.get(node, NOTHING) + asked

    def _release(self, key: tuple[str, str]) -> bool:
        held = self._asked.pop(key, None)
        if held is None:
            return False
        node, asked = held
        self._used[node] += Requests(-asked.cpu, -asked.memory, -asked.pods)
        return True

    def retry(self) -> None:
        """Try every pod without a node again."""
        for key in list(self._waiting):
            self._try(key)

    def _try(self, key: tuple[str, str]) -> None:
        pod = self._store.get(PODS, *key)
        if pod is None or dig(pod, "spec", "nodeName") or pod["metadata"].get("deletionTimestamp"):
            self._waiting.pop(key, None)
            return None
        message = self._claims_missing(pod)
        if not message:
            refused = []
            for node in self._store.list(NODES):
                reasons = reasons_against(
                    pod, node, self._used.get(name_of(node), NOTHING), self._neighbours(pod, name_of(node))
                )
                if not reasons:
                    return self._bind(pod, name_of(node))
                refused.append(reasons)
            message = explain(refused)
        return self._refuse(key, pod, message)

    def _neighbours(self, pod: Obj, node: str) -> list[Obj]:
        if not dig(pod, "spec", "affinity") and not host_ports(pod):
            return []
        return [other for other in self._store.list(PODS) if dig(other, "spec", "nodeName") == node]

    def _claims_missing(self, pod: Obj) -> str:
        total = len(self._store.list(NODES))
        for volume in dig(pod, "spec", "volumes") or []:
            name = dig(volume, "persistentVolumeClaim", "claimName")
            if not name:
                continue
            claim = self._store.get(PERSISTENT_VOLUME_CLAIMS, namespace_of(pod), name)
            if claim is None:
                return f'0/{total} nodes are available: persistentvolumeclaim "{name}" not found. not found'
            if dig(claim, "status", "phase") != "Bound":
                return f"0/{total} nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"
        return ""

    def _bind(self, pod: Obj, node: str) -> None:
        self._hold((namespace_of(pod), name_of(pod)), node, pod)
        now = timestamp(self._store.clock.now())
        condition = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
        kept = [c for c in dig(pod, "status", "conditions") or [] if c["type"] != "PodScheduled"]
        bound = {
            **pod,
            "spec": {**pod["spec"], "nodeName": node},
            "status": {**(pod.get("status") or {"phase": "Pending"}), "conditions": [*kept, condition]},
        }
        self._store.update(PODS, bound, subresource="*")
        where = f"{namespace_of(pod)}/{name_of(pod)}"
        message = f"Successfully assigned {where} to {node}"
        self._recorder.scheduled(pod, "Normal", "Scheduled", message, "Binding")

    def _refuse(self, key: tuple[str, str], pod: Obj, message: str) -> None:
        if self._waiting.get(key) != message:
            self._waiting[key] = message
            self._recorder.scheduled(pod, "Warning", "FailedScheduling", message, "Scheduling")
            self._write_refusal(pod, message)
            self._timers.after(_AGAIN, lambda: self._again(key))

    def _again(self, key: tuple[str, str]) -> None:
        if key in self._waiting:
            self._waiting[key] = ""
            self._try(key)

    def _write_refusal(self, pod: Obj, message: str) -> None:
        now = timestamp(self._store.clock.now())
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
            "lastProbeTime": None,
            "lastTransitionTime": now,
            "observedGeneration": pod["metadata"].get("generation", 1),
        }
        status = {"phase": "Pending", **(pod.get("status") or {}), "conditions": [condition]}
        try:
            self._store.update(PODS, {**pod, "status": status}, subresource="status")
        except ApiError:
            return  # changed meanwhile; the change brings the pod here again
