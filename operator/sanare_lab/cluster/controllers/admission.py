"""Admission: what the API server's plugins add to new objects, and what they refuse. Store hooks."""

from __future__ import annotations

from sanare_lab.cluster import errors
from sanare_lab.cluster.controllers.claims import PROTECTION
from sanare_lab.cluster.objects import Obj, dig, name_of, namespace_of
from sanare_lab.cluster.quantity import quantity
from sanare_lab.cluster.resources import (
    DAEMON_SETS,
    LIMIT_RANGES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    SERVICE_ACCOUNTS,
    STORAGE_CLASSES,
    ResourceType,
)
from sanare_lab.cluster.store import Store, Verb

_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_LOST_NODE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class ServiceAccountAdmission:
    """A pod runs as an account that exists; `default` where it names none."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, verb: Verb, resource: ResourceType, old: Obj | None, new: Obj | None) -> Obj | None:
        """Raises ApiError 403 for an account that is not there. `default` is made before it can be missed."""
        if verb != "CREATE" or resource is not PODS or new is None:
            return new
        name, namespace = dig(new, "spec", "serviceAccountName") or "default", namespace_of(new)
        if name != "default" and self._store.get(SERVICE_ACCOUNTS, namespace, name) is None:
            why = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
            raise errors.forbidden(PODS, new["metadata"].get("generateName") or name_of(new), why)
        spec = {**new["spec"], "serviceAccountName": name, "serviceAccount": name}
        spec["tolerations"] = [*(spec.get("tolerations") or []), *_tolerations(spec.get("tolerations") or [])]
        return {**new, "spec": spec}


def _tolerations(present: list[Obj]) -> list[Obj]:
    """DefaultTolerationSeconds."""
    tolerated = {item.get("key") for item in present}
    return [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in _LOST_NODE
        if key not in tolerated
    ]


class ClaimAdmission:
    """A claim is protected while it is used, and gets the default class where it names none."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, verb: Verb, resource: ResourceType, old: Obj | None, new: Obj | None) -> Obj | None:
        """Never refuses."""
        if verb != "CREATE" or resource is not PERSISTENT_VOLUME_CLAIMS or new is None:
            return new
        finalizers = new["metadata"].get("finalizers") or []
        metadata = {**new["metadata"], "finalizers": [*finalizers, PROTECTION]}
        spec = dict(new.get("spec") or {})
        if spec.get("storageClassName") is None:
            default = next((item for item in self._store.list(STORAGE_CLASSES) if _is_default(item)), None)
            if default is not None:
                spec["storageClassName"] = name_of(default)
        return {**new, "metadata": metadata, "spec": spec}


def _is_default(storage_class: Obj) -> bool:
    return (storage_class["metadata"].get("annotations") or {}).get(_DEFAULT_CLASS) == "true"


class TemplateGeneration:
    """A DaemonSet counts the changes of its template in an annotation, which its pods carry as a label."""

    def __call__(self, verb: Verb, resource: ResourceType, old: Obj | None, new: Obj | None) -> Obj | None:
        """Never refuses."""
        if verb == "DELETE" or resource is not DAEMON_SETS or new is None:
            return new
        before = (dig(old or {}, "metadata", "annotations") or {}).get(TEMPLATE_GENERATION, "0")
        changed = old is None or dig(old, "spec", "template") != dig(new, "spec", "template")
        count = str(int(before) + 1) if changed else before
        metadata = {
            **new["metadata"],
            "annotations": {**(dig(new, "metadata", "annotations") or {}), TEMPLATE_GENERATION: count},
        }
        return {**new, "metadata": metadata}


class LimitAdmission:
    """LimitRanges of type Container: defaults for what is not said, and bounds for what is."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, verb: Verb, resource: ResourceType, old: Obj | None, new: Obj | None) -> Obj | None:
        """Raises ApiError 403 outside the bounds."""
        if verb != "CREATE" or resource is not PODS or new is None:
            return new
        for limits in self._store.list(LIMIT_RANGES, namespace_of(new)):
            for item in dig(limits, "spec", "limits") or []:
                if item.get("type") == "Container":
                    new = self._limited(new, item)
        return new

    def _limited(self, pod: Obj, item: Obj) -> Obj:
        spec = {**pod["spec"]}
        for field in ("containers", "initContainers"):
            if spec.get(field):
                spec[field] = [_with_defaults(container, item) for container in spec[field]]
        faults = [fault for container in spec["containers"] for fault in _violations(container, item)]
        if faults:
            text = faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
            raise errors.forbidden(PODS, name_of(pod), text)
        return {**pod, "spec": spec}


def _with_defaults(container: Obj, item: Obj) -> Obj:
    resources = container.get("resources") or {}
    limits = {**(item.get("default") or {}), **(resources.get("limits") or {})}
    requests = {**(item.get("defaultRequest") or item.get("default") or {}), **(resources.get("requests") or {})}
    filled = {key: value for key, value in (("limits", limits), ("requests", requests)) if value}
    return {**container, "resources": {**resources, **filled}}


def _violations(container: Obj, item: Obj) -> list[str]:
    found = []
    resources = container.get("resources") or {}
    for name, most in sorted((item.get("max") or {}).items()):
        limit = (resources.get("limits") or {}).get(name)
        if limit is None:
            found.append(f"maximum {name} usage per Container is {most}.  No limit is specified")
        elif quantity(limit) > quantity(most):
            found.append(f"maximum {name} usage per Container is {most}, but limit is {limit}")
    for name, least in sorted((item.get("min") or {}).items()):
        request = (resources.get("requests") or {}).get(name)
        if request is None:
            found.append(f"minimum {name} usage per Container is {least}.  No request is specified")
        elif quantity(request) < quantity(least):
            found.append(f"minimum {name} usage per Container is {least}, but request is {request}")
    return found
