"""From the object that an alert names to the workload that a repair would change."""

from __future__ import annotations

import re

from sanare import errors
from sanare.api.manifest import Manifest, Ref, owners, text
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND

_CHAIN = 4  # Pod, ReplicaSet, Deployment, and one to spare
_CLIMBED = frozenset({"Pod", "ReplicaSet"})
# The five characters that Kubernetes adds to the name of a pod's owner.
_GENERATED = re.compile(r"(.+)-[bcdfghjklmnpqrstvwxz2456789]{5}")
_ORDINAL = re.compile(r"(.+)-\d+")


async def workload_of(kube: KubeClient, ref: Ref) -> Ref:
    """The workload behind an object, itself where nothing owns it. Raises NotFound, Forbidden, Unreachable.

    A Pod leads to its ReplicaSet and on to the Deployment; an autoscaler to what it scales; a Job stays a Job.
    """
    if ref.kind == "HorizontalPodAutoscaler":
        return _scaled(await kube.get(BY_KIND[ref.kind], ref.namespace, ref.name), ref)
    for _ in range(_CHAIN):
        if ref.kind not in _CLIMBED:
            break
        owner = await _owner(kube, ref)
        if owner is None:
            break
        ref = owner
    return ref


async def _owner(kube: KubeClient, ref: Ref) -> Ref | None:
    try:
        manifest = await kube.get(BY_KIND[ref.kind], ref.namespace, ref.name)
    except errors.NotFound:
        if ref.kind == "Pod" and (found := await _owner_by_name(kube, ref)):
            return found
        raise
    return next((owner for owner in owners(manifest) if owner.kind in BY_KIND), None)


async def _owner_by_name(kube: KubeClient, pod: Ref) -> Ref | None:
    """The owner of a pod that is gone already: pods are named after it, and it must exist."""
    generated, ordinal = _GENERATED.fullmatch(pod.name), _ORDINAL.fullmatch(pod.name)
    guesses = [(kind, generated[1]) for kind in ("ReplicaSet", "DaemonSet", "Job") if generated]
    guesses += [("StatefulSet", ordinal[1])] if ordinal else []
    for kind, name in guesses:
        try:
            return Ref.of(await kube.get(BY_KIND[kind], pod.namespace, name))
        except errors.NotFound:
            continue
    return None


def _scaled(autoscaler: Manifest, ref: Ref) -> Ref:
    kind = text(autoscaler, "spec", "scaleTargetRef", "kind")
    name = text(autoscaler, "spec", "scaleTargetRef", "name")
    return Ref(kind=kind, namespace=ref.namespace, name=name) if kind in BY_KIND and name else ref
