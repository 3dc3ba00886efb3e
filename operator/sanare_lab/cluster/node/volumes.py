"""Volumes: what a pod's volumes hold, and the files that a container sees through its mounts.

ConfigMaps and Secrets are read when they are asked for, so that a restarted container sees a changed one.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sanare_lab.cluster.node.run import Write
from sanare_lab.cluster.objects import Obj, dig, name_of, namespace_of
from sanare_lab.cluster.resources import CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, SECRETS
from sanare_lab.cluster.store import Store

Content: TypeAlias = dict[str, bytes]  # path within the volume to content


class MountError(Exception):
    """A volume cannot be set up; the text follows `MountVolume.SetUp failed for volume "x" : `."""


@dataclass(slots=True)
class Disks:
    """What outlives a container: persistent volumes by name, for as long as the node lives."""

    volumes: dict[str, Content] = field(default_factory=dict)

    def of(self, name: str) -> Content:
        """The content of a persistent volume, which is changed in place."""
        return self.volumes.setdefault(name, {})


@dataclass(frozen=True, slots=True)
class _Mount:
    path: str
    content: Content
    sub_path: str
    writable: bool


class Mounts:
    """The files of one container: its mounts, longest path first."""

    def __init__(self, mounts: list[_Mount]) -> None:
        self._mounts = sorted(mounts, key=lambda mount: -len(mount.path))
        self._own: Content = {}

    def read(self, path: str) -> bytes | None:
        """The content of a file, or None."""
        for mount in self._mounts:
            inner = _inner(mount, path)
            if inner is not None:
                return mount.content.get(inner)
        return self._own.get(path)

    def write(self, item: Write) -> None:
        """Write a file; into a read-only volume nothing goes."""
        for mount in self._mounts:
            inner = _inner(mount, item.path)
            if inner is not None:
                if mount.writable:
                    _put(mount.content, inner, item)
                return
        _put(self._own, item.path, item)


def _put(content: Content, path: str, item: Write) -> None:
    content[path] = (content.get(path, b"") if item.append else b"") + item.data


def _inner(mount: _Mount, path: str) -> str | None:
    """The path within the volume, or None where the mount does not cover it."""
    root = mount.path.rstrip("/")
    if path == root and mount.sub_path:
        return mount.sub_path
    if not path.startswith(root + "/"):
        return None
    return "/".join(part for part in (mount.sub_path.strip("/"), path[len(root) + 1 :]) if part)


class VolumeReader:
    """Resolves the volumes of pods against the store."""

    def __init__(self, store: Store, disks: Disks) -> None:
        self._store = store
        self._disks = disks

    def contents(self, pod: Obj, scratch: dict[str, Content]) -> dict[str, Content]:
        """Each volume's content by name; `scratch` keeps the pod's own. Raises MountError for (volume, why)."""
        found: dict[str, Content] = {}
        for volume in dig(pod, "spec", "volumes") or []:
            try:
                found[volume["name"]] = self._content(pod, volume, scratch)
            except MountError as exc:
                raise MountError(f'MountVolume.SetUp failed for volume "{volume["name"]}" : {exc}') from exc
        return found

    def mounts(self, pod: Obj, container: Obj, scratch: dict[str, Content]) -> Mounts:
        """What a container sees. Raises MountError."""
        contents = self.contents(pod, scratch)
        volumes = {volume["name"]: volume for volume in dig(pod, "spec", "volumes") or []}
        return Mounts(
            [
                _Mount(
                    mount["mountPath"],
                    contents.get(mount["name"], {}),
                    mount.get("subPath", ""),
                    not mount.get("readOnly") and not _is_read_only(volumes.get(mount["name"], {})),
                )
                for mount in container.get("volumeMounts") or []
            ]
        )

    def _content(self, pod: Obj, volume: Obj, scratch: dict[str, Content]) -> Content:
        namespace = namespace_of(pod)
        if "configMap" in volume:
            source = volume["configMap"]
            return self._config_map(namespace, source.get("name", ""), source)
        if "secret" in volume:
            source = volume["secret"]
            return self._secret(namespace, source.get("secretName", ""), source)
        if "projected" in volume:
            return self._projected(pod, volume["projected"])
        if "downwardAPI" in volume:
            return _downward(pod, volume["downwardAPI"])
        if "persistentVolumeClaim" in volume:
            return self._claim(namespace, volume["persistentVolumeClaim"].get("claimName", ""))
        if "hostPath" in volume:
            return self._disks.of(volume["hostPath"].get("path", ""))
        return scratch.setdefault(volume["name"], {})

    def _config_map(self, namespace: str, name: str, source: Obj) -> Content:
        found = self._store.get(CONFIG_MAPS, namespace, name)
        if found is None:
            if source.get("optional"):
                return {}
            raise MountError(f'configmap "{name}" not found')
        return _select(config_data(found), source, "configmap references non-existent config key")

    def _secret(self, namespace: str, name: str, source: Obj) -> Content:
        found = self._store.get(SECRETS, namespace, name)
        if found is None:
            if source.get("optional"):
                return {}
            raise MountError(f'secret "{name}" not found')
        return _select(secret_data(found), source, "references non-existent secret key")

    def _projected(self, pod: Obj, projected: Obj) -> Content:
        found: Content = {}
        for source in projected.get("sources") or []:
            if "configMap" in source:
                found |= self._config_map(
                    namespace_of(pod), source["configMap"].get("name", ""), source["configMap"]
                )
            elif "secret" in source:
                found |= self._secret(namespace_of(pod), source["secret"].get("name", ""), source["secret"])
            elif "downwardAPI" in source:
                found |= _downward(pod, source["downwardAPI"])
            elif "serviceAccountToken" in source:
                found[source["serviceAccountToken"].get("path", "token")] = b"token"
        return found

    def _claim(self, namespace: str, name: str) -> Content:
        claim = self._store.get(PERSISTENT_VOLUME_CLAIMS, namespace, name)
        volume_name = dig(claim, "spec", "volumeName")
        volume = self._store.get(PERSISTENT_VOLUMES, "", volume_name) if volume_name else None
        if volume is None:
            raise MountError(
                f'persistentvolumeclaim "{name}" not found' if claim is None else "volume is not bound"
            )
        return self._disks.of(dig(volume, "spec", "hostPath", "path") or name_of(volume))


def config_data(config_map: Obj) -> Content:
    """data and binaryData of a ConfigMap."""
    found = {key: str(value).encode() for key, value in (config_map.get("data") or {}).items()}
    return found | {key: _decoded(value) for key, value in (config_map.get("binaryData") or {}).items()}


def secret_data(secret: Obj) -> Content:
    """data of a Secret, decoded."""
    found = {key: _decoded(value) for key, value in (secret.get("data") or {}).items()}
    return found | {key: str(value).encode() for key, value in (secret.get("stringData") or {}).items()}


def _decoded(value: str) -> bytes:
    try:
        return base64.b64decode(value)
    except binascii.Error:
        return b""


def _select(data: Content, source: Obj, missing: str) -> Content:
    items = source.get("items")
    if not items:
        return data
    for item in items:
        if item["key"] not in data and not source.get("optional"):
            raise MountError(f"{missing}: {item['key']}")
    return {item["path"]: data[item["key"]] for item in items if item["key"] in data}


def _downward(pod: Obj, source: Obj) -> Content:
    return {
        item["path"]: field_value(pod, dig(item, "fieldRef", "fieldPath") or "").encode()
        for item in source.get("items") or []
    }


def field_value(pod: Obj, path: str, status: Mapping[str, str] | None = None) -> str:
    """A field of the pod as the downward API gives it; `status` holds what the pod object does not say yet."""
    if status and path in status:
        return status[path]
    head, _, key = path.partition("[")
    value = dig(pod, *head.split("."))
    if key:
        value = (value or {}).get(key.rstrip("]").strip("'\""))
    if isinstance(value, dict):
        return "\n".join(f"{name}={json.dumps(text)}" for name, text in sorted(value.items()))
    return "" if value is None else str(value)


def _is_read_only(volume: Obj) -> bool:
    return any(kind in volume for kind in ("configMap", "secret", "projected", "downwardAPI"))
