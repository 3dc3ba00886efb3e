"""Files that a crashing container says it lacks, and the ConfigMap volume that should bring them."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import basename, dirname

from sanare.api.manifest import Manifest, items, mapping, text
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.likeness import nearest
from sanare.diagnosis.log_reading import missing_files
from sanare.diagnosis.patch import Change, Pointer, patch
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, Workload


def required_files(view: View) -> Iterator[Finding]:
    """Files that the log of a crashed container names as missing."""
    for workload in view.troubled:
        for container in workload.containers:
            if any(state.crashed for state in workload.states(container)):
                for path in dict.fromkeys(p for log in view.logs(workload, container) for p in missing_files(log)):
                    yield _finding(view, workload, container, path)


def _finding(view: View, workload: Workload, container: Container, path: str) -> Finding:
    candidates = tuple(_candidates(view, workload, container, path))
    values = ", ".join(candidate.value for candidate in candidates)
    return Finding(
        kind="RequiredFileMissing",
        ref=workload.ref,
        field=workload.field(container, "volumeMounts"),
        observed=f"{path} is not there",
        expected=f"a volume that brings {path}",
        confidence=Confidence.HIGH if len(candidates) == 1 else Confidence.MEDIUM,
        candidates=candidates,
        missing="" if len(candidates) == 1 else f"several ways would bring it: {values}" if values else
        f"no ConfigMap that the namespace has brings {basename(path)} to {dirname(path)}",
    )  # fmt: skip


def _candidates(view: View, workload: Workload, container: Container, path: str) -> Iterator[Candidate]:
    mounts = items(container.spec, "volumeMounts")
    here = [m for m in mounts if text(m, "mountPath").rstrip("/") == dirname(path) and not text(m, "subPath")]
    if here:
        yield from _of_volume(view, workload, text(here[0], "name"), basename(path))
        return
    for index, mount in enumerate(mounts):
        holder = _config_map(view, workload, text(mount, "name"))
        own = text(mount, "mountPath").rstrip("/")
        if basename(path) in _files(workload, text(mount, "name"), holder) and nearest(dirname(path), [own]):
            pointer = workload.pointer(container, "volumeMounts", index, "mountPath")
            change = Change(pointer, text(mount, "mountPath"), dirname(path))
            evidence = f"volume {text(mount, 'name')} has {basename(path)} but is mounted at {own}"
            yield Candidate(dirname(path), evidence, (patch(workload.ref, change),))


def _of_volume(view: View, workload: Workload, name: str, wanted: str) -> Iterator[Candidate]:
    """A mounted volume without the file: a slip in an item's path, else another ConfigMap that has the file."""
    for index, volume in enumerate(items(workload.pod_spec, "volumes")):
        source = mapping(volume, "configMap")
        if text(volume, "name") == name and source:
            base: Pointer = (*workload.path, "volumes", index, "configMap")
            chosen = [text(item, "path") for item in items(source, "items")]
            changes = (
                _of_items(base, chosen, wanted) if chosen else _of_others(view, base, text(source, "name"), wanted)
            )
            for value, evidence, change in changes:
                yield Candidate(value, evidence, (patch(workload.ref, change),))


def _of_items(base: Pointer, chosen: list[str], wanted: str) -> Iterator[tuple[str, str, Change]]:
    for place in nearest(wanted, chosen):
        pointer = (*base, "items", chosen.index(place), "path")
        yield wanted, f"the volume brings it as {place}", Change(pointer, place, wanted)


def _of_others(view: View, base: Pointer, name: str, wanted: str) -> Iterator[tuple[str, str, Change]]:
    for manifest in view.snapshot.all("ConfigMap"):
        other = text(manifest, "metadata", "name")
        if wanted in mapping(manifest, "data") and other != name:
            yield other, f"ConfigMap/{other} has key {wanted}", Change((*base, "name"), name, other)


def _config_map(view: View, workload: Workload, volume: str) -> Manifest:
    named = (v for v in items(workload.pod_spec, "volumes") if text(v, "name") == volume)
    name = next((text(v, "configMap", "name") for v in named), "")
    return view.snapshot.find("ConfigMap", name) or {}


def _files(workload: Workload, volume: str, holder: Manifest) -> set[str]:
    """File names that a ConfigMap volume brings."""
    named = (v for v in items(workload.pod_spec, "volumes") if text(v, "name") == volume)
    chosen = [item for v in named for item in items(v, "configMap", "items")]
    return {text(item, "path") for item in chosen} or {str(key) for key in mapping(holder, "data")}
