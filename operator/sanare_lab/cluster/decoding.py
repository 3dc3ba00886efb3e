"""Decoding: an object as it came in becomes one of its kind: unknown fields found and dropped, types checked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from sanare_lab.cluster import errors, schemas
from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.resources import ResourceType
from sanare_lab.cluster.schemas import Schema

_QUANTITY = re.compile(r"^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$")
_GO_KIND = {"string": "string", "boolean": "bool", "array": "slice", "object": "map", "number": "float64"}
_QUANTITY_TYPE = "apimachinery.pkg.api.resource.Quantity"


@dataclass
class Decoded:
    """An object without the fields that its kind does not have, and the paths of those."""

    object: Obj
    unknown: list[str] = field(default_factory=list)


def decode(resource: ResourceType, schema: Schema, obj: Obj) -> Decoded:
    """Read an object as its kind. Raises ApiError 400 on a value of the wrong type in a built-in kind."""
    decoded = Decoded({})
    walk = _Walk(resource, decoded.unknown)
    decoded.object = walk.value(schema, obj, "", resource.kind)
    return decoded


class _Walk:
    def __init__(self, resource: ResourceType, unknown: list[str]) -> None:
        self._resource = resource
        self._unknown = unknown

    def value(self, schema: Schema, value: Any, path: str, owner: str) -> Any:
        reference = schema.get("$ref", "")
        strict = not self._resource.custom or path.startswith("metadata")
        if reference == _QUANTITY_TYPE:
            return self._quantity(value, strict)
        resolved = schemas.resolve(schema)
        if strict:
            self._check_type(resolved, value, path, owner)
        if isinstance(value, dict):
            return self._object(resolved, value, path, reference.rpartition(".")[2] or owner)
        if isinstance(value, list):
            part = schemas.items(resolved)
            return [self.value(part, item, f"{path}[{index}]", owner) for index, item in enumerate(value)]
        return value

    def _object(self, schema: Schema, value: Obj, path: str, owner: str) -> Obj:
        kept: Obj = {}
        for name, item in value.items():
            part = schemas.field(schema, name)
            inner = f"{path}.{name}" if path else name
            if "additionalProperties" in schema and not self._resource.custom:
                inner = path  # Go names the field that holds the map
            if part is None:
                self._unknown.append(inner)
            elif item is not None or self._resource.custom:
                kept[name] = self.value(part, item, inner, owner)
        return kept

    def _quantity(self, value: Any, strict: bool) -> Any:
        text = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
        if not strict:
            return value
        if not isinstance(text, str) or not _QUANTITY.match(text):
            raise self._refusal(f"quantities must match the regular expression '{_QUANTITY.pattern}'")
        return text

    def _check_type(self, schema: Schema, value: Any, path: str, owner: str) -> None:
        wanted = schema.get("type")
        if value is None or wanted is None or _is_of(wanted, value):
            return
        go = schema.get("format") if wanted == "integer" else _GO_KIND[wanted]
        found = _go_name(value)
        at = re.sub(r"\[\d+\]", "", path)
        raise self._refusal(
            f"json: cannot unmarshal {found} into Go struct field {owner}.{at} of type {go or 'int'}"
        )

    def _refusal(self, why: str) -> errors.ApiError:
        kind, version = self._resource.kind, self._resource.version
        return errors.bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {why}')


def _is_of(wanted: str, value: Any) -> bool:
    if wanted == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if wanted == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    kinds: dict[str, type] = {"string": str, "boolean": bool, "array": list, "object": dict}
    return isinstance(value, kinds[wanted])


def _go_name(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return {"str": "string", "list": "array", "dict": "object"}[type(value).__name__]
