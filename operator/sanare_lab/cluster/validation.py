"""Validation of built-in kinds: the rules that everyday use and repairs meet. A store hook, after all that change.

Messages are the real server's. What no one here can run into is left out; docs/embedded-cluster.md says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from sanare_lab.cluster import resources as kinds
from sanare_lab.cluster.errors import Cause, invalid
from sanare_lab.cluster.objects import Obj, dig, labels_of, name_of
from sanare_lab.cluster.resources import ResourceType
from sanare_lab.cluster.selectors import selects
from sanare_lab.cluster.store import Verb
from sanare_lab.cluster.validation_pod import REQUIRED, bad, pod_spec_causes, pod_update_causes, port_causes

Rule: TypeAlias = Callable[[Obj, Obj | None], Iterator[Cause]]

_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_SUBDOMAIN_WORDS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_WORDS = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_LABEL_VALUE = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_LABEL_VALUE_WORDS = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_DATA_KEY_WORDS = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME', "
    " or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
_FREE_NAMES = (kinds.ROLES, kinds.ROLE_BINDINGS, kinds.CLUSTER_ROLES, kinds.CLUSTER_ROLE_BINDINGS)
_LABEL_NAMES = (kinds.NAMESPACES, kinds.SERVICES)


def validate(verb: Verb, resource: ResourceType, old: Obj | None, new: Obj | None) -> Obj | None:
    """Refuse an object that is wrong. Raises ApiError 422."""
    if new is None or (old is not None and _is_only_status(old, new)):
        return new
    found = list(_metadata_causes(resource, new))
    rule = _RULES.get(resource.key)
    if rule is not None:
        found += rule(new, old)
    if found:
        raise invalid(resource, name_of(new), found)
    return new


def _is_only_status(old: Obj, new: Obj) -> bool:
    return all(old.get(key) is new.get(key) for key in (old.keys() | new.keys()) - {"status"})


def _metadata_causes(resource: ResourceType, obj: Obj) -> Iterator[Cause]:
    name = name_of(obj)
    if not name:
        yield Cause("metadata.name", "Required value: name or generateName is required", REQUIRED)
    elif resource in _LABEL_NAMES and (not re.fullmatch(_LABEL, name) or len(name) > 63):
        yield bad("metadata.name", name, _LABEL_WORDS)
    elif resource not in _FREE_NAMES and (not re.fullmatch(_SUBDOMAIN, name) or len(name) > 253):
        yield bad("metadata.name", name, _SUBDOMAIN_WORDS)
    for value in labels_of(obj).values():
        if not re.fullmatch(_LABEL_VALUE, value):
            yield bad("metadata.labels", value, _LABEL_VALUE_WORDS)
        elif len(value) > 63:
            yield Cause("metadata.labels", f"Invalid value: {json.dumps(value)}: must be no more than 63 bytes")


def _go_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _count(obj: Obj, *path: str) -> Iterator[Cause]:
    value = dig(obj, *path)
    if value is not None and value < 0:
        yield bad(".".join(path), value, "must be greater than or equal to 0")


def _workload(obj: Obj, old: Obj | None) -> Iterator[Cause]:
    """Deployment, ReplicaSet, StatefulSet, DaemonSet: replicas, selector, template."""
    yield from _count(obj, "spec", "replicas")
    selector, labels = dig(obj, "spec", "selector"), dig(obj, "spec", "template", "metadata", "labels")
    if selector is None:
        yield Cause("spec.selector", "Required value", REQUIRED)
    if not selects(selector, labels or {}):
        shown = _go_json(labels) if labels else "null"
        why = "`selector` does not match template `labels`"
        yield Cause("spec.template.metadata.labels", f"Invalid value: {shown}: {why}")
    elif selector is not None and not (selector.get("matchLabels") or selector.get("matchExpressions")):
        yield Cause("spec.selector", "Invalid value: {}: empty selector is invalid for deployment")
    spec = dig(obj, "spec", "template", "spec") or {}
    claimed = tuple(name_of(claim) for claim in dig(obj, "spec", "volumeClaimTemplates") or ())
    yield from pod_spec_causes(spec, "spec.template.spec", restart=("Always",), claimed=claimed)
    yield from _strategy(obj)
    if old is not None and dig(old, "spec", "selector") != selector:
        yield Cause("spec.selector", f"Invalid value: {_go_json(selector)}: field is immutable")


def _strategy(obj: Obj) -> Iterator[Cause]:
    strategy = dig(obj, "spec", "strategy")
    if not strategy:
        return
    rolling = strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate" and rolling:
        why = "Forbidden: may not be specified when strategy `type` is 'Recreate'"
        yield Cause("spec.strategy.rollingUpdate", why, "FieldValueForbidden")
    elif rolling and {str(rolling.get("maxUnavailable")), str(rolling.get("maxSurge"))} <= {"0", "0%"}:
        why = "may not be 0 when `maxSurge` is 0"
        yield bad("spec.strategy.rollingUpdate.maxUnavailable", rolling.get("maxUnavailable"), why)


_STATEFUL_FREE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def _stateful_set(obj: Obj, old: Obj | None) -> Iterator[Cause]:
    changed = old is not None and any(
        dig(old, "spec", key) != dig(obj, "spec", key) for key in obj["spec"].keys() - set(_STATEFUL_FREE)
    )
    yield from (c for c in _workload(obj, old) if not changed or "immutable" not in c.message)
    if changed:
        names = "', '".join(_STATEFUL_FREE[:-1])
        why = f"Forbidden: updates to statefulset spec for fields other than '{names}' and 'minReadySeconds' are"
        yield Cause("spec", f"{why} forbidden", "FieldValueForbidden")


def _job(obj: Obj, old: Obj | None) -> Iterator[Cause]:
    spec = dig(obj, "spec", "template", "spec") or {}
    yield from pod_spec_causes(spec, "spec.template.spec", restart=("OnFailure", "Never"))
    for key in ("completions", "parallelism", "backoffLimit"):
        yield from _count(obj, "spec", key)
    if old is None:
        return
    for key in ("completions", "selector", "template"):
        if dig(old, "spec", key) != dig(obj, "spec", key):
            shown = _go_json(dig(obj, "spec", key))
            yield Cause(f"spec.{key}", f"Invalid value: {shown}: field is immutable")


def _cron_job(obj: Obj, old: Obj | None) -> Iterator[Cause]:
    schedule = str(dig(obj, "spec", "schedule") or "")
    if not schedule:
        yield Cause("spec.schedule", "Required value", REQUIRED)
    elif not schedule.startswith("@") and len(schedule.split()) != 5:
        why = f"expected exactly 5 fields, found {len(schedule.split())}: [{schedule}]"
        yield bad("spec.schedule", schedule, why)
    spec = dig(obj, "spec", "jobTemplate", "spec", "template", "spec") or {}
    yield from pod_spec_causes(spec, "spec.jobTemplate.spec.template.spec", restart=("OnFailure", "Never"))


def _pod(obj: Obj, old: Obj | None) -> Iterator[Cause]:
    yield from pod_spec_causes(obj.get("spec") or {}, "spec", restart=("Always", "OnFailure", "Never"))
    if old is not None:
        yield from pod_update_causes(obj["spec"], old["spec"])


_SERVICE_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")


def _service(obj: Obj, _: Obj | None) -> Iterator[Cause]:
    spec = obj.get("spec") or {}
    ports, kind = spec.get("ports") or [], spec.get("type")
    if not ports and kind != "ExternalName" and spec.get("clusterIP") != "None":
        yield Cause("spec.ports", "Required value", REQUIRED)
    for index, port in enumerate(ports):
        yield from _service_port(port, f"spec.ports[{index}]", several=len(ports) > 1)
    names = [port.get("name") for port in ports]
    for index, name in enumerate(names):
        if name and name in names[:index]:
            shown = json.dumps(name)
            yield Cause(f"spec.ports[{index}].name", f"Duplicate value: {shown}", "FieldValueDuplicate")
    if kind not in _SERVICE_TYPES:
        supported = ", ".join(json.dumps(item) for item in _SERVICE_TYPES)
        message = f"Unsupported value: {json.dumps(kind)}: supported values: {supported}"
        yield Cause("spec.type", message, "FieldValueNotSupported")


def _service_port(port: Obj, path: str, *, several: bool) -> Iterator[Cause]:
    if several and not port.get("name"):
        yield Cause(f"{path}.name", "Required value", REQUIRED)
    yield from port_causes(port.get("port"), f"{path}.port")
    yield from port_causes(port.get("targetPort"), f"{path}.targetPort")


def _config_map(obj: Obj, old: Obj | None) -> Iterator[Cause]:
    for key in obj.get("data") or {}:
        if not re.fullmatch(r"[-._a-zA-Z0-9]+", key):
            yield bad(f"data[{key}]", key, _DATA_KEY_WORDS)
    if old is not None and old.get("immutable") and old.get("data") != obj.get("data"):
        why = "Forbidden: field is immutable when `immutable` is set"
        yield Cause("data", why, "FieldValueForbidden")


def _secret(obj: Obj, old: Obj | None) -> Iterator[Cause]:
    yield from _config_map(obj, old)
    if old is not None and old.get("type") != obj.get("type"):
        yield bad("type", obj.get("type"), "field is immutable")


def _claim(obj: Obj, old: Obj | None) -> Iterator[Cause]:
    spec = obj.get("spec") or {}
    if not spec.get("accessModes"):
        yield Cause("spec.accessModes", "Required value: at least 1 access mode is required", REQUIRED)
    if dig(spec, "resources", "requests", "storage") is None:
        yield Cause("spec.resources[storage]", "Required value", REQUIRED)
    if old is None:
        return
    before = old.get("spec") or {}
    free = {"resources"} if before.get("volumeName") else {"resources", "volumeName"}
    changed = any(before.get(key) != spec.get(key) for key in (before.keys() | spec.keys()) - free)
    grows = before.get("resources") != spec.get("resources") and dig(old, "status", "phase") != "Bound"
    if changed or grows:
        why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for "
        yield Cause("spec", f"Forbidden: {why}bound claims", "FieldValueForbidden")


_RULES: dict[str, Rule] = {
    kinds.PODS.key: _pod,
    kinds.DEPLOYMENTS.key: _workload,
    kinds.REPLICA_SETS.key: _workload,
    kinds.DAEMON_SETS.key: _workload,
    kinds.STATEFUL_SETS.key: _stateful_set,
    kinds.JOBS.key: _job,
    kinds.CRON_JOBS.key: _cron_job,
    kinds.SERVICES.key: _service,
    kinds.CONFIG_MAPS.key: _config_map,
    kinds.SECRETS.key: _secret,
    kinds.PERSISTENT_VOLUME_CLAIMS.key: _claim,
}
