"""Rendering: an object or a list in the form that the Accept header asks for."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from sanare_lab.cluster.errors import ApiError
from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.resources import ResourceType
from sanare_lab.cluster.tables import Table, TableBook

_META = "meta.k8s.io/v1"


class Form(enum.Enum):
    """What to send of an object."""

    WHOLE = "whole"
    TABLE = "table"
    METADATA = "metadata"


def wanted_form(accept: str) -> Form:
    """The first form in an Accept header that this server has."""
    for choice in accept.split(","):
        if "protobuf" in choice or "cbor" in choice:
            continue
        if "as=Table" in choice:
            return Form.TABLE
        if "as=PartialObjectMetadata" in choice:
            return Form.METADATA
        return Form.WHOLE
    return Form.WHOLE


def json_answer(body: Any, status: int = 200, warnings: list[str] | None = None) -> web.Response:
    """JSON, with a Warning header for each warning."""
    answer = web.Response(body=json.dumps(body, separators=(",", ":")).encode(), status=status)
    answer.content_type = "application/json"
    for warning in warnings or ():
        escaped = warning.replace("\\", "\\\\").replace('"', '\\"')
        answer.headers.add("Warning", f'299 - "{escaped}"')
    return answer


def error_answer(error: ApiError) -> web.Response:
    """A Status object."""
    answer = json_answer(error.body(), error.status)
    seconds = (error.details or {}).get("retryAfterSeconds")
    if seconds:
        answer.headers["Retry-After"] = str(seconds)
    return answer


def partial(obj: Obj) -> Obj:
    """Only metadata."""
    return {"kind": "PartialObjectMetadata", "apiVersion": _META, "metadata": obj["metadata"]}


@dataclass(frozen=True, slots=True)
class View:
    """How a client wants to see objects: the form, and for a Table how much of each object its row carries."""

    form: Form
    row_object: str = "Metadata"

    @classmethod
    def of(cls, request: web.Request) -> View:
        """What a request asks for."""
        form = wanted_form(request.headers.get("Accept", ""))
        return cls(form, request.query.get("includeObject", "Metadata"))

    def row(self, table: Table, obj: Obj) -> Obj:
        """The row of an object."""
        carried = {"None": {}, "Object": {"object": obj}}
        return {"cells": table.cells(obj), **carried.get(self.row_object, {"object": partial(obj)})}


def render_object(tables: TableBook, resource: ResourceType, obj: Obj, view: View) -> Obj:
    """One object as it is wanted."""
    if view.form is Form.METADATA:
        return partial(obj)
    if view.form is Form.TABLE:
        version = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
        return render_table(tables, resource, [obj], version, view)
    return obj


def render_list(tables: TableBook, resource: ResourceType, found: list[Obj], metadata: Obj, view: View) -> Obj:
    """A list as it is wanted. As on the real server, items of built-in kinds do not repeat kind and apiVersion."""
    if view.form is Form.TABLE:
        return render_table(tables, resource, found, metadata, view)
    if view.form is Form.METADATA:
        head = {"kind": "PartialObjectMetadataList", "apiVersion": _META, "metadata": metadata}
        return {**head, "items": [{"metadata": obj["metadata"]} for obj in found]}
    head = {"kind": resource.kind + "List", "apiVersion": resource.api_version, "metadata": metadata}
    if resource.custom:
        return {**head, "items": found}
    return {**head, "items": [{k: v for k, v in o.items() if k not in ("kind", "apiVersion")} for o in found]}


def render_table(
    tables: TableBook,
    resource: ResourceType,
    found: list[Obj],
    metadata: Obj,
    view: View,
    *,
    columns: bool = True,
) -> Obj:
    """A Table; a watch leaves the columns out after its first row."""
    table = tables.of(resource)
    return {
        "kind": "Table",
        "apiVersion": _META,
        "metadata": metadata,
        "columnDefinitions": table.definitions() if columns else None,
        "rows": [view.row(table, obj) for obj in found],
    }
