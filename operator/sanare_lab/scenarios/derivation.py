"""Where a right value can be read: the values of the broken form beside the field at fault. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.api.manifest import text
from sanare_lab.scenarios.scenario import DerivedFrom, Fault, Scenario

_PARTS = re.compile(r"[^\w.]+")


def underivable(scenario: Scenario, fault: Fault) -> str:
    """Why no right value of a fault can be read from the broken form, or an empty string.

    A fault that names another source is believed; one whose right value is absence, or any value, needs none.
    """
    if not fault.any_of or None in fault.any_of:
        return ""
    texts = tuple(values_beside(scenario, fault))
    match fault.derived_from:
        case DerivedFrom.MANIFESTS:
            found = any(_stands(str(value), texts) for value in fault.any_of)
            return "" if found else "no other value of broken.yaml has it"
        case DerivedFrom.PARTS:
            whole = any(all(_stands(part, texts) for part in _parts(str(value))) for value in fault.any_of)
            return "" if whole else "not all of its parts stand in other values of broken.yaml"
        case _:
            return ""


def values_beside(scenario: Scenario, fault: Fault) -> Iterator[str]:
    """Every key and value of the manifests as text, without the value of the field at fault."""
    for manifest in scenario.manifests:
        own = f"{manifest.get('kind')}/{text(manifest, 'metadata', 'name')}" == fault.object
        yield from _leaves(manifest, fault.path if own else None)


def _leaves(value: object, fault: tuple[str | int, ...] | None) -> Iterator[str]:
    """The leaves below a value; `fault` is the rest of the path to the faulty one, None off that path."""
    if fault == ():
        return
    if isinstance(value, dict):
        for key, below in value.items():
            yield str(key)
            yield from _leaves(below, _step(fault, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            named = below.get("name") if isinstance(below, dict) else None
            step = named if fault and fault[0] == named else index
            yield from _leaves(below, _step(fault, step))
    elif value is not None:
        yield str(value)


def _step(fault: tuple[str | int, ...] | None, key: object) -> tuple[str | int, ...] | None:
    return fault[1:] if fault and fault[0] == key else None


def _stands(value: str, texts: tuple[str, ...]) -> bool:
    word = re.compile(rf"(?<![\w.-]){re.escape(value)}(?![\w-]|\.\w)")
    return any(word.search(each) for each in texts)


def _parts(value: str) -> list[str]:
    return [part for part in _PARTS.split(value) if part]
