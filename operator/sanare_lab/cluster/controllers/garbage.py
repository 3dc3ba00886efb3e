"""Garbage: what ownerReferences say about deletion: in the background, in the foreground, or orphaned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, TypeAlias

from sanare_lab.cluster.controllers.controller import Controller, Key, is_going
from sanare_lab.cluster.objects import Obj, name_of, namespace_of
from sanare_lab.cluster.resources import EVENTS, ResourceType
from sanare_lab.cluster.store import Change, Store

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
_Place: TypeAlias = tuple[ResourceType, str, str]


class GarbageCollector(Controller):
    """Keys are (uid of an owner, empty). Every kind is watched; `watches` empty says so."""

    component = "garbage-collector-controller"
    watches: ClassVar[tuple[ResourceType, ...]] = ()

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._dependents: dict[str, set[_Place]] = {}
        self._owners: dict[str, _Place] = {}  # those that wait for their dependents

    def initial(self) -> Iterator[Key]:
        """Every object that there is."""
        for resource in self.store.registry:
            for obj in self.store.list(resource):
                yield from self.keys(Change("ADDED", resource, obj, None, 0))

    def keys(self, change: Change) -> Iterable[Key]:
        """The object's own uid where it goes or is gone, and its owners' where they wait for it or are unknown."""
        if change.resource is EVENTS or _is_plain(change):
            return
        obj, uid = change.object, change.object["metadata"]["uid"]
        place = (change.resource, namespace_of(obj), name_of(obj))
        owners = self._index(change, place)
        if change.type == "DELETED":
            self._owners.pop(uid, None)
            if uid in self._dependents:
                yield uid, ""
            yield from ((owner, "") for owner in owners if owner in self._owners)
        elif is_going(obj) and {FOREGROUND, ORPHAN} & set(obj["metadata"].get("finalizers") or []):
            self._owners[uid] = place
            yield uid, ""
        elif change.type == "ADDED":
            yield from ((owner, "") for owner in owners)

    def _index(self, change: Change, place: _Place) -> list[str]:
        owners = [item["uid"] for item in change.object["metadata"].get("ownerReferences") or []]
        before = [item["uid"] for item in ((change.old or {}).get("metadata") or {}).get("ownerReferences") or []]
        for uid in {*owners, *before}:
            places = self._dependents.setdefault(uid, set())
            if change.type == "DELETED" or uid not in owners:
                places.discard(place)
            else:
                places.add(place)
            if not places:
                del self._dependents[uid]
        return owners

    def reconcile(self, key: Key) -> float | None:
        """Deal with the dependents of one owner."""
        uid = key[0]
        place = self._owners.get(uid)
        owner = self.store.get(*place) if place else None
        dependents = [(item, obj) for item in self._dependents.get(uid, ()) if (obj := self.store.get(*item))]
        if place is None or owner is None:
            for item, obj in dependents:
                self._forsake(item, obj, uid)
        elif ORPHAN in (owner["metadata"].get("finalizers") or []):
            for item, _ in dependents:
                self.store.modify(*item, lambda copy: _disown(copy, {uid}))
            self._finish(place, ORPHAN)
        else:
            self._foreground(place, dependents)
        return None

    def _forsake(self, place: _Place, obj: Obj, uid: str) -> None:
        references = obj["metadata"].get("ownerReferences") or []
        gone = {item["uid"] for item in references if not self._exists(item, obj)}
        if uid not in gone or is_going(obj):
            return
        if len(gone) < len(references):
            self.store.modify(*place, lambda copy: _disown(copy, gone))
        else:
            self.store.delete(*place, propagation="Background")

    def _exists(self, reference: Obj, dependent: Obj) -> bool:
        resource = self.store.registry.by_kind(reference.get("apiVersion", ""), reference.get("kind", ""))
        if resource is None:
            return True  # a kind that is not served: nothing is known, so nothing is deleted
        namespace = namespace_of(dependent) if resource.namespaced else ""
        found = self.store.get(resource, namespace, reference.get("name", ""))
        return found is not None and found["metadata"]["uid"] == reference.get("uid")

    def _foreground(self, place: _Place, dependents: list[tuple[_Place, Obj]]) -> None:
        for item, obj in dependents:
            if not is_going(obj):
                self.store.delete(*item, propagation="Foreground")
        owner = self.store.get(*place)
        uid = owner["metadata"]["uid"] if owner else ""
        if not any(self.store.get(*item) for item in self._dependents.get(uid, ())):
            self._finish(place, FOREGROUND)

    def _finish(self, place: _Place, finalizer: str) -> None:
        def without(copy: Obj) -> None:
            kept = [item for item in copy["metadata"].get("finalizers") or [] if item != finalizer]
            copy["metadata"]["finalizers"] = kept

        self.store.modify(*place, without)


def _is_plain(change: Change) -> bool:
    """Whether a change leaves owners and deletion as they were."""
    if change.type != "MODIFIED" or change.old is None:
        return False
    new, old = change.object["metadata"], change.old["metadata"]
    return all(new.get(field) == old.get(field) for field in ("ownerReferences", "deletionTimestamp", "finalizers"))


def _disown(obj: Obj, uids: set[str]) -> None:
    kept = [item for item in obj["metadata"].get("ownerReferences") or [] if item["uid"] not in uids]
    obj["metadata"]["ownerReferences"] = kept
    if not kept:
        del obj["metadata"]["ownerReferences"]
