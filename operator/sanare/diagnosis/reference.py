"""What a pod template refers to by name: ConfigMaps, Secrets, claims, the service account. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sanare.api.manifest import Manifest, items, mapping, text
from sanare.diagnosis.patch import Pointer
from sanare.diagnosis.workload import Container, Workload


@dataclass(frozen=True, slots=True)
class Reference:
    """One name in a pod template.

    Attributes:
        kind: of the object referred to.
        key: the key of it that is asked for, empty where the whole object is taken.
        needed: keys that it must have for its readers: the key, volume items, mounted sub-paths, files named.
        pointer: where the name stands.
        key_pointer: where the key stands, empty where there is none.
        field: the name's field as people write it.
        where: the place in words: `volume "config"`, `container "web"`.
    """

    kind: str
    name: str
    pointer: Pointer
    field: str
    where: str
    key: str = ""
    key_pointer: Pointer = ()
    needed: frozenset[str] = frozenset()
    optional: bool = False

    @property
    def identity(self) -> tuple[str, str, str]:
        """What is asked for, wherever it is asked."""
        return (self.kind, self.name, self.key)


_VOLUMES = (
    ("configMap", "name", "ConfigMap"),
    ("secret", "secretName", "Secret"),
    ("persistentVolumeClaim", "claimName", "PersistentVolumeClaim"),
)
_SOURCES = (("configMapRef", "ConfigMap"), ("secretRef", "Secret"))
_KEYS = (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret"))


def references(workload: Workload) -> tuple[Reference, ...]:
    """Every reference of the template, the service account last."""
    found = [*_of_volumes(workload)]
    for container in workload.containers:
        found += [*_of_sources(workload, container), *_of_entries(workload, container)]
    account = text(workload.pod_spec, "serviceAccountName")
    if account:
        pointer = (*workload.path, "serviceAccountName")
        found.append(Reference("ServiceAccount", account, pointer, ".".join(pointer), "the pods"))
    return tuple(found)


def _of_volumes(workload: Workload) -> Iterator[Reference]:
    for index, volume in enumerate(items(workload.pod_spec, "volumes")):
        base: Pointer = (*workload.path, "volumes", index)
        yield from _volume(workload, volume, volume, base)
        for place, source in enumerate(items(volume, "projected", "sources")):
            yield from _volume(workload, volume, source, (*base, "projected", "sources", place))


def _volume(workload: Workload, volume: Manifest, source: Manifest, base: Pointer) -> Iterator[Reference]:
    name = text(volume, "name")
    for member, field, kind in _VOLUMES:
        # A projected source names its Secret `name`; a volume of its own names it `secretName`.
        field = "name" if field == "secretName" and "projected" in base else field
        named = text(source, member, field)
        if named:
            yield Reference(
                kind,
                named,
                (*base, member, field),
                f"{'.'.join(workload.path)}.volumes[{name}].{member}.{field}",
                f'volume "{name}"',
                needed=frozenset(_needed(workload, name, mapping(source, member))),
                optional=mapping(source, member).get("optional") is True,
            )


def _needed(workload: Workload, volume: str, source: Manifest) -> Iterator[str]:
    chosen = items(source, "items")
    yield from (text(item, "key") for item in chosen)
    for container in workload.containers:
        for mount in items(container.spec, "volumeMounts"):
            if text(mount, "name") == volume and not chosen:
                yield from _read_keys(container, mount)


def _read_keys(container: Container, mount: Manifest) -> Iterator[str]:
    """Keys that the container is told to read below the mount: its sub-path, or files that env and command name."""
    if text(mount, "subPath"):
        yield text(mount, "subPath").partition("/")[0]
        return
    prefix = text(mount, "mountPath").rstrip("/") + "/"
    for word in _words(container):
        if word.startswith(prefix):
            yield word.removeprefix(prefix).partition("/")[0]


def _words(container: Container) -> Iterator[str]:
    texts = [text(entry, "value") for entry in items(container.spec, "env")]
    for part in ("command", "args"):
        listed = container.spec.get(part)
        texts += [word for word in listed if isinstance(word, str)] if isinstance(listed, list) else []
    for value in texts:
        for separator in ",;:=\"'":
            value = value.replace(separator, " ")
        yield from value.split()


def _of_sources(workload: Workload, container: Container) -> Iterator[Reference]:
    for index, source in enumerate(items(container.spec, "envFrom")):
        for member, kind in _SOURCES:
            name = text(source, member, "name")
            if name:
                yield Reference(
                    kind,
                    name,
                    workload.pointer(container, "envFrom", index, member, "name"),
                    workload.field(container, f"envFrom[{index}].{member}.name"),
                    f'container "{container.name}"',
                    optional=mapping(source, member).get("optional") is True,
                )


def _of_entries(workload: Workload, container: Container) -> Iterator[Reference]:
    for index, entry in enumerate(items(container.spec, "env")):
        for member, kind in _KEYS:
            wanted = mapping(entry, "valueFrom", member)
            if not text(wanted, "name"):
                continue
            base = workload.pointer(container, "env", index, "valueFrom", member)
            key = text(wanted, "key")
            yield Reference(
                kind,
                text(wanted, "name"),
                (*base, "name"),
                workload.field(container, f"env[{text(entry, 'name')}].valueFrom.{member}.name"),
                f'variable {text(entry, "name")} of container "{container.name}"',
                key=key,
                key_pointer=(*base, "key"),
                needed=frozenset({key}),
                optional=wanted.get("optional") is True,
            )
