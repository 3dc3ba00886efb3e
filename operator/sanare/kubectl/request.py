"""One HTTP request as the API server reads it: verb, kind, subresource, namespace, name, body. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qsl

from sanare.errors import Refused
from sanare.kube.client import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from sanare.kube.resources import BY_PLURAL, Resource
from sanare.kubectl.manifest import documents, strict_json
from sanare.text import one_line

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

METRICS: Mapping[tuple[str, str], Resource] = {
    ("metrics.k8s.io", "pods"): Resource("PodMetrics", "metrics.k8s.io/v1beta1", "pods"),
    ("metrics.k8s.io", "nodes"): Resource("NodeMetrics", "metrics.k8s.io/v1beta1", "nodes", False),
}
REVIEWS: Mapping[tuple[str, str], Resource] = {
    ("authorization.k8s.io", plural): Resource(kind, "authorization.k8s.io/v1", plural, False)
    for plural, kind in (
        ("selfsubjectaccessreviews", "SelfSubjectAccessReview"),
        ("selfsubjectrulesreviews", "SelfSubjectRulesReview"),
    )
}
_KNOWN = {**BY_PLURAL, **METRICS, **REVIEWS}

PROTOBUF = "application/vnd.kubernetes.protobuf"
PATCHES = frozenset({APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH})
MUTATING = frozenset({"create", "update", "patch", "delete", "deletecollection"})

_METHODS: Mapping[str, Method] = {m: m for m in ("GET", "POST", "PUT", "PATCH", "DELETE")}
_SEGMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*\Z")
_DISCOVERY = re.compile(
    r"/(version|api|apis|api/v1|apis/[a-z0-9.-]+(/v[a-z0-9]+)?|openapi/v[23](/[a-z0-9./-]*)?)\Z"
)


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request, read.

    Attributes:
        verb: get, list, watch, create, update, patch, delete, deletecollection, or `discover` for what names no
            object (versions, resources, schemas).
        resource: the kind from the closed table; None for what is not in it.
        body: the parsed body; what is judged is what is sent.
        encoded: the body of a create in protobuf, which only the API server reads; `body` is then None.
    """

    method: Method
    path: str
    verb: str
    group: str = ""
    version: str = ""
    plural: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    resource: Resource | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    content_type: str = ""
    body: Any = None
    encoded: bytes = b""

    @property
    def kind(self) -> str:
        """The kind, or the plural where it is not known."""
        return self.resource.kind if self.resource else self.plural

    @property
    def mutates(self) -> bool:
        """Whether it would change what is stored. Reviews are questions in the form of a create."""
        return self.verb in MUTATING and (self.group, self.plural) not in REVIEWS and not self.asks_only

    @property
    def asks_only(self) -> bool:
        """Whether kubectl itself asked for a dry run; a deletion says so in its body alone."""
        if self.method == "DELETE":
            return isinstance(self.body, dict) and self.body.get("dryRun") == ["All"]
        return self.query.get("dryRun") == "All"


def read_request(method: str, path: str, query: str, *, content_type: str = "", body: bytes = b"") -> ApiRequest:
    """Read one request. Raises Refused for what two readers could read differently."""
    known = _METHODS.get(method)
    if known is None:
        raise Refused("Method", f"HTTP method {one_line(method, 20)} is not used by kubectl here")
    parameters = _parameters(query)
    if _DISCOVERY.match(path) and ".." not in path:
        if known != "GET":
            raise Refused("Method", "discovery is only read")
        return ApiRequest(known, path, "discover", query=parameters)
    parts = path.split("/")[1:]
    if not all(_SEGMENT.match(part) for part in parts):
        raise Refused("Path", f"{one_line(path, 120)!r} is not a plain API path")
    return _resource_request(known, path, parts, parameters, content_type, body)


def _parameters(query: str) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused("Query", "a query parameter is given twice")
    return found


def _resource_request(
    method: Method, path: str, parts: list[str], query: dict[str, str], content_type: str, body: bytes
) -> ApiRequest:
    group, version, rest = _root(parts)
    namespace = ""
    if len(rest) >= 3 and rest[0] == "namespaces" and (group, rest[2]) != ("", "status"):
        namespace, rest = rest[1], rest[2:]
    if not rest or len(rest) > 3:
        raise Refused("Path", f"{one_line(path, 120)!r} is not a request for an object")
    plural, name, subresource = (*rest, "", "")[:3]
    resource = _KNOWN.get((group, plural))
    if resource and resource.api_version.rpartition("/")[2] != version:
        resource = None
    if method == "DELETE" and set(query) - {"fieldManager", "timeout"}:
        # The API server ignores these where there is a body: a dry run asked for here would delete.
        raise Refused("Query", "the options of a deletion stand in its body")
    media = content_type.partition(";")[0].strip().lower()
    return ApiRequest(
        method=method,
        path=path,
        verb=_verb(method, name, query),
        group=group,
        version=version,
        plural=plural,
        namespace=namespace,
        name=name,
        subresource=subresource,
        resource=resource,
        query=query,
        content_type=media,
        body=None if _is_encoded(method, media) else _body(method, media, body),
        encoded=body if _is_encoded(method, media) else b"",
    )


def _root(parts: list[str]) -> tuple[str, str, list[str]]:
    if parts[0] == "api" and len(parts) > 2:
        return "", parts[1], parts[2:]
    if parts[0] == "apis" and len(parts) > 3:
        return parts[1], parts[2], parts[3:]
    raise Refused("Path", f"{one_line('/'.join(parts), 120)!r} is not an API path")


def _verb(method: Method, name: str, query: Mapping[str, str]) -> str:
    if method == "GET":
        watched = query.get("watch", "false") not in ("false", "0", "")
        return "watch" if watched else "get" if name else "list"
    if method == "DELETE":
        return "delete" if name else "deletecollection"
    return {"POST": "create", "PUT": "update", "PATCH": "patch"}[method]


def _is_encoded(method: Method, media: str) -> bool:
    """Whether it is a create in the encoding that kubectl's typed clients use."""
    return method == "POST" and media == PROTOBUF


def _body(method: Method, media: str, body: bytes) -> Any:
    if method == "GET":
        if body:
            raise Refused("Body", "a read carries no body")
        return None
    if method == "DELETE" and not body:
        return {}
    expected = PATCHES if method == "PATCH" else {"application/json"}
    if media not in expected:
        raise Refused("ContentType", f"content type {one_line(media, 80) or '(none)'} is not read here; send JSON")
    parsed = _parse(media, body)
    if not isinstance(parsed, list if media == JSON_PATCH else dict):
        raise Refused("Body", "the body does not have the shape that its content type says")
    return parsed


def _parse(media: str, body: bytes) -> object:
    try:
        return strict_json(body)
    except (ValueError, RecursionError) as error:
        if media != APPLY_PATCH:
            raise Refused("Body", f"the body is not plain JSON: {one_line(str(error), 120)}") from error
    found = documents(body.decode("utf-8", "replace"))
    return found[0] if len(found) == 1 else None
