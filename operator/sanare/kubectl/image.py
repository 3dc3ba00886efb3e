"""Images: which repository one names, and whether it is among those allowed. Pure."""

from __future__ import annotations

import re

from sanare.kubectl.likeness import is_near_miss

_VERSION = re.compile(r"(:[\w.-]+)?(@[\w.+:-]+)?$")
_HUB = "docker.io"


def repository(image: str) -> str:
    """The full name without tag and digest: `nginx:1` is `docker.io/library/nginx`."""
    name = _VERSION.sub("", image, count=1)
    host, slash, path = name.partition("/")
    if slash and (re.search(r"[.:]", host) or host == "localhost"):
        if host not in (_HUB, f"index.{_HUB}"):
            return name
        name = path
    return f"{_HUB}/{name}" if "/" in name else f"{_HUB}/library/{name}"


def from_registries(image: str, registries: tuple[str, ...]) -> bool:
    """Whether an image comes from a listed registry: `NAME` is one repository, `HOST/` everything below it."""
    name = repository(image)
    return not registries or any(
        name.startswith(entry) if entry.endswith("/") else name == repository(entry) for entry in registries
    )


def corrects_repository(old: str, new: str) -> bool:
    """Whether the new image's repository is the old one's with a slip corrected, on the same host."""
    before, after = (repository(image).partition("/") for image in (old, new))
    return before[0] == after[0] and is_near_miss(before[2], after[2])
