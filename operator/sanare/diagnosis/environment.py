"""The environment that a container gets: each variable, its value where it may be known, where it is set. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sanare.api.manifest import Manifest, items, mapping, text
from sanare.diagnosis.workload import Container
from sanare.evaluator.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable.

    Attributes:
        value: its value; None where it comes from a Secret, from the pod's fields, or from what is not there.
        index: its position in `env`, None where it comes through `envFrom`.
        entry: the `env` entry as written, empty for `envFrom`.
        config_map: the ConfigMap and key it comes from, empty where it does not.
    """

    name: str
    value: str | None
    index: int | None
    entry: Manifest
    config_map: tuple[str, str] = ("", "")

    @property
    def port(self) -> int | None:
        """The value as a port number, alone or at the end of `ADDRESS:PORT`."""
        last = (self.value or "").rpartition(":")[2]
        return int(last) if last.isdigit() and len(last) <= 5 and 0 < int(last) < 65536 else None


def environment(container: Container, snapshot: Snapshot) -> Mapping[str, Variable]:
    """The variables of a container by name; `env` wins over `envFrom`, later entries over earlier ones."""
    found = {variable.name: variable for variable in _from_sources(container, snapshot)}
    found.update((variable.name, variable) for variable in _entries(container, snapshot))
    return found


def _from_sources(container: Container, snapshot: Snapshot) -> Iterator[Variable]:
    for source in items(container.spec, "envFrom"):
        name, prefix = text(source, "configMapRef", "name"), text(source, "prefix")
        for key, value in mapping(snapshot.find("ConfigMap", name) or {}, "data").items():
            yield Variable(prefix + key, str(value), None, {}, (name, key))


def _entries(container: Container, snapshot: Snapshot) -> Iterator[Variable]:
    for index, entry in enumerate(items(container.spec, "env")):
        name = text(entry, "name")
        if "valueFrom" not in entry:
            yield Variable(name, text(entry, "value"), index, entry)
            continue
        reference = mapping(entry, "valueFrom", "configMapKeyRef")
        place = (text(reference, "name"), text(reference, "key"))
        data = mapping(snapshot.find("ConfigMap", place[0]) or {}, "data")
        value = data.get(place[1])
        yield Variable(name, value if isinstance(value, str) else None, index, entry, place)
