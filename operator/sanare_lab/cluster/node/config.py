"""Config: the environment and the user of a container, or why it cannot be created."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sanare_lab.cluster.node.images import Image
from sanare_lab.cluster.node.volumes import Content, config_data, field_value, secret_data
from sanare_lab.cluster.objects import Obj, dig, name_of, namespace_of
from sanare_lab.cluster.quantity import quantity
from sanare_lab.cluster.resources import CONFIG_MAPS, SECRETS, ResourceType
from sanare_lab.cluster.store import Store

_REFERENCE = re.compile(r"\$(\$|\(([A-Za-z_.-][\w.-]*)\))")
_SOURCES: dict[str, tuple[ResourceType, str, str]] = {
    "configMap": (CONFIG_MAPS, "configmap", "ConfigMap"),
    "secret": (SECRETS, "secret", "Secret"),
}


class ConfigError(Exception):
    """The container cannot be created; the text is the message of CreateContainerConfigError."""


def environment(store: Store, pod: Obj, container: Obj, status: Mapping[str, str]) -> dict[str, str]:
    """The variables of a container. `status` gives status.podIP and the like. Raises ConfigError."""
    env: dict[str, str] = {"HOSTNAME": str(dig(pod, "spec", "hostname") or name_of(pod)), "PATH": "/bin"}
    for source in container.get("envFrom") or []:
        data = _source(store, pod, source) or {}
        env |= {source.get("prefix", "") + key: value.decode(errors="replace") for key, value in data.items()}
    for entry in container.get("env") or []:
        value = _value(store, pod, container, entry, status)
        if value is not None:
            env[entry["name"]] = expand(value, env) if "valueFrom" not in entry else value
    return env


def expand(text: str, env: Mapping[str, str]) -> str:
    """`$(NAME)` replaced where NAME is known, `$$` by `$`."""
    return _REFERENCE.sub(lambda m: "$" if m[1] == "$" else env.get(m[2], m[0]), text)


def expand_all(words: Sequence[str] | None, env: Mapping[str, str]) -> list[str]:
    """`expand` for a command or its arguments."""
    return [expand(str(word), env) for word in words or []]


def check_user(pod: Obj, container: Obj, image: Image) -> None:
    """Refuse root where runAsNonRoot is set. Raises ConfigError."""
    user = _security(pod, container, "runAsUser")
    if not _security(pod, container, "runAsNonRoot"):
        return
    where = f'(pod: "{full_name(pod)}", container: {container["name"]})'
    if user == 0:
        raise ConfigError(f"container's runAsUser breaks non-root policy {where}")
    if user is None and image.user == 0:
        raise ConfigError(f"container has runAsNonRoot and image will run as root {where}")


def full_name(pod: Obj) -> str:
    """`name_namespace(uid)`, as the kubelet names a pod."""
    return f"{name_of(pod)}_{namespace_of(pod)}({pod['metadata']['uid']})"


def _security(pod: Obj, container: Obj, field: str) -> object:
    own = dig(container, "securityContext", field)
    return own if own is not None else dig(pod, "spec", "securityContext", field)


def _source(store: Store, pod: Obj, source: Obj) -> Content | None:
    for kind, (resource, label, _) in _SOURCES.items():
        reference = source.get(f"{kind}Ref")
        if reference is not None:
            return _data(store, resource, label, namespace_of(pod), reference)
    return None


def _data(store: Store, resource: ResourceType, label: str, namespace: str, reference: Obj) -> Content | None:
    found = store.get(resource, namespace, reference.get("name", ""))
    if found is None:
        if reference.get("optional"):
            return None
        raise ConfigError(f'{label} "{reference.get("name", "")}" not found')
    return config_data(found) if resource is CONFIG_MAPS else secret_data(found)


def _value(store: Store, pod: Obj, container: Obj, entry: Obj, status: Mapping[str, str]) -> str | None:
    source = entry.get("valueFrom")
    if not source:
        return str(entry.get("value") or "")
    if "fieldRef" in source:
        return field_value(pod, source["fieldRef"].get("fieldPath", ""), status)
    if "resourceFieldRef" in source:
        return _resource(container, source["resourceFieldRef"].get("resource", ""))
    return _key(store, pod, source)


def _key(store: Store, pod: Obj, source: Obj) -> str | None:
    namespace = namespace_of(pod)
    for kind, (resource, label, title) in _SOURCES.items():
        reference = source.get(f"{kind}KeyRef")
        if reference is None:
            continue
        data = _data(store, resource, label, namespace, reference)
        if data is None:
            return None
        if reference.get("key") not in data:
            if reference.get("optional"):
                return None
            where = f"{namespace}/{reference.get('name')}"
            raise ConfigError(f"couldn't find key {reference.get('key')} in {title} {where}")
        return data[reference["key"]].decode(errors="replace")
    return None


def _resource(container: Obj, path: str) -> str:
    value = quantity(dig(container, "resources", *path.split(".")) or "0")
    return str(int(value) if value == int(value) else -int(-value // 1))
