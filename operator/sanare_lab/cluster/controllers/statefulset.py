"""StatefulSet: numbered pods, one after the other, each with its own claims."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

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
from sanare_lab.cluster.controllers.revisions import HASH, current_revision, revisions_of, trim
from sanare_lab.cluster.objects import Obj, clone, dig, name_of, namespace_of
from sanare_lab.cluster.resources import PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from sanare_lab.cluster.store import ApiError, Change

_RETRY = 5.0


class StatefulSetController(Controller):
    """OrderedReady and Parallel; RollingUpdate with partition, OnDelete; revision history."""

    component = "statefulset-controller"
    watches = (STATEFUL_SETS, PODS)

    def keys(self, change: Change) -> Iterable[Key]:
        """The StatefulSet itself, a pod's owner, or whoever would adopt the pod."""
        if change.resource is STATEFUL_SETS:
            yield key_of(change.object)
            return
        yield from owner_key(change.object, "StatefulSet")
        yield from selecting(self.store, STATEFUL_SETS, change.object)

    def reconcile(self, key: Key) -> float | None:
        """Bring one pod on, or all of them with Parallel, then write the status."""
        found = self.store.get(STATEFUL_SETS, *key)
        if found is None or is_going(found):
            return None
        update = current_revision(self.store, found, "controller.kubernetes.io/hash")
        pods = {ordinal(pod): pod for pod in self._pods(found)}
        current = self._current(found, update)
        wait = self._step(found, pods, name_of(update), current)
        self._report(found, name_of(update), current)
        return wait

    def _pods(self, owner: Obj) -> list[Obj]:
        return claim(self.store, PODS, owner, partial(_is_named_for, owner))

    def _current(self, owner: Obj, update: Obj) -> str:
        name = dig(owner, "status", "currentRevision")
        known = {name_of(item) for item in revisions_of(self.store, owner)}
        return name if name in known else name_of(update)

    def _step(self, owner: Obj, pods: dict[int, Obj], update: str, current: str) -> float | None:
        wanted = int(owner["spec"].get("replicas", 1))
        in_turn = owner["spec"].get("podManagementPolicy") != "Parallel"
        for number in range(wanted):
            pod = pods.get(number)
            if pod is None:
                if not self._create(owner, number, self._revision_for(owner, number, update, current)):
                    return _RETRY
                if in_turn:
                    return None
            elif is_finished(pod) and not is_going(pod):
                self.store.delete(PODS, *key_of(pod))
                return None
            elif in_turn and not (is_ready(pod) and not is_going(pod)):
                return None  # one that never gets ready holds all others, as in reality
        extra = [number for number in pods if number >= wanted]
        if extra:
            self._shrink(owner, pods[max(extra)])
        else:
            self._update(owner, pods, wanted, update)
        return None

    def _revision_for(self, owner: Obj, number: int, update: str, current: str) -> str:
        partition = int(dig(owner, "spec", "updateStrategy", "rollingUpdate", "partition") or 0)
        return current if number < partition else update

    def _create(self, owner: Obj, number: int, revision: str) -> bool:
        template = self._template(owner, revision)
        pod = pod_from(template, owner)
        name = f"{name_of(owner)}-{number}"
        labels = {
            **(pod["metadata"].get("labels") or {}),
            "apps.kubernetes.io/pod-index": str(number),
            HASH: revision,
            "statefulset.kubernetes.io/pod-name": name,
        }
        pod["metadata"] |= {"name": name, "generateName": f"{name_of(owner)}-", "labels": labels}
        pod["spec"] |= {"hostname": name, "subdomain": owner["spec"].get("serviceName", "")}
        self._claims(owner, pod, number)
        try:
            self.store.create(PODS, pod)
        except ApiError as exc:
            message = f"create Pod {name} in StatefulSet {name_of(owner)} failed error: {exc.message}"
            self.events.warning(owner, "FailedCreate", message)
            return False
        self.events.normal(
            owner, "SuccessfulCreate", f"Create Pod {name} in StatefulSet {name_of(owner)} successful"
        )
        return True

    def _template(self, owner: Obj, revision: str) -> Obj:
        for item in revisions_of(self.store, owner):
            if name_of(item) == revision:
                template: Obj = item["data"]["spec"]["template"]
                return {key: value for key, value in template.items() if key != "$patch"}
        present: Obj = owner["spec"]["template"]
        return present

    def _claims(self, owner: Obj, pod: Obj, number: int) -> None:
        volumes = pod["spec"].setdefault("volumes", [])
        for template in owner["spec"].get("volumeClaimTemplates") or []:
            name = f"{name_of(template)}-{name_of(owner)}-{number}"
            if self.store.get(PERSISTENT_VOLUME_CLAIMS, namespace_of(owner), name) is None:
                labels = clone(dig(owner, "spec", "selector", "matchLabels") or {})
                metadata = {"name": name, "namespace": namespace_of(owner), "labels": labels}
                self.store.create(
                    PERSISTENT_VOLUME_CLAIMS, {"metadata": metadata, "spec": clone(template.get("spec") or {})}
                )
                text = f"create Claim {name} Pod {pod['metadata']['name']} in StatefulSet {name_of(owner)} success"
                self.events.normal(owner, "SuccessfulCreate", text)
            volumes[:] = [item for item in volumes if item["name"] != name_of(template)]
            volumes.append({"name": name_of(template), "persistentVolumeClaim": {"claimName": name}})
        if not volumes:
            del pod["spec"]["volumes"]

    def _shrink(self, owner: Obj, last: Obj) -> None:
        if not is_going(last):
            self._delete(owner, last)

    def _update(self, owner: Obj, pods: dict[int, Obj], wanted: int, update: str) -> None:
        strategy = owner["spec"].get("updateStrategy") or {}
        if strategy.get("type") == "OnDelete":
            return
        partition = int(dig(strategy, "rollingUpdate", "partition") or 0)
        for number in range(wanted - 1, partition - 1, -1):
            pod = pods.get(number)
            if pod is None or is_going(pod):
                return
            if pod["metadata"].get("labels", {}).get(HASH) != update:
                self._delete(owner, pod)
                return
            if not is_ready(pod):
                return

    def _delete(self, owner: Obj, pod: Obj) -> None:
        self.store.delete(PODS, *key_of(pod))
        text = f"Delete Pod {name_of(pod)} in StatefulSet {name_of(owner)} successful"
        self.events.normal(owner, "SuccessfulDelete", text)

    def _report(self, owner: Obj, update: str, current: str) -> None:
        owner = self.store.get(STATEFUL_SETS, *key_of(owner)) or owner
        pods = self._pods(owner)
        live = [pod for pod in pods if not is_going(pod)]
        of_update = [pod for pod in live if pod["metadata"].get("labels", {}).get(HASH) == update]
        ready = sum(is_ready(pod) for pod in live)
        wanted = int(owner["spec"].get("replicas", 1))
        if len(of_update) == wanted == len(pods) and ready == wanted:
            current = update
        counts = {
            "replicas": len(pods),
            "readyReplicas": ready,
            "availableReplicas": ready,
            "currentReplicas": sum(pod["metadata"].get("labels", {}).get(HASH) == current for pod in live),
            "updatedReplicas": len(of_update),
        }
        status: Obj = {key: value for key, value in counts.items() if value or "vail" in key or key == "replicas"}
        status |= {"currentRevision": current, "updateRevision": update, "collisionCount": 0}
        status["observedGeneration"] = owner["metadata"].get("generation", 1)
        self.write_status(STATEFUL_SETS, owner, status)
        trim(self.store, owner, (pod["metadata"].get("labels", {}).get(HASH, "") for pod in pods))


def ordinal(pod: Obj) -> int:
    """The number at the end of the pod's name, -1 where there is none."""
    tail = name_of(pod).rpartition("-")[2]
    return int(tail) if tail.isdecimal() else -1


def _is_named_for(owner: Obj, pod: Obj) -> bool:
    """Whether a pod without an owner could be this StatefulSet's: its name is the owner's and an ordinal."""
    return ordinal(pod) >= 0 and name_of(pod).rpartition("-")[0] == name_of(owner)
