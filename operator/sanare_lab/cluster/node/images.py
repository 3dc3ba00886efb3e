"""Images: the catalogue that the node pulls from, and what it says about an image that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sanare_lab.app.catalogue import CATALOGUE, ENTRYPOINT, Behaviour

Kind: TypeAlias = Literal["app", "shell", "pause"]

_BUSYBOX = """
    sh awk cat cut date dd echo env false grep head httpd id kill ls mkdir mkfifo nc nslookup printf ps rm sed sleep
    tail test touch tr true wc wget busybox
"""
BINARIES = frozenset(_BUSYBOX.split())
_REFERENCE = re.compile(
    r"(?:[A-Za-z0-9.-]+(?::\d+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)


@dataclass(frozen=True, slots=True)
class Image:
    """One image.

    Attributes:
        name: with its tag.
        kind: `app` runs the app, `shell` has a shell and no entrypoint of its own, `pause` waits.
        entrypoint: the command that an `app` or `pause` starts with; a command override may name it too.
        user: numeric user id of the image; 0 is root.
        size: bytes, for the Pulled event.
    """

    name: str
    kind: Kind = "app"
    entrypoint: tuple[str, ...] = ENTRYPOINT[Behaviour.APP]
    user: int = 0
    size: int = 1_997_494


def _of_catalogue(name: str) -> Image:
    found = CATALOGUE[name]
    kind: Kind = "app" if found.behaviour is Behaviour.APP else "shell"
    return Image(name, kind, ENTRYPOINT[found.behaviour], int(found.user or 0))


DEFAULT_IMAGES: tuple[Image, ...] = (
    *(_of_catalogue(name) for name in CATALOGUE),
    Image("kube.local/pause:1", kind="pause", entrypoint=("/pause",)),
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a container has no image: the waiting reason, its message, and the text of the Failed event."""

    reason: str
    message: str
    event: str


class Catalogue:
    """The images that can be pulled, which the node has from the start unless `present` names fewer."""

    def __init__(self, images: Iterable[Image], present: Iterable[str] | None = None) -> None:
        self._images = {image.name: image for image in images}
        self.present = set(self._images if present is None else present)

    def find(self, reference: str) -> Image | None:
        """The image of a reference; without a tag it is `latest`."""
        return self._images.get(with_tag(reference))

    def pull(self, reference: str) -> Image | Refusal:
        """Fetch an image from its registry."""
        image = self.find(reference)
        if image is None:
            return not_found(reference)
        self.present.add(image.name)
        return image


def with_tag(reference: str) -> str:
    """The reference with its default tag."""
    return reference if ":" in reference.rpartition("/")[2] or "@" in reference else f"{reference}:latest"


def is_valid(reference: str) -> bool:
    """Whether the reference can be an image at all."""
    return _REFERENCE.fullmatch(reference) is not None


def pull_policy(container_policy: str, reference: str) -> str:
    """The policy in force: an unset one is Always for `latest`, else IfNotPresent."""
    return container_policy or ("Always" if with_tag(reference).endswith(":latest") else "IfNotPresent")


def not_found(reference: str) -> Refusal:
    """As containerd words a registry's 404."""
    tagged = with_tag(reference)
    error = (
        f'rpc error: code = NotFound desc = failed to pull and unpack image "{tagged}": '
        f"failed to resolve image: {tagged}: not found"
    )
    return Refusal("ErrImagePull", error, f'Failed to pull image "{reference}": {error}')


def never_pulled(reference: str) -> Refusal:
    """Policy Never, and the image is not on the node."""
    message = f'Container image "{reference}" is not present with pull policy of Never'
    return Refusal("ErrImageNeverPull", message, message)


def invalid_name(reference: str) -> Refusal:
    """A reference that cannot be parsed."""
    path = with_tag(reference).partition("/")[2].rpartition(":")[0]
    case = f": repository name ({path}) must be lowercase" if path != path.lower() else ""
    message = (
        f'Failed to apply default image tag "{reference}": couldn\'t parse image name "{reference}": '
        f"invalid reference format{case}"
    )
    return Refusal("InvalidImageName", message, message)
