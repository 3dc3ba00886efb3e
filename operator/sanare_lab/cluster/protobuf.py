"""Reading protobuf bodies: some kubectl commands (create, autoscale, auth can-i) send nothing else.

`data/protobuf.json` names the field numbers of what they send; `+TYPE` is a message that JSON has inline. Types
of the values come from the schema. Fields without a number there are skipped. Nothing is ever written in protobuf.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import struct
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources as package_files
from typing import Any

from sanare_lab.cluster import schemas
from sanare_lab.cluster.errors import bad_request
from sanare_lab.cluster.objects import Obj, timestamp
from sanare_lab.cluster.resources import ResourceType
from sanare_lab.cluster.schemas import Schema

MAGIC = b"k8s\x00"
_META = "apimachinery.pkg.apis.meta.v1."


@lru_cache(maxsize=1)
def _numbers() -> dict[str, dict[str, str]]:
    text = package_files.files("sanare_lab.cluster").joinpath("data/protobuf.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, str]] = json.loads(text)
    return loaded


def decode(raw: bytes) -> Obj:
    """The object in a protobuf body, as JSON. Raises ApiError 400 for what is none."""
    if not raw.startswith(MAGIC):
        raise bad_request("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    try:
        envelope = dict(_fields(raw[len(MAGIC) :]))
        head = dict(_fields(envelope.get(1, b"")))
        api_version, kind = head.get(1, b"").decode(), head.get(2, b"").decode()
        name = _type_of(api_version, kind)
        return {"apiVersion": api_version, "kind": kind, **_message(name, envelope.get(2, b""))}
    except (IndexError, ValueError, TypeError, AttributeError, struct.error) as error:
        raise bad_request(f"the protobuf body cannot be read: {error}") from error


def _type_of(api_version: str, kind: str) -> str:
    if kind == "DeleteOptions":
        return f"{_META}{kind}"
    group, _, version = api_version.rpartition("/")
    found = schemas.type_name(ResourceType(kind, group, version, "", ""))
    if found is None:
        raise bad_request(f'no kind "{kind}" is registered for version "{api_version}"')
    return found


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def _fields(raw: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(raw):
        key, at = _varint(raw, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(raw, at)
            yield number, value
        elif wire == 2:
            size, at = _varint(raw, at)
            yield number, raw[at : at + size]
            at += size
        else:
            width = 8 if wire == 1 else 4
            yield number, raw[at : at + width]
            at += width


def _message(name: str, raw: bytes, schema: Schema | None = None) -> Obj:
    """The fields of a message; `schema` is another's where the message stands inline in it."""
    numbers = _numbers().get(name, {})
    of = schema or schemas.types().get(name) or {}
    result: Obj = {}
    for number, value in _fields(raw):
        field = numbers.get(str(number))
        if field is None:
            continue
        if field.startswith("+"):
            result |= _message(field[1:], value, of)
            continue
        part = (of.get("properties") or {}).get(field)
        if part is not None:
            _put(result, field, part, value)
    return {key: value for key, value in result.items() if value not in ("", None)}


def _put(result: Obj, field: str, part: Schema, value: Any) -> None:
    if part.get("type") == "array":
        result.setdefault(field, []).append(_value(part["items"], value))
    elif "additionalProperties" in part:
        entry = dict(_fields(value))
        key = entry.get(1, b"").decode()
        result.setdefault(field, {})[key] = _value(part["additionalProperties"], entry.get(2, b""))
    else:
        result[field] = _value(part, value)


def _value(part: Schema, value: Any) -> Any:
    reference = part.get("$ref")
    if reference:
        return _referred(reference, value)
    kind = part.get("type")
    if kind == "boolean":
        return bool(value)
    if kind == "integer":
        return value - (1 << 64) if value >= 1 << 63 else value
    if kind == "number":
        return struct.unpack("<d", value)[0]
    return base64.b64encode(value).decode() if part.get("format") == "byte" else value.decode()


def _referred(reference: str, value: bytes) -> Any:
    if reference in (f"{_META}Time", f"{_META}MicroTime"):
        found = dict(_fields(value))
        return timestamp(dt.datetime.fromtimestamp(found[1], dt.UTC)) if found.get(1) else None
    if reference.endswith(".Quantity"):
        return dict(_fields(value)).get(1, b"0").decode()
    if reference.endswith(".IntOrString"):
        found = dict(_fields(value))
        return found.get(3, b"").decode() if found.get(1) else found.get(2, 0)
    return _message(reference, value)
