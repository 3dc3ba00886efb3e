"""Reads manifests and patch bodies, refuses what two parsers could read differently, and re-renders. Pure.

kubectl accepts duplicate keys, merge keys, aliases, several documents and any object with an `items` list; each of
these has hidden an object from a reader. Nothing of the model's own spelling is passed on: what was judged is sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from sanare.api.manifest import Manifest, dig, mapping, text
from sanare.errors import Refused
from sanare.kubectl.redact import MASK
from sanare.text import one_line

MAX_BYTES = 256 * 1024
MAX_DOCUMENTS = 10
_MAX_DEPTH = 40

# What the API server owns: dropped from what a model read with `get -o yaml` and sends back.
_SERVER_METADATA = frozenset(
    {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"}
)
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_METADATA = frozenset({"name", "namespace", "labels", "annotations"})
_POINTER = re.compile(r"(/[^/\x00-\x1f]*)+\Z")
_OPERATIONS = frozenset({"add", "replace", "remove", "test"})


class _StrictLoader(yaml.SafeLoader):
    """Safe YAML without anchors, aliases, merge keys and duplicate keys; timestamps stay text."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise Refused("Manifest", "anchors and aliases are not allowed: write the values out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                raise Refused("Manifest", "merge keys (<<) are not allowed: write the values out")
            if key.value in seen or not isinstance(key, yaml.ScalarNode):
                raise Refused("Manifest", f"the key {one_line(str(key.value), 60)!r} is given twice or is not text")
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def canonical(value: object) -> str:
    """The one spelling of a JSON value: sorted keys, no white space, plain numbers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def strict_json(raw: str | bytes) -> object:
    """Parse JSON whose objects have no key twice. Raises ValueError."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key is given twice")
        return found

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    value: object = json.loads(raw, object_pairs_hook=unique, parse_constant=refuse)
    return value


def documents(raw: str) -> list[object]:
    """Every document of a YAML or JSON text, strictly read. Raises Refused."""
    if len(raw.encode("utf-8", "replace")) > MAX_BYTES:
        raise Refused("Manifest", f"the manifest is larger than {MAX_BYTES // 1024} KiB")
    if MASK in raw:
        raise Refused("Manifest", f"{MASK} stands for a value that was hidden from you: patch only other fields")
    try:
        found = [document for document in yaml.load_all(raw, _StrictLoader) if document is not None]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Refused("Manifest", f"not readable as YAML or JSON: {one_line(str(error), 200)}") from error
    if not found:
        raise Refused("Manifest", "there is no manifest on stdin")
    if len(found) > MAX_DOCUMENTS:
        raise Refused("Manifest", f"more than {MAX_DOCUMENTS} documents")
    for document in found:
        _check_shape(document)
    return found


def _check_shape(value: object, depth: int = 0) -> None:
    if depth > _MAX_DEPTH:
        raise Refused("Manifest", f"nested more than {_MAX_DEPTH} levels deep")
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise Refused("Manifest", f"the key {key!r} is not text: put it in quotes")
            _check_shape(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check_shape(inner, depth + 1)
    elif not (value is None or isinstance(value, str | int | float | bool)):
        raise Refused("Manifest", f"a value of type {type(value).__name__} is not JSON")


def manifests(raw: str) -> list[dict[str, Any]]:
    """Every object on stdin, a v1 List taken apart; server-owned fields dropped. Raises Refused."""
    found: list[dict[str, Any]] = []
    for document in documents(raw):
        found.extend(_objects(document))
    if len(found) > MAX_DOCUMENTS:
        raise Refused("Manifest", f"more than {MAX_DOCUMENTS} objects")
    return found


def _objects(document: object) -> list[dict[str, Any]]:
    if not isinstance(document, dict):
        raise Refused("Manifest", "a manifest must be an object with apiVersion, kind and metadata")
    if "items" not in document:
        return [_one(document)]
    if (document.get("apiVersion"), document.get("kind")) != ("v1", "List") or not isinstance(
        document["items"], list
    ):
        raise Refused("Manifest", "`items` is only allowed in kind: List of apiVersion: v1")
    if not document["items"] or any(not isinstance(item, dict) or "items" in item for item in document["items"]):
        raise Refused("Manifest", "a List must hold objects that are not lists themselves")
    return [_one(item) for item in document["items"]]


def _one(document: Mapping[str, Any]) -> dict[str, Any]:
    metadata = mapping(document, "metadata")
    kept = {key: value for key, value in metadata.items() if key not in _SERVER_METADATA}
    unknown = set(kept) - _METADATA
    if unknown:
        raise Refused(
            "Manifest", f"metadata may hold name, namespace, labels and annotations, not {sorted(unknown)[0]}"
        )
    if isinstance(kept.get("annotations"), Mapping):
        kept["annotations"] = {k: v for k, v in kept["annotations"].items() if k != _LAST_APPLIED}
    if not all(text(document, *path) for path in (("apiVersion",), ("kind",), ("metadata", "name"))):
        raise Refused("Manifest", "every object needs apiVersion, kind and metadata.name")
    return {**{k: v for k, v in document.items() if k != "status"}, "metadata": kept}


def render(objects: list[dict[str, Any]]) -> str:
    """The objects as kubectl gets them: canonical JSON, several of them as a v1 List."""
    if len(objects) == 1:
        return canonical(objects[0])
    return canonical({"apiVersion": "v1", "kind": "List", "items": objects})


def patch_body(raw: str, patch_type: str) -> dict[str, Any] | list[Any]:
    """A patch read strictly: a list of operations for type json, else one object. Raises Refused."""
    found = documents(raw)
    body = found[0]
    if len(found) != 1 or not isinstance(body, list if patch_type == "json" else dict):
        wanted = "a list of operations" if patch_type == "json" else "one object"
        raise Refused("Patch", f"a patch of type {patch_type} is {wanted}")
    if isinstance(body, list):
        for operation in body:
            _check_operation(operation)
        return body
    assert isinstance(body, dict)  # noqa: S101 - narrowed above
    return body


def _check_operation(operation: object) -> None:
    known = isinstance(operation, dict) and operation.get("op") in _OPERATIONS
    if (
        not known
        or not _POINTER.match(text(operation, "path"))
        or set(mapping(operation)) - {"op", "path", "value"}
    ):
        raise Refused("Patch", "each operation needs op (add, replace, remove or test), path (/spec/...) and value")


def fragments(body: dict[str, Any] | list[Any]) -> list[Manifest]:
    """What a patch says, as pieces shaped like the object: each JSON patch operation nested under its path."""
    if isinstance(body, dict):
        return [body]
    return [_nest(op) for op in body if text(op, "op") != "test"]


def _nest(operation: Manifest) -> Manifest:
    value = dig(operation, "value") if operation["op"] != "remove" else None
    for step in reversed(text(operation, "path").split("/")[1:]):
        step = step.replace("~1", "/").replace("~0", "~")
        value = [value] if step == "-" or step.isdigit() else {step: value}
    return value if isinstance(value, Mapping) else {}
