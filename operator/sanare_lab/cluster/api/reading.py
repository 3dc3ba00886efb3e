"""Get and list."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from aiohttp import web

from sanare_lab.cluster.api.queries import Predicate, field_predicate, label_predicate
from sanare_lab.cluster.api.rendering import View, json_answer, render_list, render_object
from sanare_lab.cluster.api.request import Call
from sanare_lab.cluster.errors import ApiError, bad_request, expired
from sanare_lab.cluster.objects import Obj, name_of, namespace_of
from sanare_lab.cluster.store import Store
from sanare_lab.cluster.tables import TableBook


def get(store: Store, tables: TableBook, call: Call) -> web.Response:
    """One object."""
    target = call.target
    found = store.require(target.resource, target.namespace, target.name)
    return json_answer(render_object(tables, target.resource, found, View.of(call.http)))


def selection(call: Call) -> Predicate:
    """Whether an object is in the collection that a request names. Raises ApiError 400."""
    predicates: list[Callable[[Obj], bool]] = []
    labels = label_predicate(call.text("labelSelector"))
    fields = field_predicate(call.resource, call.text("fieldSelector"))
    predicates = [predicate for predicate in (labels, fields) if predicate]
    namespace, name = call.target.namespace, call.target.name
    if namespace:
        predicates.append(lambda obj: namespace_of(obj) == namespace)
    if name:
        predicates.append(lambda obj: name_of(obj) == name)
    return lambda obj: all(predicate(obj) for predicate in predicates)


def _place(obj: Obj) -> str:
    return f"{namespace_of(obj)}/{name_of(obj)}"


def listed(store: Store, call: Call) -> list[Obj]:
    """The objects of the collection that a request names, in the order of their names."""
    found = store.list(call.resource, call.target.namespace)
    keep = selection(call)
    return sorted((obj for obj in found if keep(obj)), key=_place)


def list_objects(store: Store, tables: TableBook, call: Call) -> web.Response:
    """A collection, or a page of it."""
    _check_version(store, call)
    found = listed(store, call)
    version, after = store.resource_version, ""
    if call.text("continue"):
        version, after = _parse_token(store, call)
        found = [obj for obj in found if _place(obj) > after]
    metadata: Obj = {"resourceVersion": version}
    limit = call.number("limit") or 0
    if limit and len(found) > limit:
        metadata["continue"] = _token(version, _place(found[limit - 1]))
        if not call.text("labelSelector") and not call.text("fieldSelector"):
            metadata["remainingItemCount"] = len(found) - limit
        found = found[:limit]
    return json_answer(render_list(tables, call.resource, found, metadata, View.of(call.http)))


def _check_version(store: Store, call: Call) -> None:
    version = parse_version(call.text("resourceVersion"))
    current = int(store.resource_version)
    if version > current:
        message = f"Timeout: Too large resource version: {version}, current: {current}"
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        raise ApiError(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})
    if call.text("resourceVersionMatch") == "Exact" and version != current:
        raise expired("The resourceVersion for the provided list is too old.")


def parse_version(text: str) -> int:
    """A resourceVersion, 0 where none is given. Raises ApiError 400."""
    if not text:
        return 0
    if not text.isdigit():
        why = f'Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        raise bad_request(f"invalid resource version: resourceVersion: {why}")
    return int(text)


def _token(version: str, after: str) -> str:
    return base64.urlsafe_b64encode(json.dumps({"v": version, "after": after}).encode()).decode().rstrip("=")


def _parse_token(store: Store, call: Call) -> tuple[str, str]:
    text = call.text("continue")
    try:
        token = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        version, after = str(token["v"]), str(token["after"])
    except (ValueError, KeyError, TypeError) as error:
        raise bad_request(
            "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"
        ) from error
    if store.log.is_too_old(call.resource, int(version)):
        raise expired(
            "The provided continue parameter is too old to display a consistent list result. You must start a new "
            "list without the continue parameter."
        )
    return version, after
