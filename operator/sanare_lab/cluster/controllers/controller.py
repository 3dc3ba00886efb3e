"""Controller: what every control loop has in common: keyed, coalesced, tried again on error."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import ClassVar, TypeAlias

from sanare_lab.cluster.objects import Obj, clone, name_of, namespace_of, timestamp
from sanare_lab.cluster.recorder import Recorder
from sanare_lab.cluster.resources import ResourceType
from sanare_lab.cluster.selectors import selects
from sanare_lab.cluster.store import Change, Store

Key: TypeAlias = tuple[str, str]  # namespace and name


class Controller(ABC):
    """One control loop. A reconcile reads and writes the store without awaiting, so that none can interleave."""

    component: ClassVar[str]
    watches: ClassVar[tuple[ResourceType, ...]]

    def __init__(self, store: Store) -> None:
        self.store = store
        self.events = Recorder(store, self.component)

    @abstractmethod
    def keys(self, change: Change) -> Iterable[Key]:
        """Which of its objects a change concerns."""

    @abstractmethod
    def reconcile(self, key: Key) -> float | None:
        """Bring one object on; seconds until it must be looked at again, None for "when something changes"."""

    def initial(self) -> Iterator[Key]:
        """What to look at when the controller starts."""
        for resource in self.watches:
            for obj in self.store.list(resource):
                yield from self.keys(Change("ADDED", resource, obj, None, 0))

    def now(self) -> str:
        """The present moment as a metav1.Time."""
        return timestamp(self.store.clock.now())

    def seconds(self) -> float:
        """Seconds of the cluster's own time since some moment."""
        return self.store.clock.monotonic()

    def write_status(self, resource: ResourceType, obj: Obj, status: Obj) -> None:
        """Store another status, where it is another."""
        if status != obj.get("status"):
            fresh = self.store.get(resource, namespace_of(obj), name_of(obj))
            if fresh is not None:
                self.store.update(resource, {**fresh, "status": status}, subresource="status")


def key_of(obj: Obj) -> Key:
    """Namespace and name."""
    return namespace_of(obj), name_of(obj)


def owner_key(obj: Obj, kind: str) -> Iterator[Key]:
    """The key of the controller of that kind that owns an object."""
    owner = controller_of(obj)
    if owner is not None and owner.get("kind") == kind:
        yield namespace_of(obj), owner["name"]


def controller_of(obj: Obj) -> Obj | None:
    """The ownerReference with `controller: true`."""
    for owner in obj["metadata"].get("ownerReferences") or []:
        if owner.get("controller"):
            found: Obj = owner
            return found
    return None


def is_owned(obj: Obj, owner: Obj) -> bool:
    """Whether `owner` controls the object."""
    found = controller_of(obj)
    return found is not None and found["uid"] == owner["metadata"]["uid"]


def is_going(obj: Obj) -> bool:
    """Whether deletion has begun."""
    return bool(obj["metadata"].get("deletionTimestamp"))


def reference_to(owner: Obj) -> Obj:
    """The ownerReference of what `owner` controls."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": name_of(owner),
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def selecting(store: Store, resource: ResourceType, obj: Obj) -> Iterator[Key]:
    """The keys of objects whose spec.selector takes an object that nothing controls."""
    if controller_of(obj) is None:
        labels = obj["metadata"].get("labels") or {}
        for owner in store.list(resource, namespace_of(obj)):
            if selects(owner["spec"].get("selector"), labels):
                yield key_of(owner)


def claim(
    store: Store, resource: ResourceType, owner: Obj, may_adopt: Callable[[Obj], bool] = lambda _: True
) -> list[Obj]:
    """The objects that `owner` controls, after adopting what its selector takes and releasing what it does not."""
    selector, uid = owner["spec"].get("selector"), owner["metadata"]["uid"]
    found = []
    for obj in store.list(resource, namespace_of(owner)):
        references = obj["metadata"].get("ownerReferences")
        controlled = controller_of(obj) if references else None
        if controlled is not None and controlled["uid"] != uid:
            continue
        matches = selects(selector, obj["metadata"].get("labels") or {})
        if controlled is not None:
            if matches or is_going(owner):
                found.append(obj)
            elif not is_going(obj):
                store.modify(resource, *key_of(obj), partial(_release, owner=owner))
        elif matches and may_adopt(obj) and not is_going(obj) and not is_going(owner):
            adopted = store.modify(resource, *key_of(obj), partial(_adopt, owner=owner))
            found += [adopted] if adopted is not None else []
    return found


def _adopt(obj: Obj, owner: Obj) -> None:
    obj["metadata"].setdefault("ownerReferences", []).append(reference_to(owner))


def _release(obj: Obj, owner: Obj) -> None:
    uid = owner["metadata"]["uid"]
    kept = [item for item in obj["metadata"]["ownerReferences"] if item["uid"] != uid]
    obj["metadata"]["ownerReferences"] = kept
    if not kept:
        del obj["metadata"]["ownerReferences"]


def pod_from(template: Obj, owner: Obj) -> Obj:
    """A Pod of a template, owned; it has neither name nor generateName yet."""
    metadata = clone(template.get("metadata") or {})
    metadata["namespace"] = namespace_of(owner)
    metadata["ownerReferences"] = [reference_to(owner)]
    for field in ("creationTimestamp", "name"):
        metadata.pop(field, None)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": clone(template.get("spec") or {})}
