"""The precondition that makes what was judged what is changed. Pure."""

from __future__ import annotations

from typing import Any

from sanare.api.manifest import Manifest, mapping, text
from sanare.kube.client import JSON_PATCH
from sanare.kubectl.request import ApiRequest


def conditioned(request: ApiRequest, before: Manifest | None) -> Any:
    """The body with the precondition that the object is still the one that was judged.

    kubectl never sees a conflict from it: the gate judges anew and sends again. A deletion names the uid, since its
    effect does not depend on the object's version.
    """
    body, version = request.body, text(before, "metadata", "resourceVersion")
    if before is None or not version:
        return body
    if request.verb == "delete":
        uid = text(before, "metadata", "uid")
        return {**body, "preconditions": {**mapping(body, "preconditions"), "uid": uid}}
    if names_version(request):
        return body
    if request.content_type == JSON_PATCH:
        return [*body, {"op": "add", "path": "/metadata/resourceVersion", "value": version}]
    return {**body, "metadata": {**mapping(body, "metadata"), "resourceVersion": version}}


def names_version(request: ApiRequest) -> bool:
    """Whether the request itself says which version of the object it is for.

    Of a JSON patch the last operation alone counts: one after it may take the version away again.
    """
    if isinstance(request.body, list):
        last = request.body[-1] if request.body else None
        sets = text(last, "path") == "/metadata/resourceVersion" and text(last, "op") in ("add", "replace")
        return sets and bool(text(last, "value"))
    return bool(text(request.body, "metadata", "resourceVersion"))
