"""Kinds beyond the table, as the API server serves them."""

from __future__ import annotations

from sanare import errors
from sanare.api.manifest import items, text
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND, Resource


async def find_resource(kube: KubeClient, api_version: str, kind: str) -> Resource:
    """The resource of a kind: from the table, else from one discovery request.

    Raises NotFound where the API server serves no such kind, and what the request meets otherwise.
    """
    known = BY_KIND.get(kind)
    if known is not None and known.api_version == api_version:
        return known
    root = "/apis" if "/" in api_version else "/api"
    if not _is_version(api_version):
        raise errors.NotFound(f"{api_version!r} is not an API version", status=404)
    served = await kube.request("GET", f"{root}/{api_version}")
    for item in items(served, "resources"):
        if text(item, "kind") == kind and "/" not in text(item, "name"):
            return Resource(kind, api_version, text(item, "name"), bool(item.get("namespaced")))
    raise errors.NotFound(f"no kind {kind} in {api_version}", status=404)


def _is_version(text_: str) -> bool:
    """Whether it reads `VERSION` or `GROUP/VERSION`: nothing else may become part of a path."""
    parts = text_.split("/")
    return (
        len(parts) <= 2
        and all(part and part.replace("-", "").replace(".", "").isalnum() for part in parts)
        and (".." not in text_)
    )
