"""Claims: bound to volumes that fit, or to new ones where their storage class has a provisioner."""

from __future__ import annotations

from collections.abc import Iterable

from sanare_lab.cluster.controllers.controller import Controller, Key, is_going, key_of
from sanare_lab.cluster.controllers.podstate import is_finished
from sanare_lab.cluster.objects import Obj, clone, dig, labels_of, name_of, namespace_of
from sanare_lab.cluster.quantity import quantity
from sanare_lab.cluster.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
)
from sanare_lab.cluster.selectors import selects
from sanare_lab.cluster.store import Change

PROTECTION = "kubernetes.io/pvc-protection"
_STATIC = "kubernetes.io/no-provisioner"
_BOUND = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}


class ClaimController(Controller):
    """Binding is immediate; a claim in use is kept until its last pod is gone."""

    component = "persistentvolume-controller"
    watches = (PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, STORAGE_CLASSES)

    def keys(self, change: Change) -> Iterable[Key]:
        """The claim; for a volume or class every open claim, and the volume itself (namespace empty)."""
        obj = change.object
        if change.resource is PERSISTENT_VOLUME_CLAIMS:
            yield key_of(obj)
            if change.type == "DELETED" and dig(obj, "spec", "volumeName"):
                yield "", obj["spec"]["volumeName"]
        elif change.resource is PODS:
            if change.type == "DELETED" or is_finished(obj):
                yield from ((namespace_of(obj), name) for name in claims_of(obj))
        else:
            if change.resource is PERSISTENT_VOLUMES:
                yield "", name_of(obj)
            yield from (key_of(item) for item in self.store.list(PERSISTENT_VOLUME_CLAIMS))

    def reconcile(self, key: Key) -> float | None:
        """Bind, release, or let go."""
        if not key[0]:
            self._volume(key[1])
            return None
        found = self.store.get(PERSISTENT_VOLUME_CLAIMS, *key)
        if found is None:
            return None
        if is_going(found):
            self._let_go(found)
        elif dig(found, "spec", "volumeName") and dig(found, "status", "phase") == "Bound":
            if self.store.get(PERSISTENT_VOLUMES, "", found["spec"]["volumeName"]) is None:
                self._lose(found)
        else:
            self._bind(found)
        return None

    def _volume(self, name: str) -> None:
        volume = self.store.get(PERSISTENT_VOLUMES, "", name)
        if volume is None:
            return None
        reference = dig(volume, "spec", "claimRef")
        if not reference:
            return self.write_status(PERSISTENT_VOLUMES, volume, {"phase": "Available"})
        found = self.store.get(PERSISTENT_VOLUME_CLAIMS, reference["namespace"], reference["name"])
        if found is not None and reference.get("uid") in (None, found["metadata"]["uid"]):
            return None
        if dig(volume, "spec", "persistentVolumeReclaimPolicy") == "Delete" and reference.get("uid"):
            self.store.delete(PERSISTENT_VOLUMES, "", name)
            return None
        if reference.get("uid"):
            self.write_status(PERSISTENT_VOLUMES, volume, {"phase": "Released"})
        else:
            self.write_status(PERSISTENT_VOLUMES, volume, {"phase": "Available"})
        return None

    def _let_go(self, found: Obj) -> None:
        pods = self.store.list(PODS, namespace_of(found))
        if any(name_of(found) in claims_of(pod) and not is_finished(pod) for pod in pods):
            return
        kept = [item for item in found["metadata"].get("finalizers") or [] if item != PROTECTION]
        self.store.modify(
            PERSISTENT_VOLUME_CLAIMS, *key_of(found), lambda copy: copy["metadata"].update(finalizers=kept)
        )

    def _lose(self, found: Obj) -> None:
        self.write_status(PERSISTENT_VOLUME_CLAIMS, found, {**found.get("status", {}), "phase": "Lost"})
        self.events.warning(
            found, "ClaimLost", "Bound claim has lost its PersistentVolume. Any data on it is lost."
        )

    def _bind(self, found: Obj) -> None:
        volume = self._fitting(found) or self._provisioned(found)
        if volume is None:
            return self._explain(found)
        key = key_of(found)
        reference = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": key[0],
            "name": key[1],
            "uid": found["metadata"]["uid"],
        }
        self.store.modify(
            PERSISTENT_VOLUMES, "", name_of(volume), lambda copy: copy["spec"].update(claimRef=reference)
        )
        bound = self.store.require(PERSISTENT_VOLUMES, "", name_of(volume))
        self.write_status(PERSISTENT_VOLUMES, bound, {"phase": "Bound"})
        claimed = self.store.modify(PERSISTENT_VOLUME_CLAIMS, *key, lambda copy: _point(copy, name_of(volume)))
        status = {
            "phase": "Bound",
            "accessModes": clone(volume["spec"].get("accessModes") or []),
            "capacity": clone(volume["spec"].get("capacity") or {}),
        }
        self.write_status(PERSISTENT_VOLUME_CLAIMS, claimed or found, status)
        return None

    def _fitting(self, found: Obj) -> Obj | None:
        fitting = [volume for volume in self.store.list(PERSISTENT_VOLUMES) if fits(found, volume)]
        return min(fitting, key=lambda volume: quantity(dig(volume, "spec", "capacity", "storage")), default=None)

    def _provisioned(self, found: Obj) -> Obj | None:
        name = dig(found, "spec", "storageClassName")
        storage = self.store.get(STORAGE_CLASSES, "", name) if name else None
        if storage is None or storage.get("provisioner") == _STATIC or dig(found, "spec", "volumeName"):
            return None
        volume = {
            "metadata": {"name": f"pvc-{found['metadata']['uid']}"},
            "spec": {
                "accessModes": clone(found["spec"].get("accessModes") or []),
                "capacity": {"storage": dig(found, "spec", "resources", "requests", "storage")},
                "persistentVolumeReclaimPolicy": storage.get("reclaimPolicy", "Delete"),
                "storageClassName": name,
                "volumeMode": "Filesystem",
            },
        }
        created = self.store.create(PERSISTENT_VOLUMES, volume)
        text = f"Successfully provisioned volume {name_of(created)}"
        self.events.normal(found, "ProvisioningSucceeded", text)
        return created

    def _explain(self, found: Obj) -> None:
        name = dig(found, "spec", "storageClassName")
        self.write_status(PERSISTENT_VOLUME_CLAIMS, found, {**(found.get("status") or {}), "phase": "Pending"})
        if not name:
            text = "no persistent volumes available for this claim and no storage class is set"
            self.events.normal(found, "FailedBinding", text)
        elif self.store.get(STORAGE_CLASSES, "", name) is None:
            text = f'storageclass.storage.k8s.io "{name}" not found'
            self.events.warning(found, "ProvisioningFailed", text)


def claims_of(pod: Obj) -> list[str]:
    """The names of the claims that a pod mounts."""
    names = (dig(item, "persistentVolumeClaim", "claimName") for item in dig(pod, "spec", "volumes") or [])
    return [name for name in names if name]


def fits(found: Obj, volume: Obj) -> bool:
    """Whether a volume may be bound to a claim."""
    spec, offered = found["spec"], volume["spec"]
    if spec.get("volumeName"):
        return bool(spec["volumeName"] == name_of(volume)) and _is_free(found, offered)
    reference = offered.get("claimRef") or {}
    if (reference.get("namespace"), reference.get("name")) == key_of(found):
        return _is_free(found, offered)
    selector = spec.get("selector")
    return (
        not reference
        and not is_going(volume)
        and (spec.get("storageClassName") or "") == (offered.get("storageClassName") or "")
        and set(spec.get("accessModes") or []) <= set(offered.get("accessModes") or [])
        and quantity(dig(spec, "resources", "requests", "storage")) <= quantity(dig(offered, "capacity", "storage"))
        and (selector is None or selects(selector, labels_of(volume)))
    )


def _is_free(found: Obj, offered: Obj) -> bool:
    reference = offered.get("claimRef") or {}
    return not reference or (
        (reference.get("namespace"), reference.get("name")) == key_of(found)
        and reference.get("uid") in (None, found["metadata"]["uid"])
    )


def _point(found: Obj, volume: str) -> None:
    found["spec"]["volumeName"] = volume
    found["metadata"].setdefault("annotations", {}).update(_BOUND)
