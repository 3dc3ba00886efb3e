"""Patches: JSON patch (RFC 6902), merge patch (RFC 7396), strategic merge patch, and server-side apply's merge."""

from __future__ import annotations

from typing import Any

from sanare_lab.cluster import schemas
from sanare_lab.cluster.errors import ApiError, bad_request
from sanare_lab.cluster.objects import Obj, clone
from sanare_lab.cluster.schemas import Schema

_ORDER = "$setElementOrder/"
_REMOVE = "$deleteFromPrimitiveList/"


def merge(target: Any, patch: Any) -> Any:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return clone(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def json_patch(target: Any, operations: Any) -> Any:
    """RFC 6902. Raises ApiError 400 for what is no patch, 422 for one that does not fit the object."""
    if not isinstance(operations, list):
        why = "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"
        raise bad_request(f"error decoding patch: {why}")
    document = clone(target)
    for operation in operations:
        document = _operate(document, operation)
    return document


def _unfit() -> ApiError:
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {})


def _operate(document: Any, operation: Obj) -> Any:
    name, path = operation.get("op"), _pointer(operation.get("path"))
    if name in ("move", "copy"):
        source = _pointer(operation.get("from"))
        value = clone(_at(document, source))
        document = _remove(document, source) if name == "move" else document
        return _add(document, path, value)
    if name == "add":
        return _add(document, path, clone(operation.get("value")))
    if name == "remove":
        return _remove(document, path)
    if name == "replace":
        return _set(document, path, clone(operation.get("value")))
    if name == "test":
        if _at(document, path, missing_is_none=True) != operation.get("value"):
            raise _unfit()
        return document
    raise _unfit()


def _pointer(path: object) -> list[str]:
    if not isinstance(path, str) or (path and not path.startswith("/")):
        raise _unfit()
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def _step(node: Any, step: str, *, end: int = 0) -> Any:
    if isinstance(node, list):
        if step == "-" and end:
            return len(node)
        if not step.isdigit() or int(step) >= len(node) + end:
            raise _unfit()
        return int(step)
    if not isinstance(node, dict):
        raise _unfit()
    return step


def _at(document: Any, path: list[str], *, missing_is_none: bool = False) -> Any:
    node = document
    for step in path:
        key = _step(node, step)
        if isinstance(node, dict) and key not in node:
            if missing_is_none:
                return None
            raise _unfit()
        node = node[key]
    return node


def _set(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent = _at(document, path[:-1])
    parent[_step(parent, path[-1])] = value
    return document


def _add(document: Any, path: list[str], value: Any) -> Any:
    parent = _at(document, path[:-1]) if path else None
    if isinstance(parent, list):
        parent.insert(_step(parent, path[-1], end=1), value)
        return document
    return _set(document, path, value)


def _remove(document: Any, path: list[str]) -> Any:
    _at(document, path)
    parent = _at(document, path[:-1])
    del parent[_step(parent, path[-1])]
    return document


def strategic(target: Any, patch: Any, schema: Schema) -> Any:
    """A strategic merge patch of an object, by the merge keys of its schema. Raises ApiError 400."""
    if not isinstance(patch, dict):
        return clone(patch)
    directive = patch.get("$patch")
    if directive == "replace":
        return clone({key: value for key, value in patch.items() if key != "$patch"})
    if directive == "delete":
        return {}
    result = dict(target) if isinstance(target, dict) else {}
    if "$retainKeys" in patch:
        result = {key: value for key, value in result.items() if key in patch["$retainKeys"]}
    for key, value in patch.items():
        if not key.startswith("$"):
            _strategic_field(result, key, value, schema, patch.get(_ORDER + key))
    for key in patch:
        _strategic_directive(result, key, patch, schema)
    return result


def _strategic_field(result: Obj, key: str, value: Any, schema: Schema, order: Any) -> None:
    if value is None:
        result.pop(key, None)
        return
    part = schemas.resolve(schemas.field(schema, key) or schemas.ANYTHING)
    if isinstance(value, list) and "merge" in part.get("x-kubernetes-patch-strategy", ""):
        result[key] = _strategic_list(result.get(key) or [], value, part, order)
    elif isinstance(value, dict):
        result[key] = strategic(result.get(key), value, part)
    else:
        result[key] = clone(value)


def _strategic_directive(result: Obj, key: str, patch: Obj, schema: Schema) -> None:
    """Element order and removals for lists that the patch does not otherwise touch."""
    if key.startswith(_REMOVE):
        name = key.removeprefix(_REMOVE)
        result[name] = [item for item in result.get(name) or [] if item not in patch[key]]
    if key.startswith(_ORDER):
        name = key.removeprefix(_ORDER)
        part = schemas.resolve(schemas.field(schema, name) or schemas.ANYTHING)
        if name not in patch and isinstance(result.get(name), list):
            result[name] = _ordered(result[name], result[name], patch[key], schemas.merge_key(part))


def _strategic_list(live: list[Any], patch: list[Any], schema: Schema, order: Any) -> list[Any]:
    key = schemas.merge_key(schema)
    if not key:
        merged = [*live, *(item for item in patch if item not in live)]
        return _ordered(merged, live, order if isinstance(order, list) else patch, key)
    if any(isinstance(item, dict) and item.get("$patch") == "replace" for item in patch):
        return [clone(item) for item in patch if "$patch" not in item]
    if not live:
        return [strategic({}, item, schemas.items(schema)) for item in patch if not _is_removal(item)]
    merged = list(live)
    for item in patch:
        _merge_item(merged, item, key, schemas.items(schema))
    named = order if isinstance(order, list) else [item for item in patch if not _is_removal(item)]
    return _ordered(merged, live, named, key)


def _is_removal(item: Any) -> bool:
    return isinstance(item, dict) and item.get("$patch") == "delete"


def _merge_item(merged: list[Any], item: Any, key: str, schema: Schema) -> None:
    if not isinstance(item, dict) or key not in item:
        raise bad_request(f"map: {item} does not contain declared merge key: {key}")
    at = next((index for index, old in enumerate(merged) if old.get(key) == item[key]), None)
    if _is_removal(item):
        if at is not None:
            del merged[at]
    elif at is None:
        merged.append(strategic({}, item, schema))
    else:
        merged[at] = strategic(merged[at], item, schema)


def _ordered(merged: list[Any], live: list[Any], order: list[Any], key: str) -> list[Any]:
    """The items that `order` names in that order; the others keep their place before what followed them."""

    def identity(item: Any) -> Any:
        return item.get(key) if key and isinstance(item, dict) else item

    rank = {str(identity(item)): index for index, item in enumerate(order)}
    place = {str(identity(item)): index for index, item in enumerate(live)}
    named = sorted((i for i in merged if str(identity(i)) in rank), key=lambda i: rank[str(identity(i))])
    others = [item for item in merged if str(identity(item)) not in rank]
    result: list[Any] = []
    for item in named:
        here = place.get(str(identity(item)))
        while others and here is not None and place.get(str(identity(others[0])), len(live)) < here:
            result.append(others.pop(0))
        result.append(item)
    return result + others


def apply(target: Any, applied: Any, schema: Schema) -> Any:
    """Server-side apply's merge: maps by key, lists of type map by their keys, sets united, the rest replaced."""
    schema = schemas.resolve(schema)
    if isinstance(applied, dict) and schema.get("x-kubernetes-map-type") != "atomic":
        result = dict(target) if isinstance(target, dict) else {}
        for key, value in applied.items():
            part = schemas.field(schema, key) or schemas.ANYTHING
            result[key] = apply(result.get(key), value, part)
        return result
    if isinstance(applied, list) and isinstance(target, list):
        return _apply_list(target, applied, schema)
    return clone(applied)


def _apply_list(target: list[Any], applied: list[Any], schema: Schema) -> list[Any]:
    if schema.get("x-kubernetes-list-type") == "set":
        return [*target, *(item for item in applied if item not in target)]
    keys = schemas.list_keys(schema)
    if not keys:
        return clone(applied)
    part = schemas.items(schema)
    defaults = {key: (schemas.field(part, key) or {}).get("default") for key in keys}

    def identity(item: Obj) -> tuple[Any, ...]:
        return tuple(item.get(key, defaults[key]) for key in keys)

    merged = list(target)
    for item in applied:
        at = next((index for index, old in enumerate(merged) if identity(old) == identity(item)), None)
        if at is None:
            merged.append(clone(item))
        else:
            merged[at] = apply(merged[at], item, part)
    return merged
