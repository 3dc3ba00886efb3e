"""Expansion: where a container's own text takes in a variable that a Secret feeds, and so may tell it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sanare.api.manifest import dig, items, mapping, text

# What the kubelet expands: `$$(NAME)` stays as it is.
_EXPANSION = re.compile(r"\$\$|\$\((?P<name>[^()]*)\)")
# What a shell would expand, too.
_VARIABLE = re.compile(r"\$(?:\((?P<expanded>[^()]*)\)|\{?(?P<name>\w+))")
_COMMANDS = (
    ("command",),
    ("args",),
    ("lifecycle", "postStart", "exec", "command"),
    ("lifecycle", "preStop", "exec", "command"),
    ("livenessProbe", "exec", "command"),
    ("readinessProbe", "exec", "command"),
    ("startupProbe", "exec", "command"),
)


def secret_expansions(container: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The place below the container, and the expansion there, for each that a Secret feeds.

    The expansion comes with its neighbouring characters in an environment value, so that moving it within the
    value is seen while the rest of the value may be corrected.
    """
    fed = _Fed(container)
    for variable in items(container, "env"):
        for shown, name in _expansions(text(variable, "value")):
            if name in fed:
                yield f"env.{text(variable, 'name')}", shown
    for path in _COMMANDS:
        for name in _variables(dig(container, *path)):
            if name in fed:
                yield ".".join(path), f"$({name})"
    for mount in items(container, "volumeMounts"):
        for _, name in _expansions(text(mount, "subPathExpr")):
            if name in fed:
                yield f"volumeMounts.{text(mount, 'name')}", f"$({name})"


class _Fed:
    """The names of the variables that hold a Secret's value, or may: any unknown one beside `envFrom`'s Secret."""

    def __init__(self, container: Mapping[str, Any]) -> None:
        variables = items(container, "env")
        self._any = any(dig(source, "secretRef") for source in items(container, "envFrom"))
        self._known = {text(one, "name") for one in variables}
        self._fed = {text(one, "name") for one in variables if mapping(one, "valueFrom", "secretKeyRef")}
        while more := {text(one, "name") for one in variables if self._takes(one)} - self._fed:
            self._fed |= more

    def _takes(self, variable: Mapping[str, Any]) -> bool:
        return any(name in self for _, name in _expansions(text(variable, "value")))

    def __contains__(self, name: str) -> bool:
        return name in self._fed or (self._any and name not in self._known)


def _expansions(value: str) -> Iterator[tuple[str, str]]:
    for found in _EXPANSION.finditer(value):
        if found["name"] is not None:
            yield value[max(found.start() - 1, 0) : found.end() + 1], found["name"]


def _variables(words: object) -> Iterator[str]:
    for word in words if isinstance(words, list) else ():
        for found in _VARIABLE.finditer(word if isinstance(word, str) else ""):
            yield found["expanded"] or found["name"] or ""
