"""What a workload reads of ConfigMaps that are there without it: it runs on until its next start. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.manifest import Manifest, dig, items, mapping, text
from sanare.evaluator.ownership import containers, pod_template
from sanare.evaluator.snapshot import Snapshot


def missing_keys(workload: Manifest, snapshot: Snapshot) -> Iterator[tuple[Manifest, str]]:
    """Each ConfigMap with each key that the workload's template refers to and that it does not have."""
    for name, key in dict.fromkeys(_wanted(pod_template(workload))):
        found = snapshot.find("ConfigMap", name)
        if found is not None and key not in mapping(found, "data") and key not in mapping(found, "binaryData"):
            yield found, key


def required_maps(workload: Manifest) -> Iterator[str]:
    """Names of the ConfigMaps without which the workload's pods do not start."""
    template = pod_template(workload)
    for container, _ in containers(template):
        sources = [mapping(entry, "valueFrom", "configMapKeyRef") for entry in items(container, "env")]
        sources += [mapping(entry, "configMapRef") for entry in items(container, "envFrom")]
        yield from _names(sources)
    for volume in items(template, "spec", "volumes"):
        yield from _names([mapping(volume, "configMap"), *_projected(volume)])


def _names(sources: list[Manifest]) -> Iterator[str]:
    for source in sources:
        if text(source, "name") and dig(source, "optional") is not True:
            yield text(source, "name")


def _wanted(template: Manifest) -> Iterator[tuple[str, str]]:
    """Names of ConfigMaps, each with a key that must be there."""
    for container, _ in containers(template):
        for entry in items(container, "env"):
            reference = mapping(entry, "valueFrom", "configMapKeyRef")
            if reference and dig(reference, "optional") is not True:
                yield text(reference, "name"), text(reference, "key")
    for volume in items(template, "spec", "volumes"):
        for source in (mapping(volume, "configMap"), *_projected(volume)):
            if dig(source, "optional") is not True:
                yield from ((text(source, "name"), text(item, "key")) for item in items(source, "items"))


def _projected(volume: Manifest) -> list[Manifest]:
    return [mapping(source, "configMap") for source in items(volume, "projected", "sources")]
