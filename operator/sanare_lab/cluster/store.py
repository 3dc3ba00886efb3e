"""Store: every object of the cluster in memory, with the rules that hold for every writer.

Stored objects are immutable by agreement: whoever wants to change one copies it (`modify` does so). All of it runs
on one event loop, so there are no locks, and no method awaits.
"""

from __future__ import annotations

import datetime as dt
import random
import uuid
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from sanare_lab.cluster import errors
from sanare_lab.cluster.changes import Change, ChangeLog, ChangeType, Subscription
from sanare_lab.cluster.clock import Clock
from sanare_lab.cluster.errors import ApiError
from sanare_lab.cluster.objects import Obj, clone, name_of, namespace_of, timestamp
from sanare_lab.cluster.resources import NAMESPACES, PODS, Registry, ResourceType

__all__ = ["ApiError", "Change", "Hook", "Store", "Subscription", "Verb"]

Verb: TypeAlias = Literal["CREATE", "UPDATE", "DELETE"]
# Admission: (verb, resource, old, new) -> what to store instead of new. On DELETE new is None, the answer unused.
Hook: TypeAlias = Callable[[Verb, ResourceType, Obj | None, Obj | None], Obj | None]

# Puts the last touch (managedFields) on an object that is going to be stored.
Finish: TypeAlias = Callable[[Obj], Obj]

_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
_KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "namespace")
EVERYTHING = "*"


def random_suffix(length: int = 5) -> str:
    """The tail of a generated name, in the API server's alphabet."""
    return "".join(random.choices(_SUFFIX, k=length))  # noqa: S311 - a name, not a secret


class Store:
    """Objects by kind, namespace and name; one resourceVersion counter; changes to whoever subscribes."""

    def __init__(self, clock: Clock, *, registry: Registry | None = None, history: int = 4000) -> None:
        self.clock = clock
        self.registry = registry or Registry()
        self.hooks: list[Hook] = []
        self._objects: dict[str, dict[str, dict[str, Obj]]] = {}
        # microseconds, so that every version of a cluster before is older than the first of this one
        self._version = int(clock.now().timestamp() * 1e6)
        self.log = ChangeLog(history, since=self._version)

    @property
    def resource_version(self) -> str:
        """The version of the latest change of anything."""
        return str(self._version)

    def get(self, resource: ResourceType, namespace: str, name: str) -> Obj | None:
        """One object, not to be changed; None where there is none."""
        return self._objects.get(resource.key, {}).get(namespace, {}).get(name)

    def require(self, resource: ResourceType, namespace: str, name: str) -> Obj:
        """One object, not to be changed. Raises ApiError 404."""
        found = self.get(resource, namespace, name)
        if found is None:
            raise errors.not_found(resource, name)
        return found

    def list(self, resource: ResourceType, namespace: str = "") -> list[Obj]:
        """The objects of a kind, in one namespace or in all; not to be changed."""
        spaces = self._objects.get(resource.key, {})
        if namespace or not resource.namespaced:
            return list(spaces.get(namespace, {}).values())
        return [obj for space in spaces.values() for obj in space.values()]

    def subscribe(self, *resources: ResourceType) -> Subscription:
        """Changes from now on, of these kinds or of all."""
        return self.log.subscribe(*resources)

    def create(
        self, resource: ResourceType, obj: Obj, *, dry_run: bool = False, finish: Finish | None = None
    ) -> Obj:
        """Store a new object. Raises ApiError 404 (no namespace), 409 (taken), and what the hooks refuse."""
        new = self._new(resource, obj)
        admitted = self._admit("CREATE", resource, None, new)
        name, namespace = name_of(admitted), namespace_of(admitted)
        if self.get(resource, namespace, name) is not None:
            raise errors.already_exists(resource, name)
        admitted = finish(admitted) if finish else admitted
        return admitted if dry_run else self._put("ADDED", resource, admitted, None)

    def update(
        self,
        resource: ResourceType,
        obj: Obj,
        *,
        subresource: str = "",
        dry_run: bool = False,
        finish: Finish | None = None,
    ) -> Obj:
        """Store a changed object.

        A resourceVersion in it that is not the stored one raises ApiError 409; none means "whatever is stored".
        `subresource` says which part counts: "" all but status where status is a subresource, "status" only that,
        "*" everything. An update that changes nothing keeps the resourceVersion. The last finalizer's removal from
        an object that is being deleted removes it. `finish` puts the last touch on an object that did change.
        """
        old = self.require(resource, namespace_of(obj), name_of(obj))
        self._check_preconditions(resource, old, obj)
        new = self._merged(resource, old, obj, subresource)
        new = self._admit("UPDATE", resource, old, new)
        new = _shared(resource, old, new)
        if new == old:
            return old
        new = finish(new) if finish else new
        if dry_run:
            return new
        if self._is_over(resource, new):
            return self._drop(resource, new)
        return self._put("MODIFIED", resource, new, old)

    def modify(
        self,
        resource: ResourceType,
        namespace: str,
        name: str,
        change: Callable[[Obj], object],
        subresource: str = "",
    ) -> Obj | None:
        """Copy an object, let `change` mutate the copy, store it. None where the object is gone."""
        old = self.get(resource, namespace, name)
        if old is None:
            return None
        new = clone(old)
        change(new)
        return self.update(resource, new, subresource=subresource)

    def delete(
        self,
        resource: ResourceType,
        namespace: str,
        name: str,
        *,
        grace_seconds: int | None = None,
        propagation: str | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
        dry_run: bool = False,
    ) -> Obj:
        """Delete an object, or mark it as being deleted where something must happen first.

        Finalizers, a Namespace's content and a Pod on a node keep the object until they are done: see `remove` and
        `update`. `propagation` Foreground and Orphan become the finalizers of those names. Raises ApiError 404,
        and 409 where uid or resourceVersion are others.
        """
        old = self.require(resource, namespace, name)
        _check_delete(resource, old, uid, resource_version)
        self._admit("DELETE", resource, old, None)
        grace = _grace(resource, old, grace_seconds)
        finalizers = _finalizers(old, propagation)
        if dry_run:
            return old
        if not finalizers and not grace and resource is not NAMESPACES:
            return self._drop(resource, old)
        if _is_marked(old, grace, finalizers):
            return old
        return self._put("MODIFIED", resource, self._marked(resource, old, grace, finalizers), old)

    def remove(self, resource: ResourceType, namespace: str, name: str) -> Obj | None:
        """The node's last word on a Pod, the namespace controller's on a Namespace. Finalizers keep it."""
        old = self.get(resource, namespace, name)
        if old is None:
            return None
        if old["metadata"].get("finalizers"):
            return self._put("MODIFIED", resource, self._marked(resource, old, 0, _finalizers(old, None)), old)
        return self._drop(resource, old)

    def _admit(self, verb: Verb, resource: ResourceType, old: Obj | None, new: Obj | None) -> Obj:
        for hook in self.hooks:
            answer = hook(verb, resource, old, new)
            new = answer if verb != "DELETE" and answer is not None else new
        return new or {}

    def _new(self, resource: ResourceType, obj: Obj) -> Obj:
        metadata = {**(obj.get("metadata") or {})}
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = metadata["generateName"] + random_suffix()
        if resource.namespaced:
            self._check_namespace(resource, str(metadata.get("namespace") or ""), str(metadata.get("name") or ""))
        else:
            metadata.pop("namespace", None)
        for field in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion"):
            metadata.pop(field, None)
        metadata["uid"] = str(uuid.uuid4())
        metadata["creationTimestamp"] = timestamp(self.clock.now())
        metadata.pop("generation", None)
        if resource.generation or resource.custom:
            metadata["generation"] = 1
        return {"apiVersion": resource.api_version, "kind": resource.kind, **obj, "metadata": metadata}

    def _check_namespace(self, resource: ResourceType, namespace: str, name: str) -> None:
        space = self.require(NAMESPACES, "", namespace)
        if space["metadata"].get("deletionTimestamp"):
            raise errors.terminating(resource, name, namespace)

    def _check_preconditions(self, resource: ResourceType, old: Obj, new: Obj) -> None:
        stored, sent = old["metadata"], new["metadata"]
        if sent.get("uid") and sent["uid"] != stored["uid"]:
            raise errors.conflict(
                resource,
                stored["name"],
                f"Precondition failed: UID in precondition: {sent['uid']}, UID in object meta: {stored['uid']}",
            )
        if sent.get("resourceVersion") and sent["resourceVersion"] != stored["resourceVersion"]:
            raise errors.conflict(resource, stored["name"])

    def _merged(self, resource: ResourceType, old: Obj, obj: Obj, subresource: str) -> Obj:
        if subresource == "status":
            merged = {**old}
            merged.pop("status", None)
            return {**merged, "status": obj["status"]} if "status" in obj else merged
        metadata = {key: value for key, value in obj["metadata"].items() if key not in _KEPT}
        metadata |= {key: old["metadata"][key] for key in _KEPT if key in old["metadata"]}
        metadata["resourceVersion"] = old["metadata"]["resourceVersion"]
        new = {"apiVersion": resource.api_version, "kind": resource.kind, **obj, "metadata": metadata}
        if resource.has_status and subresource != EVERYTHING:
            new.pop("status", None)
            if "status" in old:
                new["status"] = old["status"]
        return new

    def _is_over(self, resource: ResourceType, obj: Obj) -> bool:
        metadata = obj["metadata"]
        marked = metadata.get("deletionTimestamp") and not metadata.get("deletionGracePeriodSeconds")
        return bool(marked) and not metadata.get("finalizers") and resource is not NAMESPACES

    def _marked(self, resource: ResourceType, old: Obj, grace: int, finalizers: Sequence[str]) -> Obj:
        metadata = {**old["metadata"], "deletionGracePeriodSeconds": grace}
        metadata.setdefault("deletionTimestamp", timestamp(self.clock.now() + dt.timedelta(seconds=grace)))
        if finalizers:
            metadata["finalizers"] = [*finalizers]
        if "generation" in metadata and "deletionTimestamp" not in old["metadata"]:
            metadata["generation"] += 1
        new = {**old, "metadata": metadata}
        if resource is NAMESPACES:
            new["status"] = {**(old.get("status") or {}), "phase": "Terminating"}
            metadata.pop("deletionGracePeriodSeconds")
        return new

    def _put(self, change: ChangeType, resource: ResourceType, obj: Obj, old: Obj | None) -> Obj:
        self._version += 1
        stored = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._version)}}
        space = self._objects.setdefault(resource.key, {}).setdefault(namespace_of(obj), {})
        space[name_of(obj)] = stored
        self.log.append(Change(change, resource, stored, old, self._version))
        return stored

    def _drop(self, resource: ResourceType, obj: Obj) -> Obj:
        self._version += 1
        last = self._objects[resource.key][namespace_of(obj)].pop(name_of(obj))
        gone = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._version)}}
        self.log.append(Change("DELETED", resource, gone, last, self._version))
        return gone


def _check_delete(resource: ResourceType, old: Obj, uid: str | None, resource_version: str | None) -> None:
    metadata = old["metadata"]
    if uid and uid != metadata["uid"]:
        why = (
            f"the UID in the precondition ({uid}) does not match the UID in record ({metadata['uid']}). "
            "The object might have been deleted and then recreated"
        )
        raise errors.precondition(resource, metadata["name"], why)
    if resource_version and resource_version != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({resource_version}) does not match the ResourceVersion in "
            f"record ({metadata['resourceVersion']}). The object might have been modified"
        )
        raise errors.precondition(resource, metadata["name"], why)


def _grace(resource: ResourceType, obj: Obj, asked: int | None) -> int:
    """How long a Pod on a node has to end, in seconds; nothing else has grace."""
    spec = obj.get("spec") or {}
    if resource is not PODS or not spec.get("nodeName"):
        return 0
    if (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    if asked is not None:
        return max(0, asked)
    return int(spec.get("terminationGracePeriodSeconds", 30))


def _finalizers(obj: Obj, propagation: str | None) -> list[str]:
    finalizers = list(obj["metadata"].get("finalizers") or [])
    wanted = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}.get(propagation or "")
    return [*finalizers, wanted] if wanted and wanted not in finalizers else finalizers


def _is_marked(obj: Obj, grace: int, finalizers: list[str]) -> bool:
    """Whether a second delete would change nothing: deletion only ever gets shorter."""
    metadata = obj["metadata"]
    if not metadata.get("deletionTimestamp"):
        return False
    return bool(
        grace >= metadata.get("deletionGracePeriodSeconds", 0) and finalizers == (metadata.get("finalizers") or [])
    )


def _shared(resource: ResourceType, old: Obj, new: Obj) -> Obj:
    """New, sharing what is equal with old (memory), with the generation that its change calls for."""
    new = {key: old[key] if key in old and old[key] == value else value for key, value in new.items()}
    if "generation" in old["metadata"] and _is_new_generation(resource, old, new):
        new["metadata"] = {**new["metadata"], "generation": old["metadata"]["generation"] + 1}
    return new


def _is_new_generation(resource: ResourceType, old: Obj, new: Obj) -> bool:
    ignored = {"metadata", "status"} if resource.has_status or not resource.custom else {"metadata"}
    return any(old.get(key) != new.get(key) for key in (old.keys() | new.keys()) - ignored)
