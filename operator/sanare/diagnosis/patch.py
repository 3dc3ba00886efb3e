"""Commands that change one object: JSON patches that say first what they expect to find.

A patch whose `test` fails changes nothing, so a repair never lands on a field that somebody changed meanwhile.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TypeAlias

from sanare.api.manifest import Manifest, Ref, items, text
from sanare.kubectl.tool import Command

Pointer: TypeAlias = tuple[str | int, ...]
Value: TypeAlias = object


@dataclass(frozen=True, slots=True)
class Change:
    """One field: what is there now (None where it is absent) and what is to be there (None to remove it)."""

    pointer: Pointer
    old: Value
    new: Value

    def operations(self) -> list[dict[str, Value]]:
        """The JSON patch operations (RFC 6902) of this change."""
        path = pointer_text(self.pointer)
        if self.old is None:
            return [{"op": "add", "path": path, "value": self.new}]
        test: dict[str, Value] = {"op": "test", "path": path, "value": self.old}
        if self.new is None:
            return [test, {"op": "remove", "path": path}]
        return [test, {"op": "replace", "path": path, "value": self.new}]


def pointer_text(pointer: Pointer) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in pointer)


def patch(ref: Ref, *changes: Change) -> Command:
    """`kubectl patch` with every change in one request."""
    operations = [operation for change in changes for operation in change.operations()]
    return Command(("patch", _target(ref), "--type=json", "-p", json.dumps(operations, separators=(",", ":"))))


def set_variable(ref: Ref, path: tuple[str, ...], container: Manifest, entry: Manifest) -> Command:
    """Set one `env` entry of a main or init container, whatever it was before, by a strategic patch.

    A strategic patch merges entries by name, so several of them never undo one another. Of `value` and `valueFrom`
    the one that the entry lacks is set to null: the API server refuses an entry with both.
    """
    whole = {"value": None, "valueFrom": None, **entry}
    present = next((e for e in items(container, "env") if text(e, "name") == text(entry, "name")), {})
    kept = {key: value for key, value in whole.items() if value is not None or key in present}
    body: Value = [{"name": text(container, "name"), "env": [kept]}]
    for step in reversed(path):
        body = {step: body}
    return Command(("patch", _target(ref), "--type=strategic", "-p", json.dumps(body, separators=(",", ":"))))


def restart(ref: Ref) -> Command:
    """New pods, so that processes read changed configuration."""
    return Command(("rollout", "restart", _target(ref)))


def create(manifest: Manifest) -> Command:
    """Create an object from a manifest, as JSON on standard input."""
    return Command(("apply", "-f", "-"), stdin=json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def _target(ref: Ref) -> str:
    return f"{ref.kind.lower()}/{ref.name}"
