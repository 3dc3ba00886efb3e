"""From a model to the structural schema of a CRD. Pure; `crd.py` wraps the result.

What Kubernetes wants beyond JSON Schema: no `$ref`, no `null`, no `const`, every array and map with its merge
behaviour. Lists are atomic, so that managedFields does not track every leaf, except those whose items have a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sanare.api.model import INT_OR_STRING, Model

_KEPT = (
    "type", "description", "format", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems",
    "maxItems", "maxProperties", "x-kubernetes-validations",
)  # fmt: skip
# Lists whose items people or the operator name; in status one check may say several things, so it is no key there.
_SPEC_KEYS = {"checks": "name"}
_STATUS_KEYS = {"conditions": "type"}


def structural(model: type[Model], *, defaults: bool) -> dict[str, Any]:
    """The schema of a model. `defaults`: whether the API server fills in what is left out (spec, not status)."""
    source = model.model_json_schema(by_alias=True, mode="serialization")
    return _node(source, source.get("$defs", {}), defaults=defaults)


def _node(
    source: Mapping[str, Any], definitions: Mapping[str, Any], *, defaults: bool, name: str = ""
) -> dict[str, Any]:
    merged = _resolved(source, definitions)
    node: dict[str, Any] = {key: merged[key] for key in _KEPT if key in merged}
    if "description" in node:
        node["description"] = " ".join(node["description"].split())
    if merged.get("x-kubernetes-int-or-string"):
        del node["type"]
        node |= {"anyOf": [{"type": "integer"}, {"type": "string"}], **INT_OR_STRING}
    elif node["type"] == "integer":
        node["format"] = "int64"
    elif node["type"] == "array":
        node["items"] = _node(merged["items"], definitions, defaults=defaults)
        key = (_SPEC_KEYS if defaults else _STATUS_KEYS).get(name, "")
        node |= _merge_behaviour(key, node["items"])
    elif "properties" in merged:
        node["properties"] = _properties(merged, definitions, defaults=defaults)
        node |= {"required": required} if (required := _required(merged)) else {}
    elif node["type"] == "object":
        node["additionalProperties"] = _node(merged["additionalProperties"], definitions, defaults=defaults)
        node["x-kubernetes-map-type"] = "atomic"
    default = _default(merged.get("default"), node)
    return node | ({"default": default} if defaults and default is not None else {})


def _resolved(source: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """One flat schema: references followed, `X or null` read as an optional X, the nearest description kept."""
    merged = dict(source)
    while True:
        if "$ref" in merged:
            target = definitions[merged.pop("$ref").rpartition("/")[2]]
        elif "anyOf" in merged:
            (target,) = (choice for choice in merged.pop("anyOf") if choice.get("type") != "null")
        else:
            return merged
        both = [*target.get("x-kubernetes-validations", ()), *merged.get("x-kubernetes-validations", ())]
        merged = {**target, **merged} | ({"x-kubernetes-validations": both} if both else {})


def _properties(merged: Mapping[str, Any], definitions: Mapping[str, Any], *, defaults: bool) -> dict[str, Any]:
    return {
        name: _node(child, definitions, defaults=defaults, name=name)
        for name, child in merged["properties"].items()
    }


def _required(merged: Mapping[str, Any]) -> list[str]:
    """The fields that a writer must give: those without a default that are not computed."""
    return [name for name in merged.get("required", ()) if not merged["properties"][name].get("readOnly")]


def _merge_behaviour(key: str, item: Mapping[str, Any]) -> dict[str, Any]:
    if key in item.get("required", ()):
        return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}
    return {"x-kubernetes-list-type": "atomic"}


def _default(value: object, node: Mapping[str, Any]) -> object:
    """The default worth stating: not the empty value that an absent field means anyway."""
    if isinstance(value, list):
        return [_default(item, node["items"]) for item in value] or None
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if item not in (None, "", [], {})}
    return value if value not in (None, "", False, 0) else None
