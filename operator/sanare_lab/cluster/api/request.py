"""Call: one HTTP request, read as the API server reads it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import yaml
from aiohttp import web

from sanare_lab.cluster import protobuf
from sanare_lab.cluster.errors import ApiError, bad_request, invalid_options, no_such_path
from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.resources import NAMESPACES, Registry, ResourceType

_FLAGS = {"true": True, "1": True, "false": False, "0": False, "": False}


@dataclass(frozen=True, slots=True)
class Target:
    """What a path names: a collection, one object, or its subresource with the rest of the path."""

    resource: ResourceType
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: str = ""


@dataclass
class Call:
    """A request and what it is about. `warnings` become Warning headers of the answer."""

    http: web.Request
    target: Target
    warnings: list[str] = field(default_factory=list)

    @property
    def resource(self) -> ResourceType:
        """The kind that the path names."""
        return self.target.resource

    def text(self, name: str) -> str:
        """A query parameter, empty where there is none."""
        return str(self.http.query.get(name, ""))

    def flag(self, name: str) -> bool:
        """A boolean query parameter."""
        return _FLAGS.get(self.text(name).lower(), False)

    def number(self, name: str) -> int | None:
        """An integer query parameter, None where there is none. Raises ApiError 400."""
        value = self.text(name)
        if not value:
            return None
        try:
            return int(value)
        except ValueError as error:
            raise bad_request(f'strconv.ParseInt: parsing "{value}": invalid syntax') from error

    @property
    def dry_run(self) -> bool:
        """Whether nothing is to be kept. Raises ApiError 422 for another value than All."""
        values = self.http.query.getall("dryRun", [])
        if any(value != "All" for value in values):
            why = f'Unsupported value: {json.dumps(values)}: supported values: "All"'
            options = {"POST": "CreateOptions", "PUT": "UpdateOptions", "DELETE": "DeleteOptions"}
            kind = options.get(self.http.method, "PatchOptions")
            raise invalid_options(kind, "dryRun", why, "FieldValueNotSupported")
        return bool(values)

    @property
    def manager(self) -> str:
        """Who writes: the field manager, or the first word of the user agent."""
        return self.text("fieldManager") or self.http.headers.get("User-Agent", "").partition("/")[0] or "unknown"

    async def body(self) -> Any:
        """The parsed body: JSON, YAML or protobuf; None where it is empty. Raises ApiError 400, 415."""
        return parse_body(await self.http.read(), self.http.content_type, self.resource.kind)

    async def object_body(self) -> Obj:
        """The parsed body, which must be one object. Raises ApiError 400."""
        body = await self.body()
        if not isinstance(body, dict):
            raise bad_request(
                f"the object provided is unrecognized (must be of type {self.resource.kind}): couldn't get "
                "version/kind; json parse error: unexpected end of JSON input (<empty>)"
            )
        return body


def parse_body(raw: bytes, content_type: str, kind: str) -> Any:
    """A body that should be an object of a kind. Raises ApiError 400, 415."""
    if "protobuf" in content_type:
        return protobuf.decode(raw) if raw else None
    if "cbor" in content_type:
        known = (
            "accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf"
        )
        message = f"the body of the request was in an unknown format - {known}"
        raise ApiError(415, "UnsupportedMediaType", message)
    if not raw.strip():
        return None
    try:
        return yaml.safe_load(raw) if content_type.endswith("yaml") else json.loads(raw)
    except (ValueError, yaml.YAMLError) as error:
        shown = raw[:1].decode("utf-8", "replace")
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse "
            f"error: invalid character '{shown}' looking for beginning of value ({raw[:32].hex()})"
        ) from error


def find_target(registry: Registry, path: str) -> Target:
    """What a path below /api or /apis names. Raises ApiError 404."""
    parts = path.strip("/").split("/")
    if parts[0] == "api":
        group, version, rest = "", parts[1], parts[2:]
    elif len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        raise no_such_path()
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces" and not _is_about_namespace(group, rest):
        namespace, rest = rest[1], rest[2:]
    resource = registry.find(group, version, rest[0]) if rest and rest[0] else None
    if resource is None:
        raise no_such_path()
    name, subresource = (*rest[1:3], "", "")[:2]
    tail = "/".join(rest[3:])
    if subresource and subresource not in resource.subresources:
        raise no_such_path()
    return Target(resource, namespace, name, subresource, tail)


def _is_about_namespace(group: str, rest: list[str]) -> bool:
    return not group and len(rest) == 3 and rest[2] in NAMESPACES.subresources
