"""What a workload needs of ConfigMaps and does not find: it runs on until its next start. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.manifest import Manifest, dig, items, mapping, text
from sanare.evaluator.ownership import containers, pod_template
from sanare.evaluator.snapshot import Snapshot


def lacking(workload: Manifest, snapshot: Snapshot) -> tuple[str, ...]:
    """ConfigMaps and keys that its template refers to and that are not there; nothing where none were listed."""
    if not snapshot.is_listed("ConfigMap"):
        return ()
    wanted = dict.fromkeys(_wanted(pod_template(workload)))
    return tuple(sorted(_named(name, key) for name, key in wanted if not _is_there(snapshot, name, key)))


def _named(name: str, key: str) -> str:
    return f"key {key} of ConfigMap/{name}" if key else f"ConfigMap/{name}"


def _is_there(snapshot: Snapshot, name: str, key: str) -> bool:
    found = snapshot.find("ConfigMap", name)
    return found is not None and (not key or key in mapping(found, "data") or key in mapping(found, "binaryData"))


def _wanted(template: Manifest) -> Iterator[tuple[str, str]]:
    """Each ConfigMap with each key that must be there; an empty key stands for the ConfigMap itself."""
    for container, _ in containers(template):
        references = [mapping(entry, "valueFrom", "configMapKeyRef") for entry in items(container, "env")]
        references += [mapping(entry, "configMapRef") for entry in items(container, "envFrom")]
        yield from ((text(each, "name"), text(each, "key")) for each in references if _must_exist(each))
    for volume in items(template, "spec", "volumes"):
        for source in (mapping(volume, "configMap"), *_projected(volume)):
            if _must_exist(source):
                keys = [text(item, "key") for item in items(source, "items")]
                yield from ((text(source, "name"), key) for key in keys or [""])


def _projected(volume: Manifest) -> list[Manifest]:
    return [mapping(source, "configMap") for source in items(volume, "projected", "sources")]


def _must_exist(reference: Manifest) -> bool:
    return bool(text(reference, "name")) and dig(reference, "optional") is not True
