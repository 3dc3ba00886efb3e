"""docs/reference.md, made from the CRDs: every field with its type, bounds, default and meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sanare.api.crd import DEFINITIONS, Definition, crd

_HEAD = """\
# Reference

Made by `make crds` from the models in operator/sanare/api: every field of the three kinds of `sanare.dev/v1alpha1`.
`kubectl explain incident.spec` says the same in the cluster. Fields without a default may be left out, except those
marked *required*.
"""
_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "maxProperties": "at most {} entries",
}


def reference() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *(line for definition in DEFINITIONS for line in _kind(definition))])


def _kind(definition: Definition) -> Iterator[str]:
    (version,) = crd(definition)["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    yield f"## {definition.kind}\n"
    yield f"{definition.description} Short name `{definition.short}`.\n"
    for part in ("spec", "status"):
        if part in schema["properties"]:
            yield "| field | type | |\n| --- | --- | --- |"
            yield from _rows(schema["properties"][part], f"{part}.")
            yield ""
    yield "The API server refuses, with these words:\n"
    yield from sorted({f"- `{path}`: {message}" for path, message in _rules(schema, "")})
    yield ""


def _rows(schema: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, node in schema["properties"].items():
        inner = node.get("items", node)
        path = f"{prefix}{name}{'[]' if inner is not node else ''}"
        needed = "*required* " if name in schema.get("required", ()) else ""
        yield f"| `{path}` | {_type(node)} | {needed}{_cell(node['description'])}{_limits(node)} |"
        if "properties" in inner:
            yield from _rows(inner, f"{path}.")


def _type(node: Mapping[str, Any]) -> str:
    if "items" in node:
        return f"list of {_type(node['items'])}s"
    if "additionalProperties" in node:
        return "map of strings"
    if any("duration(self)" in rule["rule"] for rule in node.get("x-kubernetes-validations", ())):
        return "duration"
    return "time" if node.get("format") == "date-time" else str(node.get("type", "integer or string"))


def _limits(node: Mapping[str, Any]) -> str:
    said = [f"`{word}`" for word in node.get("enum", ())]
    parts = ["one of " + ", ".join(said)] if said else []
    if _type(node) != "duration":
        parts += [words.format(node[key]) for key, words in _LIMITS.items() if key in node]
    if "default" in node and not isinstance(node["default"], dict | list):
        parts.append(f"default `{node['default']}`")
    return f" ({'; '.join(parts)})" if parts else ""


def _rules(node: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for rule in node.get("x-kubernetes-validations", ()):
        yield path.removeprefix(".") or "metadata.name", rule["message"]
    for name, child in node.get("properties", {}).items():
        yield from _rules(child, f"{path}.{name}")
    if "items" in node:
        yield from _rules(node["items"], f"{path}[]")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
