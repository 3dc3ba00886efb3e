"""Environment variables that a crashing container says it lacks, or whose value it does not take."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.api.manifest import Manifest, items, mapping, text
from sanare.diagnosis.analyzers.prefixes import meant_prefixes
from sanare.diagnosis.environment import Variable, environment
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.likeness import nearest
from sanare.diagnosis.log_reading import missing_variables, rejected_variables
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, Workload, containers_of

_DOCUMENTED = (
    r"^[ \t>*-]*(?:export )?[`\"']?{name}[`\"']?[ \t]*[=:][ \t]*"
    r"[`\"']?([^\s`\"'#]{{1,256}})[`\"']?[ \t]*$"
)


def environment_variables(view: View) -> Iterator[Finding]:
    """Variables that the log of a crashed container names as missing or as wrong."""
    for workload in view.troubled:
        for container in workload.containers:
            crashed = any(state.crashed for state in workload.states(container))
            if crashed and not meant_prefixes(view, workload, container):
                yield from _of_container(view, workload, container)


def _of_container(view: View, workload: Workload, container: Container) -> Iterator[Finding]:
    present = environment(container, view.snapshot)
    logs = "\n".join(view.logs(workload, container))
    for name in missing_variables(logs):
        if name not in present or present[name].value == "":
            yield _finding(workload, container, name, "", _absent(view, workload, container, name))
    for name in rejected_variables(logs):
        if name in present:
            yield _finding(
                workload, container, name, "a value that is refused", _wrong(view, workload, container, name)
            )


def _finding(
    workload: Workload, container: Container, name: str, observed: str, candidates: tuple[Candidate, ...]
) -> Finding:
    values = ", ".join(candidate.value for candidate in candidates)
    return Finding(
        kind="EnvironmentValueRefused" if observed else "EnvironmentVariableMissing",
        ref=workload.ref,
        field=workload.field(container, f"env[{name}]"),
        observed=observed or "(not set)",
        expected=f"the value that the log of container {container.name} asks for",
        confidence=Confidence.HIGH if len(candidates) == 1 else Confidence.MEDIUM,
        candidates=candidates,
        missing=""
        if len(candidates) == 1
        else f"{name} stands in several places: {values}"
        if values
        else f"no ConfigMap, neighbour or earlier revision says what {name} should be",
    )


def _absent(view: View, workload: Workload, container: Container, name: str) -> tuple[Candidate, ...]:
    entries = items(container.spec, "env")
    unused = {text(entry, "name"): index for index, entry in enumerate(entries)}
    misspelt = nearest(name, unused)
    if misspelt:
        return tuple(_renamed(workload, container, name, wrong, unused[wrong]) for wrong in misspelt)
    return _elsewhere(view, workload, container, name)


def _renamed(workload: Workload, container: Container, name: str, wrong: str, index: int) -> Candidate:
    change = Change(workload.pointer(container, "env", index, "name"), wrong, name)
    evidence = f"{workload.ref} container {container.name} sets {wrong}, which differs by a slip"
    return Candidate(f"{wrong} renamed to {name}", evidence, (patch(workload.ref, change),))


def _wrong(view: View, workload: Workload, container: Container, name: str) -> tuple[Candidate, ...]:
    present = environment(container, view.snapshot)[name]
    return tuple(c for c in _elsewhere(view, workload, container, name) if c.value != _place(present))


def _place(variable: Variable) -> str:
    return "ConfigMap/{} key {}".format(*variable.config_map) if variable.config_map[0] else ""


def _elsewhere(view: View, workload: Workload, container: Container, name: str) -> tuple[Candidate, ...]:
    """Where the cluster has the value: a ConfigMap's key, a neighbour's or earlier entry, a documentation line."""
    for source in (_config_maps, _entries, _documentation):
        found = tuple(source(view, workload, container, name))
        if found:
            return found
    return ()


def _config_maps(view: View, workload: Workload, container: Container, name: str) -> Iterator[Candidate]:
    places = [
        (text(manifest, "metadata", "name"), key)
        for manifest in view.snapshot.all("ConfigMap")
        for key in mapping(manifest, "data")
        if _as_variable(key) == name
    ]
    exact = [(holder, key) for holder, key in places if key == name]
    for holder, key in exact or places:
        entry = {"name": name, "valueFrom": {"configMapKeyRef": {"name": holder, "key": key}}}
        value = f"ConfigMap/{holder} key {key}"
        yield Candidate(value, f"{value} is the one of that name", (workload.set_variable(container, entry),))


def _as_variable(key: str) -> str:
    return re.sub(r"[.-]", "_", key).upper()


def _entries(view: View, workload: Workload, container: Container, name: str) -> Iterator[Candidate]:
    """The entry of that name in containers with the same image and in earlier revisions, each distinct one once."""
    places = [
        (f"{other.ref} container {c.name}", c)
        for other, c in view.neighbours(workload, container)
        if other.is_proven
    ]
    for replica_set in workload.revisions:
        holder = f"ReplicaSet/{text(replica_set, 'metadata', 'name')}"
        old = containers_of(mapping(replica_set, "spec", "template", "spec"))
        places += [(holder, c) for c in old if c.name == container.name]
    seen: list[Manifest] = []
    for place, other_container in places:
        for entry in items(other_container.spec, "env"):
            if text(entry, "name") == name and entry not in seen:
                seen.append(entry)
                command = workload.set_variable(container, entry)
                yield Candidate(f"as in {place}", f"{place} sets it", (command,))


def _documentation(view: View, workload: Workload, container: Container, name: str) -> Iterator[Candidate]:
    """A line `NAME=value` in a text that a ConfigMap holds, each distinct value once."""
    pattern = re.compile(_DOCUMENTED.format(name=re.escape(name)), re.M)
    found: dict[str, str] = {}
    for manifest in view.snapshot.all("ConfigMap"):
        for key, content in mapping(manifest, "data").items():
            for value in pattern.findall(content) if isinstance(content, str) else ():
                found.setdefault(value, f"ConfigMap/{text(manifest, 'metadata', 'name')} key {key}")
    for value, place in found.items():
        entry = {"name": name, "value": value}
        yield Candidate(
            f"the value in {place}", f"{place} documents it", (workload.set_variable(container, entry),)
        )
