"""Label and field selectors, as the query parameters of list and watch spell them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sanare_lab.cluster.errors import bad_request
from sanare_lab.cluster.objects import Obj, dig, labels_of
from sanare_lab.cluster.resources import EVENTS, NAMESPACES, NODES, PODS, SECRETS, ResourceType

Predicate: TypeAlias = Callable[[Obj], bool]

_TERM = re.compile(
    r"""\s*(?:
      !\s*(?P<absent>[^\s,=!()<>]+)
      | (?P<key>[^\s,=!()<>]+)\s*
        (?: (?P<op>==|=|!=|>|<)\s*(?P<value>[^\s,()=!]*)
          | (?P<set>in|notin)\s*\((?P<values>[^)]*)\)
        )?
    )\s*(?:,|$)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term of a label selector: operator is one of exists, !, in, notin, >, <."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels satisfy it."""
        value = labels.get(self.key)
        match self.operator:
            case "exists":
                return value is not None
            case "!":
                return value is None
            case "in":
                return value in self.values
            case "notin":
                return value not in self.values
        (bound,) = self.values
        if value is None or not value.lstrip("-").isdigit() or not bound.lstrip("-").isdigit():
            return False
        return int(value) > int(bound) if self.operator == ">" else int(value) < int(bound)


def parse_labels(text: str) -> tuple[Requirement, ...]:
    """The terms of a label selector. Raises ApiError 400."""
    found: list[Requirement] = []
    position = 0
    while position < len(text):
        term = _TERM.match(text, position)
        if not term or term.end() == position:
            raise bad_request(f"unable to parse requirement: found '{text[position:]}', expected: identifier")
        found.append(_requirement(term))
        position = term.end()
    return tuple(found)


def _requirement(term: re.Match[str]) -> Requirement:
    if term["absent"]:
        return Requirement(term["absent"], "!")
    if term["set"]:
        values = frozenset(value.strip() for value in term["values"].split(","))
        return Requirement(term["key"], term["set"], values)
    if term["op"]:
        operator = {"!=": "notin", ">": ">", "<": "<"}.get(term["op"], "in")
        return Requirement(term["key"], operator, frozenset({term["value"]}))
    return Requirement(term["key"], "exists")


def label_predicate(text: str) -> Predicate | None:
    """Whether an object's labels match; None where everything does. Raises ApiError 400."""
    terms = parse_labels(text)
    return (lambda obj: all(term.matches(labels_of(obj)) for term in terms)) if terms else None


_ABOUT = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_FIELDS: dict[str, tuple[str, ...]] = {
    PODS.key: (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.phase",
        "status.podIP",
    ),
    NAMESPACES.key: ("status.phase",),
    NODES.key: ("spec.unschedulable",),
    SECRETS.key: ("type",),
    EVENTS.key: (
        *(f"involvedObject.{name}" for name in _ABOUT),
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
}


def field_predicate(resource: ResourceType, text: str) -> Predicate | None:
    """Whether an object's fields match; None where everything does. Raises ApiError 400 for other fields."""
    known = {"metadata.name", "metadata.namespace", *_FIELDS.get(resource.key, ())}
    terms: list[tuple[tuple[str, ...], str, bool]] = []
    for term in filter(None, (part.strip() for part in text.split(","))):
        split = re.match(r"([^=!]+)(==|=|!=)(.*)$", term)
        if not split:
            raise bad_request(f"invalid selector: '{term}'; can't understand '{term}'")
        path, operator, value = split.groups()
        if path not in known:
            raise bad_request(_unknown_field(resource, path))
        terms.append((tuple(path.split(".")), value, operator != "!="))
    return (lambda obj: all((_field(obj, p) == v) is same for p, v, same in terms)) if terms else None


def _unknown_field(resource: ResourceType, path: str) -> str:
    if resource.custom or resource.key in _FIELDS:
        return f"field label not supported: {path}"
    return f'"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def _field(obj: Obj, path: tuple[str, ...]) -> str:
    value: Any = dig(obj, "source", "component") if path == ("source",) else dig(obj, *path)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
