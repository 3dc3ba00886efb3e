"""Prefixes under which a container gets the keys of a ConfigMap, and by which it misses its variables."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.manifest import items, mapping, text
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.log_reading import missing_variables
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, Workload


def env_prefixes(view: View) -> Iterator[Finding]:
    """Sources whose keys would be the missing variables under another prefix."""
    for workload in view.troubled:
        for container in workload.containers:
            for index, right in meant_prefixes(view, workload, container).items():
                yield _of_source(workload, container, index, right)


def meant_prefixes(view: View, workload: Workload, container: Container) -> dict[int, tuple[str, ...]]:
    """Position of each `envFrom` entry to the prefixes that would give the container what its log misses.

    Entries without a prefix are left out: the container may read their other keys by their own names.
    """
    if not any(state.crashed for state in workload.states(container)):
        return {}
    missing = missing_variables("\n".join(view.logs(workload, container)))
    found = {}
    for index, source in enumerate(items(container.spec, "envFrom")):
        present = text(source, "prefix")
        data = mapping(view.snapshot.find("ConfigMap", text(source, "configMapRef", "name")) or {}, "data")
        fitting = {
            name.removesuffix(key): None for name in missing for key in data if key and name.endswith(f"_{key}")
        }
        bare = [""] if any(name in data for name in missing) else []
        right = tuple(prefix for prefix in (*fitting, *bare) if prefix != present)
        if present and right:
            found[index] = right
    return found


def _of_source(workload: Workload, container: Container, index: int, right: tuple[str, ...]) -> Finding:
    source = items(container.spec, "envFrom")[index]
    name, old = text(source, "configMapRef", "name"), text(source, "prefix")
    pointer = workload.pointer(container, "envFrom", index, "prefix")
    return Finding(
        kind="VariablePrefixWrong",
        ref=workload.ref,
        field=workload.field(container, f"envFrom[{index}].prefix"),
        observed=old,
        expected="the prefix of the variables that the container asks for",
        confidence=Confidence.HIGH,
        candidates=tuple(
            Candidate(
                prefix or "(none)",
                f"with it the keys of ConfigMap/{name} are the variables that the log misses",
                (patch(workload.ref, Change(pointer, old, prefix or None)),),
            )
            for prefix in right
        ),
        missing="" if len(right) == 1 else f"{', '.join(right)} would all give variables that are missed",
    )
