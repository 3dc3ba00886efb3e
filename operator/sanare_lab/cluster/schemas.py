"""Schemas: what fields a kind has, of what type, and how lists merge; built-in kinds from `data/types.json`.

The file is the real server's OpenAPI v3 document of these kinds without descriptions, one type a line. Custom kinds
bring their schema in the CRD. Both are walked by the same code: decoding, patching, defaulting, printing.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources as package_files
from typing import Any, TypeAlias

from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.resources import ResourceType

Schema: TypeAlias = dict[str, Any]

ANYTHING: Schema = {"x-kubernetes-preserve-unknown-fields": True}
OBJECT_META: Schema = {"$ref": "apimachinery.pkg.apis.meta.v1.ObjectMeta"}


@lru_cache(maxsize=1)
def _data() -> dict[str, dict[str, Any]]:
    text = package_files.files("sanare_lab.cluster").joinpath("data/types.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, Any]] = json.loads(text)
    return loaded


def types() -> dict[str, Schema]:
    """Every built-in type by name."""
    return _data()["types"]


def type_name(resource: ResourceType) -> str | None:
    """The type of a built-in kind."""
    name: str | None = _data()["kinds"].get(f"{resource.api_version}/{resource.kind}")
    return name


def resolve(schema: Schema) -> Schema:
    """The schema itself, or what it refers to, with the list and patch rules that stand at the reference."""
    reference = schema.get("$ref")
    if not reference:
        return schema
    target = types()[reference]
    return {**target, **schema, "$ref": ""} if len(schema) > 1 else target


def field(schema: Schema, name: str) -> Schema | None:
    """The schema of one field, None where the type has no such field."""
    schema = resolve(schema)
    found: Schema | None = (schema.get("properties") or {}).get(name)
    if found is not None:
        return found
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict):
        return extra
    return ANYTHING if extra is True or is_open(schema) else None


def is_open(schema: Schema) -> bool:
    """Whether unknown fields are kept: asked for, or nothing known about an object."""
    if schema.get("x-kubernetes-preserve-unknown-fields") or schema.get("x-kubernetes-embedded-resource"):
        return True
    return not {"properties", "additionalProperties", "type", "oneOf", "x-kubernetes-int-or-string"} & schema.keys()


def items(schema: Schema) -> Schema:
    """The schema of a list's items."""
    found: Schema = resolve(schema).get("items") or ANYTHING
    return found


class SchemaBook:
    """The schema of every kind served; custom ones are added when their CRD is."""

    def __init__(self) -> None:
        self._custom: dict[str, Schema] = {}

    def add(self, resource: ResourceType, schema: Schema) -> None:
        """Use this schema for a custom kind."""
        self._custom[f"{resource.api_version}/{resource.kind}"] = schema

    def of(self, resource: ResourceType) -> Schema:
        """The schema of a kind."""
        custom = self._custom.get(f"{resource.api_version}/{resource.kind}")
        if custom is not None:
            return custom
        name = type_name(resource)
        return {"$ref": name} if name else ANYTHING


def merge_key(schema: Schema) -> str:
    """The key by which a strategic merge patch pairs the items of a list, empty where it replaces the list."""
    if "merge" not in schema.get("x-kubernetes-patch-strategy", ""):
        return ""
    return str(schema.get("x-kubernetes-patch-merge-key", ""))


def list_keys(schema: Schema) -> tuple[str, ...]:
    """The keys by which server-side apply pairs the items of a list."""
    if schema.get("x-kubernetes-list-type") != "map":
        return ()
    return tuple(schema.get("x-kubernetes-list-map-keys", ()))


def with_defaults(schema: Schema, value: Any) -> Any:
    """The value with every `default` of the schema filled in; shares what it does not change."""
    schema = resolve(schema)
    if isinstance(value, dict):
        filled: Obj = {}
        for name, item in value.items():
            part = field(schema, name)
            filled[name] = item if part is None else with_defaults(part, item)
        for name, part in (schema.get("properties") or {}).items():
            if name not in filled and "default" in part:
                filled[name] = with_defaults(part, part["default"])
        return filled
    if isinstance(value, list):
        part = items(schema)
        return value if part is ANYTHING else [with_defaults(part, item) for item in value]
    return value
