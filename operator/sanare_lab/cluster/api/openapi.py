"""OpenAPI v3: the schemas behind `kubectl explain`, and the paths that tell kubectl what the server checks."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sanare_lab.cluster import schemas
from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.resources import Registry, ResourceType
from sanare_lab.cluster.schemas import Schema, SchemaBook

_PREFIX = "#/components/schemas/"
_BUILT_IN = "io.k8s."
_PARAMETERS = [
    {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
    for name in ("dryRun", "fieldManager", "fieldValidation")
]


def index(registry: Registry, book: SchemaBook) -> Obj:
    """The answer of /openapi/v3: where each group version's document is, with a hash that changes with it."""
    versions = sorted({resource.api_version for resource in registry})
    paths: Obj = {}
    for version in versions:
        key = _path(version)
        content = json.dumps([book.of(r) for r in registry if r.api_version == version], default=str)
        digest = hashlib.sha256(content.encode()).hexdigest().upper()
        paths[key] = {"serverRelativeURL": f"/openapi/v3/{key}?hash={digest}"}
    return {"paths": paths}


def _path(api_version: str) -> str:
    return f"apis/{api_version}" if "/" in api_version else f"api/{api_version}"


def document(registry: Registry, book: SchemaBook, path: str) -> Obj | None:
    """The OpenAPI v3 document of one group version, None where there is none."""
    found = [resource for resource in registry if _path(resource.api_version) == path]
    if not found:
        return None
    components: Obj = {}
    paths: Obj = {}
    for resource in found:
        built_in = schemas.type_name(resource)
        name = _BUILT_IN + built_in if built_in else _custom_name(resource)
        body = dict(schemas.resolve(book.of(resource)))
        body["x-kubernetes-group-version-kind"] = [_group_version_kind(resource)]
        components[name] = _rendered(body, components)
        paths[_url(resource)] = _operations(resource, name)
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.37.2"},
        "paths": paths,
        "components": {"schemas": components},
    }


def _custom_name(resource: ResourceType) -> str:
    return ".".join([*reversed(resource.group.split(".")), resource.version, resource.kind])


def _group_version_kind(resource: ResourceType) -> Obj:
    return {"group": resource.group, "kind": resource.kind, "version": resource.version}


def _url(resource: ResourceType) -> str:
    scope = "/namespaces/{namespace}" if resource.namespaced else ""
    return f"/{_path(resource.api_version)}{scope}/{resource.plural}/{{name}}"


def _operations(resource: ResourceType, name: str) -> Obj:
    answer = {"200": {"content": {"application/json": {"schema": {"$ref": _PREFIX + name}}}, "description": "OK"}}
    about = {"x-kubernetes-group-version-kind": _group_version_kind(resource), "responses": answer}
    verbs = {"get": "get", "put": "put", "patch": "patch", "delete": "delete"}
    operations: Obj = {}
    for method, action in verbs.items():
        operations[method] = {**about, "x-kubernetes-action": action}
        if method != "get":
            operations[method]["parameters"] = _PARAMETERS
    return operations


def _rendered(schema: Schema, components: Obj) -> Any:
    """The schema with references spelled as in a document, and what it refers to added to the components."""
    rendered: Obj = {}
    for key, value in schema.items():
        if key == "$ref":
            if value:
                rendered |= _reference(value, components)
        elif key == "properties":
            rendered[key] = {name: _rendered(part, components) for name, part in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            rendered[key] = _rendered(value, components)
        else:
            rendered[key] = value
    return rendered


def _reference(type_name: str, components: Obj) -> Obj:
    name = _BUILT_IN + type_name
    if name not in components:
        components[name] = {}
        components[name] = _rendered(schemas.types()[type_name], components)
    return {"allOf": [{"$ref": _PREFIX + name}]}
