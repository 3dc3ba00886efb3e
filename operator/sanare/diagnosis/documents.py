"""Manifests that stand as text in a ConfigMap: documentation of an object that should exist. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from sanare.api.manifest import Manifest, mapping, text

# The mark of a value that the snapshot holds in part; what is cut is not whole evidence.
CUT = re.compile(r"…\[\d+ bytes\]$")
_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.M | re.S)
_START = re.compile(r"^(?=apiVersion:)", re.M)


@dataclass(frozen=True, slots=True)
class Documented:
    """A ConfigMap as documented, stripped to apiVersion, kind, name and data, and where the text stands."""

    name: str
    data: tuple[tuple[str, str], ...]
    place: str

    def manifest(self) -> Manifest:
        """What to create."""
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": self.name}, "data": dict(self.data)}


def documented_config_maps(config_maps: tuple[Manifest, ...], name: str) -> tuple[Documented, ...]:
    """Every distinct documented content of the ConfigMap with exactly that name."""
    found: dict[tuple[tuple[str, str], ...], Documented] = {}
    for holder in config_maps:
        for key, value in mapping(holder, "data").items():
            if isinstance(value, str) and name in value and not CUT.search(value):
                place = f"ConfigMap/{text(holder, 'metadata', 'name')} key {key}"
                for data in _contents(value, name):
                    found.setdefault(data, Documented(name, data, place))
    return tuple(found.values())


def _contents(document: str, name: str) -> Iterator[tuple[tuple[str, str], ...]]:
    for part in _parts(document):
        for manifest in _manifests(part):
            data = mapping(manifest, "data")
            is_it = text(manifest, "kind") == "ConfigMap" and text(manifest, "metadata", "name") == name
            if is_it and data and all(isinstance(k, str) and isinstance(v, str) for k, v in data.items()):
                yield tuple(data.items())


def _parts(document: str) -> list[str]:
    """Fenced blocks where there are some, else the text from its first `apiVersion:` on, else all of it."""
    fenced = _FENCE.findall(document)
    if fenced:
        return fenced
    start = _START.search(document)
    return [document[start.start() :] if start else document]


def _manifests(part: str) -> list[Manifest]:
    try:
        return [loaded for loaded in yaml.safe_load_all(part) if isinstance(loaded, dict)]
    except (yaml.YAMLError, RecursionError, ValueError):
        return []
