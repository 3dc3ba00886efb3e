"""ApiError: a refusal, rendered as the Status object that the real API server answers with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.resources import ResourceType


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that is wrong with one field; `reason` is metav1.CauseType."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


class ApiError(Exception):
    """What the API server answers instead of an object."""

    def __init__(self, status: int, reason: str, message: str, details: Obj | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.details = details

    def body(self) -> Obj:
        """The v1 Status."""
        body: Obj = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            body["reason"] = self.reason
        if self.details is not None:
            body["details"] = self.details
        return {**body, "code": self.status}


def _details(resource: ResourceType, name: str) -> Obj:
    details: Obj = {"name": name} if name else {}
    if resource.group:
        details["group"] = resource.group
    return {**details, "kind": resource.plural}


def not_found(resource: ResourceType, name: str) -> ApiError:
    """404 for one object."""
    return ApiError(404, "NotFound", f'{resource.qualified} "{name}" not found', _details(resource, name))


def no_such_path() -> ApiError:
    """404 for a path that is no resource."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(resource: ResourceType, name: str) -> ApiError:
    """409 for a taken name."""
    message = f'{resource.qualified} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, _details(resource, name))


def conflict(resource: ResourceType, name: str, why: str = "") -> ApiError:
    """409 for a stale resourceVersion or a failed precondition."""
    why = why or ("the object has been modified; please apply your changes to the latest version and try again")
    message = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return ApiError(409, "Conflict", message, _details(resource, name))


def precondition(resource: ResourceType, name: str, why: str) -> ApiError:
    """409 for a delete whose preconditions do not hold."""
    message = f'Operation cannot be fulfilled on {resource.kind} "{name}": {why}'
    return ApiError(409, "Conflict", message, {**_details(resource, name), "kind": resource.kind})


def invalid_options(options: str, field: str, why: str, reason: str = "FieldValueRequired") -> ApiError:
    """422 for a query parameter."""
    cause = {"reason": reason, "message": why, "field": field}
    details = {"group": "meta.k8s.io", "kind": options, "causes": [cause]}
    return ApiError(422, "Invalid", f'{options}.meta.k8s.io "" is invalid: {field}: {why}', details)


def invalid_patch(shown: str, why: str) -> ApiError:
    """422 for a patch after which the object is none of its kind; nameless, as the real server says it."""
    message = f"Invalid value: {json.dumps(shown)}: {why}"
    cause = {"reason": "FieldValueInvalid", "message": message, "field": "patch"}
    return ApiError(422, "Invalid", f' "" is invalid: patch: {message}', {"causes": [cause]})


def unversioned(resource: ResourceType, name: str) -> ApiError:
    """422 for the update of a custom object without resourceVersion; the real server names the plural here."""
    why = "Invalid value: 0: must be specified for an update"
    cause = {"reason": "FieldValueInvalid", "message": why, "field": "metadata.resourceVersion"}
    message = f'{resource.qualified} "{name}" is invalid: metadata.resourceVersion: {why}'
    return ApiError(422, "Invalid", message, {**_details(resource, name), "causes": [cause]})


def unsupported_patch(resource: ResourceType, content_type: str) -> ApiError:
    """415 for a patch of a form that the server, or the kind, does not have."""
    if resource.custom and content_type == "application/strategic-merge-patch+json":
        message = (
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
        )
        return ApiError(415, "UnsupportedMediaType", message)
    return ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def forbidden(resource: ResourceType, name: str, why: str) -> ApiError:
    """403, as admission words it."""
    message = f'{resource.qualified} "{name}" is forbidden: {why}'
    return ApiError(403, "Forbidden", message, _details(resource, name))


def terminating(resource: ResourceType, name: str, namespace: str) -> ApiError:
    """403 for what is to be created in a namespace that is going."""
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    error = forbidden(resource, name, why)
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    error.details = {**(error.details or {}), "causes": [cause]}
    return error


def invalid(resource: ResourceType, name: str, causes: Iterable[Cause]) -> ApiError:
    """422 with one cause for each field that is wrong."""
    found = list(causes)
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    text = str(found[0]) if len(found) == 1 else "[" + ", ".join(map(str, found)) + "]"
    details: dict[str, Any] = {**_details(resource, name), "kind": resource.kind}
    details["causes"] = [
        {"reason": cause.reason, "message": cause.message, "field": cause.field} for cause in found
    ]
    return ApiError(422, "Invalid", f'{kind} "{name}" is invalid: {text}', details)


def bad_request(message: str) -> ApiError:
    """400."""
    return ApiError(400, "BadRequest", message)


def expired(message: str) -> ApiError:
    """410 for a resourceVersion or continue token that history no longer holds."""
    return ApiError(410, "Expired", message)


def method_not_allowed() -> ApiError:
    """405."""
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})
