"""Validation of Pods and of pod templates."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from sanare_lab.cluster.errors import Cause
from sanare_lab.cluster.objects import Obj, dig
from sanare_lab.cluster.quantity import quantity

REQUIRED = "FieldValueRequired"
_PULL = ("Always", "IfNotPresent", "Never")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_IMMUTABLE_POD = (
    "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def bad(path: str, value: Any, why: str) -> Cause:
    """FieldValueInvalid, with the value shown."""
    return Cause(path, f"Invalid value: {json.dumps(value)}: {why}")


def port_causes(value: Any, path: str) -> Iterator[Cause]:
    """A port number, or a port name."""
    if isinstance(value, int):
        if not 1 <= value <= 65535:
            yield bad(path, value, "must be between 1 and 65535, inclusive")
    elif isinstance(value, str):
        if not re.fullmatch(r"[-A-Za-z0-9]+", value):
            yield bad(path, value, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
        elif len(value) > 15:
            yield bad(path, value, "must be no more than 15 characters")
        elif not re.search(r"[a-z]", value):
            yield bad(path, value, "must contain at least one letter (a-z)")


def pod_spec_causes(
    spec: Obj, path: str, *, restart: tuple[str, ...], claimed: tuple[str, ...] = ()
) -> Iterator[Cause]:
    """What is wrong with a pod spec; its owner allows the policies `restart` and gives the volumes `claimed`."""
    volumes = {*claimed, *(volume.get("name") for volume in spec.get("volumes") or ())}
    if not spec.get("containers"):
        yield Cause(f"{path}.containers", "Required value", REQUIRED)
    seen: set[str] = set()
    for field in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            yield from _container(container, f"{path}.{field}[{index}]", volumes, seen)
    policy = spec.get("restartPolicy")
    if policy not in restart:
        yield _unsupported(f"{path}.restartPolicy", policy, restart)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        value = spec["terminationGracePeriodSeconds"]
        yield bad(f"{path}.terminationGracePeriodSeconds", value, "must be greater than or equal to 0")


def _unsupported(path: str, value: Any, supported: tuple[str, ...]) -> Cause:
    shown = ", ".join(json.dumps(item) for item in supported)
    message = f"Unsupported value: {json.dumps(value)}: supported values: {shown}"
    return Cause(path, message, "FieldValueNotSupported")


def _container(container: Obj, path: str, volumes: set[Any], seen: set[str]) -> Iterator[Cause]:
    name = container.get("name")
    if not name:
        yield Cause(f"{path}.name", "Required value", REQUIRED)
    elif name in seen:
        yield Cause(f"{path}.name", f"Duplicate value: {json.dumps(name)}", "FieldValueDuplicate")
    seen.add(str(name))
    if not container.get("image"):
        yield Cause(f"{path}.image", "Required value", REQUIRED)
    elif str(container["image"]).strip() != container["image"]:
        yield bad(f"{path}.image", container["image"], "must not have leading or trailing whitespace")
    yield from _container_lists(container, path, volumes)
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(probe):
            yield from _probe(container[probe], f"{path}.{probe}")
    policy = container.get("imagePullPolicy")
    if policy is not None and policy not in _PULL:
        yield _unsupported(f"{path}.imagePullPolicy", policy, _PULL)
    yield from _resources(container.get("resources") or {}, f"{path}.resources")


def _container_lists(container: Obj, path: str, volumes: set[Any]) -> Iterator[Cause]:
    for index, port in enumerate(container.get("ports") or ()):
        if port.get("containerPort") is None:
            yield Cause(f"{path}.ports[{index}].containerPort", "Required value", REQUIRED)
        yield from port_causes(port.get("containerPort"), f"{path}.ports[{index}].containerPort")
    for index, env in enumerate(container.get("env") or ()):
        yield from _env(env, f"{path}.env[{index}]")
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        yield from _mount(mount, f"{path}.volumeMounts[{index}]", volumes)


def _env(env: Obj, path: str) -> Iterator[Cause]:
    if not env.get("name"):
        yield Cause(f"{path}.name", "Required value", REQUIRED)
    if env.get("value") and env.get("valueFrom"):
        yield Cause(f"{path}.valueFrom", 'Invalid value: "": may not be specified when `value` is not empty')


def _mount(mount: Obj, path: str, volumes: set[Any]) -> Iterator[Cause]:
    if mount.get("name") not in volumes:
        yield Cause(f"{path}.name", f"Not found: {json.dumps(mount.get('name'))}", "FieldValueNotFound")
    if not mount.get("mountPath"):
        yield Cause(f"{path}.mountPath", "Required value", REQUIRED)


def _probe(probe: Obj, path: str) -> Iterator[Cause]:
    handlers = [name for name in _HANDLERS if probe.get(name) is not None]
    if not handlers:
        yield Cause(path, "Required value: must specify a handler type", REQUIRED)
    for name in handlers[1:]:
        why = "Forbidden: may not specify more than 1 handler type"
        yield Cause(f"{path}.{name}", why, "FieldValueForbidden")
    if len(handlers) < 2:
        for name in ("httpGet", "tcpSocket", "grpc"):
            yield from port_causes(dig(probe, name, "port"), f"{path}.{name}.port")
    for key in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        if (probe.get(key) or 0) < 0:
            yield bad(f"{path}.{key}", probe[key], "must be greater than or equal to 0")
    if path.endswith(("livenessProbe", "startupProbe")) and probe.get("successThreshold", 1) != 1:
        yield bad(f"{path}.successThreshold", probe["successThreshold"], "must be 1")


def _resources(resources: Obj, path: str) -> Iterator[Cause]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for part, values in (("limits", limits), ("requests", requests)):
        for name, value in values.items():
            if quantity(value) < 0:
                yield bad(f"{path}.{part}.{name}", value, "must be greater than or equal to 0")
    for name, value in requests.items():
        if name in limits and quantity(value) > quantity(limits[name]):
            why = f"must be less than or equal to {name} limit of {limits[name]}"
            yield bad(f"{path}.requests", value, why)


def pod_update_causes(new: Obj, old: Obj) -> Iterator[Cause]:
    """What may not change in a Pod that exists."""
    if not old.get("nodeName") and new.get("nodeName"):
        old = {**old, "nodeName": new["nodeName"]}
    if _fixed(new) != _fixed(old):
        yield Cause("spec", _IMMUTABLE_POD, "FieldValueForbidden")


def _fixed(spec: Obj) -> Obj:
    free = ("activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "ephemeralContainers")
    fixed = {key: value for key, value in spec.items() if key not in free}
    for field in ("containers", "initContainers"):
        if field in fixed:
            fixed[field] = [{k: v for k, v in item.items() if k != "image"} for item in fixed[field]]
    return fixed
