"""Deployment: ReplicaSets, one for each template, and the way from the old ones to the new one."""

from __future__ import annotations

from collections.abc import Iterable

from sanare_lab.cluster.controllers.controller import (
    Controller,
    Key,
    claim,
    is_going,
    key_of,
    owner_key,
    reference_to,
    selecting,
)
from sanare_lab.cluster.controllers.podstate import is_finished
from sanare_lab.cluster.controllers.progress import Progress
from sanare_lab.cluster.controllers.rollout import (
    DESIRED,
    HASH_LABEL,
    MAXIMUM,
    REVISION,
    Bounds,
    bare_template,
    bounds_of,
    is_recreate,
    is_same_template,
    next_size_of_new,
    next_sizes_of_old,
    proportional_sizes,
    revision,
    size,
    template_hash,
)
from sanare_lab.cluster.objects import Obj, clone, dig, name_of, namespace_of
from sanare_lab.cluster.resources import DEPLOYMENTS, PODS, REPLICA_SETS, ResourceType
from sanare_lab.cluster.store import Change, Store

_NOT_COPIED = (
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    DESIRED,
    MAXIMUM,
    "deprecated.deployment.rollback.to",
)


class DeploymentController(Controller):
    """Rolling update and Recreate, paused, revision history, progress deadline."""

    component = "deployment-controller"
    watches = (DEPLOYMENTS, REPLICA_SETS, PODS)

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._progress = Progress(store)

    def keys(self, change: Change) -> Iterable[Key]:
        """The Deployment itself, a ReplicaSet's owner, and a vanished pod's, for Recreate waits for that."""
        if change.resource is DEPLOYMENTS:
            yield key_of(change.object)
        elif change.resource is REPLICA_SETS:
            yield from owner_key(change.object, "Deployment")
            yield from selecting(self.store, DEPLOYMENTS, change.object)
        elif change.type == "DELETED" or is_finished(change.object):
            for namespace, name in owner_key(change.object, "ReplicaSet"):
                owner = self.store.get(REPLICA_SETS, namespace, name)
                if owner is not None:
                    yield from owner_key(owner, "Deployment")

    def reconcile(self, key: Key) -> float | None:
        """One step of the rollout, then the status."""
        found = self.store.get(DEPLOYMENTS, *key)
        if found is None:
            self._progress.forget(key)
            return None
        if is_going(found):
            return None
        sets = claim(self.store, REPLICA_SETS, found)
        new = self._current(found, sets)
        if new is not None:
            self._renumber(found, new, sets)
        if dig(found, "spec", "paused") or self._is_rescaled(found, sets):
            self._rescale(found, new, sets)
        elif is_recreate(found):
            self._recreate(found, new, sets)
        else:
            self._roll(found, new, sets)
        return self._conclude(key)

    def _conclude(self, key: Key) -> float | None:
        found = self.store.get(DEPLOYMENTS, *key)
        if found is None:
            return None
        sets = claim(self.store, REPLICA_SETS, found)
        new = self._current(found, sets)
        status, wait = self._progress.judge(found, new, sets)
        self.write_status(DEPLOYMENTS, found, status)
        if self._progress.is_complete(found, status):
            self._clean_up(found, new, sets)
        return wait

    def _current(self, deployment: Obj, sets: list[Obj]) -> Obj | None:
        """The ReplicaSet of the present template; the oldest where several match."""
        template = deployment["spec"]["template"]
        matching = [item for item in sets if is_same_template(item["spec"]["template"], template)]
        return min(matching, key=lambda item: item["metadata"]["creationTimestamp"], default=None)

    def _renumber(self, deployment: Obj, new: Obj, sets: list[Obj]) -> None:
        """Give the current ReplicaSet the highest revision, and the Deployment the same."""
        highest = max((revision(item) for item in sets if name_of(item) != name_of(new)), default=0)
        number = max(revision(new), highest + 1)
        wanted = self._annotations(deployment, number)
        present = new["metadata"].get("annotations") or {}
        if any(present.get(key) != value for key, value in wanted.items()):
            self._annotate(REPLICA_SETS, new, wanted)
        if revision(deployment) != number:
            self._annotate(DEPLOYMENTS, deployment, {REVISION: str(number)})

    def _annotate(self, resource: ResourceType, obj: Obj, annotations: dict[str, str]) -> None:
        self.store.modify(
            resource, *key_of(obj), lambda copy: copy["metadata"].setdefault("annotations", {}).update(annotations)
        )

    def _annotations(self, deployment: Obj, number: int) -> dict[str, str]:
        own = deployment["metadata"].get("annotations") or {}
        bounds = bounds_of(deployment)
        return {
            **{key: value for key, value in own.items() if key not in _NOT_COPIED},
            REVISION: str(number),
            DESIRED: str(bounds.replicas),
            MAXIMUM: str(bounds.maximum),
        }

    def _create(self, deployment: Obj, sets: list[Obj], count: int) -> None:
        template = bare_template(clone(deployment["spec"]["template"]))
        hashed = template_hash(template)
        labels = {**template["metadata"]["labels"], HASH_LABEL: hashed}
        template["metadata"]["labels"] = labels
        selector = clone(deployment["spec"]["selector"])
        selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH_LABEL: hashed}
        number = max((revision(item) for item in sets), default=0) + 1
        spec: Obj = {"replicas": count, "selector": selector, "template": template}
        if deployment["spec"].get("minReadySeconds"):
            spec["minReadySeconds"] = deployment["spec"]["minReadySeconds"]
        name = f"{name_of(deployment)}-{hashed}"
        metadata = {
            "name": name,
            "namespace": namespace_of(deployment),
            "labels": labels,
            "annotations": self._annotations(deployment, number),
            "ownerReferences": [reference_to(deployment)],
        }
        self.store.create(REPLICA_SETS, {"metadata": metadata, "spec": spec})
        self._annotate(DEPLOYMENTS, deployment, {REVISION: str(number)})
        self._progress.created(key_of(deployment), name)
        if count:
            self._say(deployment, name, 0, count)

    def _roll(self, deployment: Obj, new: Obj | None, sets: list[Obj]) -> None:
        bounds = bounds_of(deployment)
        if new is None:
            room = max(0, bounds.maximum - sum(size(item) for item in sets))
            self._create(deployment, sets, min(room, bounds.replicas))
            return
        if self._resize(deployment, new, next_size_of_new(bounds, new, sets)):
            return
        old = [item for item in sets if name_of(item) != name_of(new)]
        for item in old:
            self._resize(deployment, item, next_sizes_of_old(bounds, new, old)[name_of(item)])

    def _recreate(self, deployment: Obj, new: Obj | None, sets: list[Obj]) -> None:
        old = [item for item in sets if new is None or name_of(item) != name_of(new)]
        resized = [self._resize(deployment, item, 0) for item in old]
        if any(resized) or self._has_pods(old):
            return
        if new is None:
            self._create(deployment, sets, int(deployment["spec"].get("replicas", 1)))
        else:
            self._resize(deployment, new, int(deployment["spec"].get("replicas", 1)))

    def _has_pods(self, sets: list[Obj]) -> bool:
        uids = {item["metadata"]["uid"] for item in sets}
        if not uids:
            return False
        return any(
            owner["uid"] in uids and not is_finished(pod)
            for pod in self.store.list(PODS, namespace_of(sets[0]))
            for owner in pod["metadata"].get("ownerReferences") or []
        )

    def _is_rescaled(self, deployment: Obj, sets: list[Obj]) -> bool:
        wanted = str(deployment["spec"].get("replicas", 1))
        return any(size(item) and _annotation(item, DESIRED) not in ("", wanted) for item in sets)

    def _rescale(self, deployment: Obj, new: Obj | None, sets: list[Obj]) -> None:
        """The Deployment was scaled: its only ReplicaSet follows, or each takes its share."""
        bounds = bounds_of(deployment)
        active = [item for item in sets if size(item)]
        if len(active) <= 1:
            target = active[0] if active else new or max(sets, key=revision, default=None)
            if target is not None:
                self._resize(deployment, target, bounds.replicas)
        elif new is not None and dig(new, "status", "availableReplicas") == bounds.replicas == size(new):
            for item in active:
                self._resize(deployment, item, size(item) if name_of(item) == name_of(new) else 0)
        elif not is_recreate(deployment):
            self._share(deployment, bounds, active)
        for item in sets:
            self._note_size(item, bounds)

    def _share(self, deployment: Obj, bounds: Bounds, active: list[Obj]) -> None:
        sizes = proportional_sizes(bounds, active)
        for item in active:
            self._resize(deployment, item, sizes[name_of(item)])

    def _note_size(self, item: Obj, bounds: Bounds) -> None:
        wanted = {DESIRED: str(bounds.replicas), MAXIMUM: str(bounds.maximum)}
        if any(_annotation(item, key) != value for key, value in wanted.items()):
            self._annotate(REPLICA_SETS, item, wanted)

    def _resize(self, deployment: Obj, replica_set: Obj, count: int) -> bool:
        before = size(replica_set)
        if before == count:
            return False
        self.store.modify(REPLICA_SETS, *key_of(replica_set), lambda copy: copy["spec"].update(replicas=count))
        self._say(deployment, name_of(replica_set), before, count)
        return True

    def _say(self, deployment: Obj, name: str, before: int, after: int) -> None:
        way = "up" if after > before else "down"
        message = f"Scaled {way} replica set {name} from {before} to {after}"
        self.events.normal(deployment, "ScalingReplicaSet", message)

    def _clean_up(self, deployment: Obj, new: Obj | None, sets: list[Obj]) -> None:
        limit = int(deployment["spec"].get("revisionHistoryLimit", 10))
        old = [item for item in sets if new is None or name_of(item) != name_of(new)]
        idle = [
            item for item in old if not size(item) and not dig(item, "status", "replicas") and not is_going(item)
        ]
        for item in sorted(idle, key=revision)[: max(0, len(old) - limit)]:
            self.store.delete(REPLICA_SETS, *key_of(item))


def _annotation(obj: Obj, key: str) -> str:
    return str((obj["metadata"].get("annotations") or {}).get(key, ""))
