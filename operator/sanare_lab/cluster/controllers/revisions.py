"""Revisions: the history of a StatefulSet's or DaemonSet's template, as ControllerRevisions."""

from __future__ import annotations

from collections.abc import Iterable

from sanare_lab.cluster.controllers.controller import is_owned, key_of, reference_to
from sanare_lab.cluster.controllers.rollout import template_hash
from sanare_lab.cluster.objects import Obj, clone, name_of, namespace_of
from sanare_lab.cluster.resources import CONTROLLER_REVISIONS
from sanare_lab.cluster.store import Store

HASH = "controller-revision-hash"


def revisions_of(store: Store, owner: Obj) -> list[Obj]:
    """The owner's revisions, oldest first."""
    found = [item for item in store.list(CONTROLLER_REVISIONS, namespace_of(owner)) if is_owned(item, owner)]
    return sorted(found, key=lambda item: int(item["revision"]))


def current_revision(store: Store, owner: Obj, label: str) -> Obj:
    """The revision of the present template, made where there is none, and numbered highest."""
    template = owner["spec"]["template"]
    data = {"spec": {"template": {**template, "$patch": "replace"}}}
    history = revisions_of(store, owner)
    number = int(history[-1]["revision"]) + 1 if history else 1
    same = next((item for item in history if item["data"] == data), None)
    if same is None:
        return _create(store, owner, data, number, label)
    if same is not history[-1]:
        store.modify(CONTROLLER_REVISIONS, *key_of(same), lambda copy: copy.update(revision=number))
    return same


def _create(store: Store, owner: Obj, data: Obj, number: int, label: str) -> Obj:
    hashed = template_hash(owner["spec"]["template"])
    name = f"{name_of(owner)}-{hashed}"
    found = store.get(CONTROLLER_REVISIONS, namespace_of(owner), name)
    if found is not None:
        return found
    own = owner["metadata"].get("annotations") or {}
    labels = {**(owner["spec"]["template"].get("metadata", {}).get("labels") or {}), label: hashed}
    metadata: Obj = {"name": name, "namespace": namespace_of(owner), "labels": labels}
    metadata["ownerReferences"] = [reference_to(owner)]
    if own:
        metadata["annotations"] = dict(own)
    return store.create(CONTROLLER_REVISIONS, {"metadata": metadata, "data": clone(data), "revision": number})


def trim(store: Store, owner: Obj, used: Iterable[str]) -> None:
    """Delete the oldest revisions beyond the limit that no pod is of; `used` are their names."""
    keep = set(used)
    idle = [item for item in revisions_of(store, owner)[:-1] if name_of(item) not in keep]
    limit = int(owner["spec"].get("revisionHistoryLimit", 10))
    for item in idle[: max(0, len(idle) - limit)]:
        store.delete(CONTROLLER_REVISIONS, *key_of(item))
