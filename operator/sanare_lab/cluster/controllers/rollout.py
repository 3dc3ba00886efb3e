"""Rollout: how many pods each ReplicaSet of a Deployment may have next, by the real controller's rules. Pure."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from sanare_lab.cluster.objects import Obj, dig, name_of

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAXIMUM = "deployment.kubernetes.io/max-replicas"
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a rolling update may leave the wanted number of pods."""

    replicas: int
    surge: int
    unavailable: int

    @property
    def maximum(self) -> int:
        """Pods in all ReplicaSets together."""
        return self.replicas + self.surge if self.replicas else 0

    @property
    def minimum(self) -> int:
        """Pods that stay available."""
        return self.replicas - self.unavailable


def bounds_of(deployment: Obj) -> Bounds:
    """The bounds that the strategy states; percentages round up for surge and down for unavailable."""
    replicas = int(deployment["spec"].get("replicas", 1))
    if is_recreate(deployment):
        return Bounds(replicas, 0, replicas)
    rolling = dig(deployment, "spec", "strategy", "rollingUpdate") or {}
    surge = _share(rolling.get("maxSurge", "25%"), replicas, up=True)
    unavailable = min(_share(rolling.get("maxUnavailable", "25%"), replicas, up=False), replicas)
    return Bounds(replicas, surge, 1 if not surge and not unavailable and replicas else unavailable)


def is_recreate(deployment: Obj) -> bool:
    """Whether old pods go before new ones come."""
    return bool(dig(deployment, "spec", "strategy", "type") == "Recreate")


def _share(value: object, total: int, *, up: bool) -> int:
    text = str(value)
    if not text.endswith("%"):
        return int(text or 0)
    exact = total * int(text[:-1]) / 100
    return math.ceil(exact) if up else math.floor(exact)


def template_hash(template: Obj, collisions: int = 0) -> str:
    """The value of pod-template-hash: the same for equal templates, in the alphabet of generated names."""
    raw = json.dumps([template, collisions], sort_keys=True, separators=(",", ":")).encode()
    number = int.from_bytes(hashlib.sha256(raw).digest()[:8], "big")
    return "".join(_ALPHABET[(number >> (5 * i)) % len(_ALPHABET)] for i in range(10))


def bare_template(template: Obj) -> Obj:
    """A pod template without what a controller added to it."""
    metadata = {**(template.get("metadata") or {})}
    metadata.pop("creationTimestamp", None)
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != HASH_LABEL}
    return {**template, "metadata": {**metadata, "labels": labels}}


def is_same_template(one: Obj, other: Obj) -> bool:
    """Whether two templates make the same pods."""
    return bare_template(one) == bare_template(other)


def size(replica_set: Obj) -> int:
    """spec.replicas."""
    return int(replica_set["spec"].get("replicas", 1))


def available(replica_set: Obj) -> int:
    """status.availableReplicas."""
    return int(dig(replica_set, "status", "availableReplicas") or 0)


def revision(obj: Obj) -> int:
    """The revision annotation, 0 where there is none."""
    text = (obj["metadata"].get("annotations") or {}).get(REVISION, "0")
    return int(text) if text.isdecimal() else 0


def next_size_of_new(bounds: Bounds, new: Obj, every: Sequence[Obj]) -> int:
    """How large the new ReplicaSet may be now."""
    if size(new) >= bounds.replicas:
        return bounds.replicas
    room = bounds.maximum - sum(size(item) for item in every)
    return size(new) + max(0, min(room, bounds.replicas - size(new)))


def next_sizes_of_old(bounds: Bounds, new: Obj, old: Sequence[Obj]) -> dict[str, int]:
    """How small the old ReplicaSets may be now, by name: first what is not available anyway, then the rest."""
    every = [*old, new]
    sizes = {name_of(item): size(item) for item in old}
    spare = sum(size(item) for item in every) - bounds.minimum - (size(new) - available(new))
    removed_ill = 0
    for item in sorted(old, key=_age):
        take = min(spare - removed_ill, max(0, size(item) - available(item)))
        if take > 0:
            sizes[name_of(item)] -= take
            removed_ill += take
    spare_available = min(sum(available(item) for item in every) - bounds.minimum, spare - removed_ill)
    for item in sorted(old, key=_age):
        take = min(spare_available, sizes[name_of(item)])
        if take > 0:
            sizes[name_of(item)] -= take
            spare_available -= take
    return sizes


def proportional_sizes(bounds: Bounds, every: Sequence[Obj]) -> dict[str, int]:
    """The sizes after the Deployment was scaled in the middle of a rollout: each ReplicaSet takes its share."""
    total = sum(size(item) for item in every)
    change = bounds.maximum - total
    ordered = sorted(every, key=lambda item: (-size(item), _age(item) if change < 0 else -revision(item)))
    sizes = {name_of(item): size(item) for item in every}
    left = change
    for item in ordered:
        annotated = (item["metadata"].get("annotations") or {}).get(MAXIMUM, "")
        before = int(annotated) if annotated.isdecimal() and int(annotated) else total or 1
        share = round(size(item) * bounds.maximum / before) - size(item)
        share = max(left, min(share, 0)) if change < 0 else min(left, max(share, 0))
        sizes[name_of(item)] += share
        left -= share
    if ordered and left:
        first = name_of(ordered[0])
        sizes[first] = max(0, sizes[first] + left)
    return sizes


def _age(replica_set: Obj) -> tuple[str, str]:
    return replica_set["metadata"].get("creationTimestamp", ""), name_of(replica_set)
