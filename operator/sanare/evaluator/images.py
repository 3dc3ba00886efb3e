"""Images as repository and what pins them. Pure."""

from __future__ import annotations


def repository(image: str) -> str:
    """An image without tag and digest: `registry:5000/app:1@sha256:...` is `registry:5000/app`."""
    image = image.partition("@")[0]
    head, _, tail = image.rpartition("/")
    return f"{head}/{tail.partition(':')[0]}" if head else tail.partition(":")[0]


def canonical(name: str) -> str:
    """A repository in full, as the kubelet reads it: `nginx` is `docker.io/library/nginx`."""
    registry, slash, path = name.partition("/")
    if not slash or not ("." in registry or ":" in registry or registry == "localhost"):
        registry, path = "docker.io", name
    return f"{registry}/{path}" if "/" in path or registry != "docker.io" else f"{registry}/library/{path}"


def image_tag(image: str) -> str:
    """The tag or digest that pins an image; `latest` where there is none."""
    name, _, digest = image.partition("@")
    return digest or name.rpartition("/")[2].partition(":")[2] or "latest"
