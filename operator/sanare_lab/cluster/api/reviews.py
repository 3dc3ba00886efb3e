"""Reviews: everyone may do everything here, and is told so."""

from __future__ import annotations

from aiohttp import web

from sanare_lab.cluster.api.rendering import json_answer
from sanare_lab.cluster.api.request import parse_body

_PREFIX = "/apis/authorization.k8s.io/v1/"
_ACCESS = ("selfsubjectaccessreviews", "subjectaccessreviews")


async def answer(request: web.Request) -> web.Response | None:
    """The answer to a review of access or of rules, None where the request is no such review."""
    if request.method != "POST" or not request.path.startswith(_PREFIX):
        return None
    plural = request.path.rsplit("/", 1)[1]
    if plural in _ACCESS or plural == "localsubjectaccessreviews":
        body = parse_body(await request.read(), request.content_type, "SubjectAccessReview")
        return json_answer({**body, "status": {"allowed": True}}, 201)
    if plural == "selfsubjectrulesreviews":
        body = parse_body(await request.read(), request.content_type, "SubjectAccessReview")
        everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        return json_answer(
            {**body, "status": {"resourceRules": [everything], "nonResourceRules": [], "incomplete": False}}, 201
        )
    return None
