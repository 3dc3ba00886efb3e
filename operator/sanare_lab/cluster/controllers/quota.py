"""Quota: what a namespace's ResourceQuotas allow, refused at admission, and told in their status."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sanare_lab.cluster import errors
from sanare_lab.cluster.controllers.controller import Controller, Key, key_of
from sanare_lab.cluster.controllers.podstate import is_finished
from sanare_lab.cluster.objects import Obj, dig, name_of, namespace_of
from sanare_lab.cluster.quantity import quantity, show
from sanare_lab.cluster.resources import (
    CONFIG_MAPS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    REPLICATION_CONTROLLERS,
    RESOURCE_QUOTAS,
    SECRETS,
    SERVICES,
    ResourceType,
)
from sanare_lab.cluster.store import Change, Store, Verb

_COMPUTE = ("requests.cpu", "requests.memory", "limits.cpu", "limits.memory", "cpu", "memory")
_COUNTED = (CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, REPLICATION_CONTROLLERS, RESOURCE_QUOTAS, SECRETS, SERVICES)


class QuotaAdmission:
    """The hook: refuses what would exceed a quota. Usage is counted anew each time, so that it cannot drift."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, verb: Verb, resource: ResourceType, old: Obj | None, new: Obj | None) -> Obj | None:
        """Raises ApiError 403."""
        if verb != "CREATE" or new is None or resource is RESOURCE_QUOTAS or not resource.namespaced:
            return new
        for quota in self._store.list(RESOURCE_QUOTAS, namespace_of(new)):
            refusal = self._refusal(quota, resource, new)
            if refusal:
                raise errors.forbidden(resource, name_of(new), refusal)
        return new

    def _refusal(self, quota: Obj, resource: ResourceType, new: Obj) -> str:
        hard = dig(quota, "spec", "hard") or {}
        missing = list(_unspecified(hard, new)) if resource is PODS else []
        if missing:
            return f"failed quota: {name_of(quota)}: must specify {'; '.join(missing)}"
        asked = {key: cost(key, resource, new) for key in hard}
        asked = {key: value for key, value in asked.items() if value}
        if not asked:
            return ""
        used = {key: usage(self._store, namespace_of(new), key) for key in asked}
        over = [key for key in sorted(asked) if used[key] + asked[key] > quantity(hard[key])]
        if not over:
            return ""
        requested, taken = (",".join(f"{key}={_shown(key, part[key])}" for key in over) for part in (asked, used))
        limited = ",".join(f"{key}={hard[key]}" for key in over)
        return f"exceeded quota: {name_of(quota)}, requested: {requested}, used: {taken}, limited: {limited}"


class QuotaController(Controller):
    """Keeps status.hard and status.used."""

    component = "resourcequota-controller"
    watches = (RESOURCE_QUOTAS, PODS, *(item for item in _COUNTED if item is not RESOURCE_QUOTAS))

    def keys(self, change: Change) -> Iterable[Key]:
        """The quotas of the namespace."""
        if change.resource is RESOURCE_QUOTAS:
            yield key_of(change.object)
        elif change.type != "MODIFIED" or (change.resource is PODS and is_finished(change.object)):
            yield from (key_of(item) for item in self.store.list(RESOURCE_QUOTAS, namespace_of(change.object)))

    def reconcile(self, key: Key) -> float | None:
        """Count."""
        quota = self.store.get(RESOURCE_QUOTAS, *key)
        if quota is not None:
            hard = dig(quota, "spec", "hard") or {}
            used = {name: _shown(name, usage(self.store, key[0], name)) for name in hard}
            self.write_status(RESOURCE_QUOTAS, quota, {"hard": hard, "used": used})
        return None


def usage(store: Store, namespace: str, key: str) -> float:
    """How much of one resource a namespace uses. A pod that is ending still counts; one that has ended does not."""
    resource = counted_by(store, key)
    if resource is None:
        return 0.0
    return sum(cost(key, resource, obj) for obj in store.list(resource, namespace))


def counted_by(store: Store, key: str) -> ResourceType | None:
    """The kind that a quota key counts."""
    if key == "pods" or key in _COMPUTE:
        return PODS
    if key == "requests.storage":
        return PERSISTENT_VOLUME_CLAIMS
    plural, _, group = key.removeprefix("count/").partition(".")
    wanted = f"{plural}.{group}"
    return next((item for item in store.registry if item.key == wanted), None)


def cost(key: str, resource: ResourceType, obj: Obj) -> float:
    """How much of a quota key one object takes."""
    if resource is PODS and key != "count/pods":
        return 0.0 if is_finished(obj) else _pod_cost(key, obj)
    if key == "requests.storage" and resource is PERSISTENT_VOLUME_CLAIMS:
        return quantity(dig(obj, "spec", "resources", "requests", "storage") or "0")
    if key == f"count/{resource.qualified}" or (resource in _COUNTED and key == resource.plural):
        return 1.0
    return 0.0


def _pod_cost(key: str, pod: Obj) -> float:
    if key == "pods":
        return 1.0
    if key not in _COMPUTE:
        return 0.0
    part, name = _split(key)
    mains = dig(pod, "spec", "containers") or []
    inits = dig(pod, "spec", "initContainers") or []
    total = sum(_asked(item, part, name) for item in mains)
    return max([total, *(_asked(item, part, name) for item in inits)])


def _split(key: str) -> tuple[str, str]:
    part, _, name = key.rpartition(".")
    return part or "requests", name


def _asked(container: Obj, part: str, name: str) -> float:
    resources = container.get("resources") or {}
    found = (resources.get(part) or {}).get(name)
    if found is None and part == "requests":
        found = (resources.get("limits") or {}).get(name)
    return quantity(found or "0")


def _unspecified(hard: Obj, pod: Obj) -> Iterator[str]:
    for key in sorted(hard):
        if key not in _COMPUTE:
            continue
        part, name = _split(key)
        lacking = [item["name"] for item in dig(pod, "spec", "containers") or [] if not _asked(item, part, name)]
        if lacking:
            yield f"{key} for: {','.join(lacking)}"


def _shown(key: str, value: float) -> str:
    if key.endswith("cpu"):
        return show(value, "m")
    return show(value, "Mi" if key.endswith(("memory", "storage")) else "")
