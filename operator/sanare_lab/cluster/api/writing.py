"""Create, update, patch, apply and delete, and the scale subresource."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from aiohttp import web

from sanare_lab.cluster import errors, managed, patch
from sanare_lab.cluster.api.reading import listed
from sanare_lab.cluster.api.rendering import View, json_answer, render_list, render_object
from sanare_lab.cluster.api.request import Call
from sanare_lab.cluster.api.scale import scale_of, scaled
from sanare_lab.cluster.decoding import decode
from sanare_lab.cluster.objects import Obj, clone, name_of, namespace_of
from sanare_lab.cluster.resources import NODES, ResourceType
from sanare_lab.cluster.schemas import SchemaBook
from sanare_lab.cluster.store import Store
from sanare_lab.cluster.tables import TableBook

_CONFLICT_TRIES = 5
_STRATEGIC = "application/strategic-merge-patch+json"
_APPLY = "application/apply-patch+yaml"


class Writer:
    """Every write that comes over HTTP."""

    def __init__(self, store: Store, book: SchemaBook, tables: TableBook) -> None:
        self._store = store
        self._book = book
        self._tables = tables

    async def create(self, call: Call) -> web.Response:
        """POST of a collection."""
        body = self._checked(call, await call.object_body())
        if call.resource.has_status and call.resource is not NODES:
            body.pop("status", None)
            body |= {} if call.resource.custom else {"status": {}}
        created = self._store.create(call.resource, body, dry_run=call.dry_run, finish=self._finish(call, "Update"))
        return self._answer(call, created, 201)

    async def update(self, call: Call) -> web.Response:
        """PUT of an object or its status. Raises ApiError 400 where the body names another object."""
        target = call.target
        body = await call.object_body()
        if name_of(body) != target.name:
            raise _other_name(body, target.name)
        body = self._checked(call, body)
        if not body["metadata"].get("resourceVersion") and target.resource.custom:
            raise errors.unversioned(target.resource, target.name)
        return self._answer(call, self._store_update(call, body, "Update"))

    async def patch(self, call: Call) -> web.Response:
        """PATCH of an object or its status, in any of the four forms."""
        kind = call.http.content_type
        body = await call.body()
        if kind == _APPLY:
            return self._apply(call, body)
        change = self._change(call, kind, body)
        for _ in range(_CONFLICT_TRIES):
            old = self._store.require(call.resource, call.target.namespace, call.target.name)
            new = self._patched(call, old, change(old), body)
            try:
                return self._answer(call, self._store_update(call, new, "Update"))
            except errors.ApiError as error:
                if error.reason != "Conflict" or _names_version(body):
                    raise
        raise errors.conflict(call.resource, call.target.name)

    def _change(self, call: Call, kind: str, body: Any) -> Callable[[Obj], Any]:
        if kind == "application/json-patch+json":
            return lambda old: patch.json_patch(old, body)
        if kind == "application/merge-patch+json":
            return lambda old: patch.merge(old, _mapping(body))
        if kind == _STRATEGIC and not call.resource.custom:
            schema = self._book.of(call.resource)
            return lambda old: patch.strategic(old, _mapping(body), schema)
        raise errors.unsupported_patch(call.resource, kind)

    def _patched(self, call: Call, old: Obj, new: Any, patch_body: Any) -> Obj:
        """The patched object, decoded: identity cannot be patched away."""
        if not isinstance(new, dict) or not isinstance(new.get("metadata"), dict):
            raise errors.bad_request("the patch does not leave an object")
        if new["metadata"].get("name") != old["metadata"]["name"]:
            raise _other_name(new, call.target.name)
        try:
            return self._checked(call, new)
        except errors.ApiError as error:
            marker = "cannot be handled as a"
            if error.reason != "BadRequest" or marker not in error.message:
                raise
            why = error.message.partition(f"{marker} {call.resource.kind}: ")[2]
            is_strategic = call.http.content_type == _STRATEGIC
            shown = _go_text(patch_body) if is_strategic else json.dumps(new, separators=(",", ":"))
            raise errors.invalid_patch(shown, why) from error

    def _apply(self, call: Call, body: Any) -> web.Response:
        """Server-side apply: merge what is applied into what is there, or create it."""
        resource, target = call.resource, call.target
        if not call.text("fieldManager"):
            why = "Required value: is required for apply patch"
            raise errors.invalid_options("PatchOptions", "fieldManager", why)
        body = _mapping(body)
        if not body.get("kind") or not body.get("apiVersion"):
            raise errors.bad_request(
                f"invalid object type: {body.get('apiVersion', '/')}, Kind={body.get('kind', '')}"
            )
        body.setdefault("metadata", {}).setdefault("name", target.name)
        applied = self._checked(call, body)
        old = self._store.get(resource, target.namespace, target.name)
        finish = self._finish(call, "Apply")
        if old is None and not target.subresource:
            return self._answer(
                call, self._store.create(resource, applied, dry_run=call.dry_run, finish=finish), 201
            )
        old = self._store.require(resource, target.namespace, target.name)
        merged = patch.apply(old, applied, self._book.of(resource))
        return self._answer(call, self._store_update(call, merged, "Apply"))

    def _store_update(self, call: Call, new: Obj, operation: str) -> Obj:
        return self._store.update(
            call.resource,
            new,
            subresource=call.target.subresource,
            dry_run=call.dry_run,
            finish=self._finish(call, operation),
        )

    def _finish(self, call: Call, operation: str) -> Callable[[Obj], Obj]:
        moment = self._store.clock.now()
        part = call.target.subresource
        return lambda obj: managed.stamped(
            call.resource, obj, call.manager, moment, operation=operation, subresource=part
        )

    def _checked(self, call: Call, body: Obj) -> Obj:
        """The body as an object of the kind and place in the URL; unknown fields refused, told or dropped."""
        resource = call.resource
        _check_kind(resource, body)
        decoded = decode(resource, self._book.of(resource), body)
        mode = call.text("fieldValidation") or "Warn"
        unknown = [f'unknown field "{path}"' for path in sorted(decoded.unknown)]
        if unknown and mode == "Strict":
            why = "strict decoding error: " + ", ".join(unknown)
            raise errors.bad_request(
                f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {why}'
            )
        call.warnings.extend(unknown if mode == "Warn" else ())
        return _placed(call, decoded.object)

    async def delete(self, call: Call) -> web.Response:
        """DELETE of one object: the object while something must still happen, else a Status."""
        options = await _delete_options(call)
        target = call.target
        uid = str(self._store.require(target.resource, target.namespace, target.name)["metadata"]["uid"])
        preconditions = options.get("preconditions") or {}
        gone = self._store.delete(
            target.resource,
            target.namespace,
            target.name,
            grace_seconds=options.get("gracePeriodSeconds"),
            propagation=options.get("propagationPolicy"),
            uid=preconditions.get("uid"),
            resource_version=preconditions.get("resourceVersion"),
            dry_run=call.dry_run,
        )
        if self._store.get(target.resource, target.namespace, target.name) is not None or _is_told_whole(call):
            return self._answer(call, gone)
        details: Obj = {"name": target.name, "kind": target.resource.plural, "uid": uid}
        if target.resource.group:
            details["group"] = target.resource.group
        return json_answer(
            {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
        )

    async def delete_collection(self, call: Call) -> web.Response:
        """DELETE of a collection: what was there."""
        options = await _delete_options(call)
        found = listed(self._store, call)
        for obj in found:
            self._store.delete(
                call.resource,
                namespace_of(obj),
                name_of(obj),
                grace_seconds=options.get("gracePeriodSeconds"),
                propagation=options.get("propagationPolicy"),
                dry_run=call.dry_run,
            )
        metadata = {"resourceVersion": self._store.resource_version}
        return json_answer(render_list(self._tables, call.resource, found, metadata, View.of(call.http)))

    async def scale(self, call: Call) -> web.Response:
        """The scale subresource: GET, PUT and PATCH of replicas alone."""
        target = call.target
        old = self._store.require(target.resource, target.namespace, target.name)
        if call.http.method == "GET":
            return json_answer(scale_of(old))
        body = await call.body()
        if call.http.method == "PUT":
            new = _mapping(body)
        elif call.http.content_type == "application/json-patch+json":
            new = patch.json_patch(scale_of(old), body)
        else:
            new = patch.merge(scale_of(old), _mapping(body))
        changed = scaled(target.resource, old, new)
        return json_answer(scale_of(self._store_update(call, changed, "Update")))

    def _answer(self, call: Call, obj: Obj, status: int = 200) -> web.Response:
        rendered = render_object(self._tables, call.resource, obj, View.of(call.http))
        return json_answer(rendered, status, call.warnings)


def _other_name(obj: Obj, name: str) -> errors.ApiError:
    return errors.bad_request(
        f"the name of the object ({name_of(obj)}) does not match the name on the URL ({name})"
    )


def _go_text(value: Any) -> str:
    """A value as Go's %v prints it."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{_go_text(item)}" for key, item in sorted(value.items())) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(_go_text, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return "<nil>" if value is None else str(value)


def _mapping(body: Any) -> Obj:
    if not isinstance(body, dict):
        why = "json: cannot unmarshal array into Go value of type map[string]interface {}"
        raise errors.bad_request(f"error decoding patch: {why}")
    return clone(body)


def _names_version(body: Any) -> bool:
    return isinstance(body, dict) and bool((body.get("metadata") or {}).get("resourceVersion"))


def _is_told_whole(call: Call) -> bool:
    """The real server answers a Pod's deletion with the Pod, even where it is gone at once."""
    return call.resource.kind in ("Pod", "Service", "Namespace") and not call.resource.custom


def _check_kind(resource: ResourceType, body: Obj) -> None:
    version, kind = body.get("apiVersion"), body.get("kind")
    if resource.custom and not kind:
        raise errors.bad_request(
            f"the object provided is unrecognized (must be of type {resource.kind}): Object 'Kind' is missing"
        )
    if resource.custom and kind != resource.kind:
        wrong = dataclasses.replace(resource, kind=str(kind))
        why = f'Invalid value: "{kind}": must be {resource.kind}'
        raise errors.invalid(wrong, name_of(body), [errors.Cause("kind", why)])
    if version and version != resource.api_version:
        raise errors.bad_request(
            f'{kind} in version "{version}" cannot be handled as a {resource.kind}: no kind "{kind}" is registered '
            f'for version "{version}" in scheme "pkg/runtime/scheme.go:111"'
        )
    if kind and kind != resource.kind:
        raise errors.bad_request(
            f'{kind} in version "{resource.version}" cannot be handled as a {resource.kind}: converting '
            f"({resource.version}.{kind}) to ({resource.group or 'core'}.{resource.kind}): unknown conversion"
        )


def _placed(call: Call, obj: Obj) -> Obj:
    """The object with its kind and namespace filled in. Raises ApiError 400 where it names another namespace."""
    metadata = {**(obj.get("metadata") or {})}
    named = metadata.get("namespace")
    if call.resource.namespaced:
        if named and named != call.target.namespace:
            raise errors.bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        metadata["namespace"] = call.target.namespace
    head = {"kind": call.resource.kind, "apiVersion": call.resource.api_version}
    return {**head, **obj, "metadata": metadata}


async def _delete_options(call: Call) -> Obj:
    body = await call.body()
    options = dict(body) if isinstance(body, dict) else {}
    if (grace := call.number("gracePeriodSeconds")) is not None:
        options["gracePeriodSeconds"] = grace
    if policy := call.text("propagationPolicy"):
        options["propagationPolicy"] = policy
    if options.get("orphanDependents") is not None:
        options.setdefault("propagationPolicy", "Orphan" if options["orphanDependents"] else "Background")
    return options
