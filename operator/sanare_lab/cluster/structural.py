"""Validation of custom objects against their structural schema, in the words of the real server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from sanare_lab.cluster import schemas
from sanare_lab.cluster.errors import Cause
from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.rules import check_rules, has_rules
from sanare_lab.cluster.schemas import Schema

_BLOCKING = (
    "FieldValueTypeInvalid",
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueNotSupported",
)
_UNCHECKED = Cause(
    "<nil>",
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the "
    "existing errors to complete validation",
)


def violations(schema: Schema, new: Obj, old: Obj | None) -> list[Cause]:
    """What is wrong with an object; rules are checked only where its shape is right, as on the real server."""
    found = list(_required(schema, new))
    for key in sorted(new.keys() - {"apiVersion", "kind", "metadata"}):
        part = schemas.field(schema, key)
        if part is not None:
            found += _value(part, new[key], key)
    if not has_rules(schema):
        return found
    if any(cause.reason in _BLOCKING for cause in found):
        return [*found, _UNCHECKED]
    return found + list(check_rules(schema, new, old))


def _required(schema: Schema, value: Obj, path: str = "") -> Iterator[Cause]:
    for name in schema.get("required") or ():
        if name not in value:
            yield Cause(f"{path}.{name}" if path else name, "Required value", "FieldValueRequired")


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    names = {"bool": "boolean", "int": "integer", "float": "number", "str": "string", "list": "array"}
    return names.get(type(value).__name__, "object")


def _invalid(path: str, value: Any, why: str) -> Cause:
    return Cause(path, f"Invalid value: {json.dumps(value)}: {path} in body {why}")


def _value(schema: Schema, value: Any, path: str) -> Iterator[Cause]:
    schema = schemas.resolve(schema)
    wrong = _wrong_type(schema, value)
    if wrong:
        shown = json.dumps(_type_name(value))
        message = f"Invalid value: {shown}: {path} in body must be of type {wrong}: {shown}"
        yield Cause(path, message, "FieldValueTypeInvalid")
    yield from _enum(schema, value, path)
    if wrong or value is None:
        return
    if isinstance(value, str):
        yield from _string(schema, value, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number(schema, value, path)
    elif isinstance(value, list):
        yield from _list(schema, value, path)
    elif isinstance(value, dict):
        yield from _object(schema, value, path)


def _object(schema: Schema, value: Obj, path: str) -> Iterator[Cause]:
    limit = schema.get("maxProperties")
    if limit is not None and len(value) > limit:
        yield _too_many(path, len(value), limit)
    yield from _required(schema, value, path)
    for name in sorted(value):
        part = schemas.field(schema, name)
        if part is not None:
            yield from _value(part, value[name], f"{path}.{name}")


def _list(schema: Schema, value: list[Any], path: str) -> Iterator[Cause]:
    limit = schema.get("maxItems")
    if limit is not None and len(value) > limit:
        yield _too_many(path, len(value), limit)
    least = schema.get("minItems")
    if least is not None and len(value) < least:
        yield _invalid(path, len(value), f"should have at least {least} items")
    part = schemas.items(schema)
    for index, item in enumerate(value):
        yield from _value(part, item, f"{path}[{index}]")
    yield from _duplicates(schema, value, path)


def _wrong_type(schema: Schema, value: Any) -> str:
    """The type that is wanted, empty where the value has it."""
    found = _type_name(value)
    if schema.get("x-kubernetes-int-or-string"):
        return "" if found in ("integer", "string") else "integer,string"
    wanted = schema.get("type", "")
    if not wanted or found == wanted or (wanted == "number" and found == "integer"):
        return ""
    if value is None and schema.get("nullable"):
        return ""
    return str(wanted)


def _enum(schema: Schema, value: Any, path: str) -> Iterator[Cause]:
    allowed = schema.get("enum")
    if allowed is None or value in allowed or (value is None and schema.get("nullable")):
        return
    supported = ", ".join(json.dumps(item) for item in allowed)
    message = f"Unsupported value: {json.dumps(value)}: supported values: {supported}"
    yield Cause(path, message, "FieldValueNotSupported")


def _string(schema: Schema, value: str, path: str) -> Iterator[Cause]:
    """The first thing that is wrong with a string: the real server stops there too."""
    most, least, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
    if most is not None and len(value) > most:
        yield Cause(path, f"Too long: may not be more than {most} bytes", "FieldValueTooLong")
    elif least is not None and len(value) < least:
        yield _invalid(path, value, f"should be at least {least} chars long")
    elif pattern and not re.search(pattern, value):
        yield _invalid(path, value, f"should match '{pattern}'")
    elif schema.get("format") == "date-time" and not _is_date_time(value):
        shown = json.dumps(value)
        message = f"Invalid value: {shown}: {path} in body must be of type date-time: {shown}"
        yield Cause(path, message, "FieldValueTypeInvalid")


def _is_date_time(value: str) -> bool:
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", value))


def _number(schema: Schema, value: float, path: str) -> Iterator[Cause]:
    most, least = schema.get("maximum"), schema.get("minimum")
    if most is not None and value > most:
        yield _invalid(path, value, f"should be less than or equal to {most:g}")
    if least is not None and value < least:
        yield _invalid(path, value, f"should be greater than or equal to {least:g}")


def _too_many(path: str, found: int, limit: int) -> Cause:
    return Cause(path, f"Too many: {found}: must have at most {limit} items", "FieldValueTooMany")


def _duplicates(schema: Schema, value: list[Any], path: str) -> Iterator[Cause]:
    keys = schemas.list_keys(schema)
    is_set = schema.get("x-kubernetes-list-type") == "set"
    if not keys and not is_set:
        return
    seen: list[Any] = []
    for index, item in enumerate(value):
        identity = {key: item[key] for key in keys if key in item} if keys and isinstance(item, dict) else item
        if identity in seen:
            shown = json.dumps(identity, separators=(",", ":"))
            yield Cause(f"{path}[{index}]", f"Duplicate value: {shown}", "FieldValueDuplicate")
        seen.append(identity)
