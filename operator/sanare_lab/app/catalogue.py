"""The images that exist: what a cluster of ours can pull, and how each behaves. No other name can be pulled."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

REGISTRY = "shop.local/"


class Behaviour(StrEnum):
    """What an image does when its container names no command."""

    APP = "app"  # serves, by the contract of `sanare_lab.app`
    SHELL = "shell"  # has a shell and the usual commands, and ends at once without one


@dataclass(frozen=True, slots=True)
class Image:
    """One image of the catalogue.

    Attributes:
        behaviour: what its own entrypoint does.
        user: numeric uid of the image's USER, empty for root.
    """

    behaviour: Behaviour
    user: str = ""


# What an image starts with when its container names no command.
ENTRYPOINT: dict[Behaviour, tuple[str, ...]] = {Behaviour.APP: ("/app/serve",), Behaviour.SHELL: ()}

CATALOGUE: dict[str, Image] = {
    "shop.local/app:1.4.1": Image(Behaviour.APP),
    "shop.local/app:1.4.2": Image(Behaviour.APP),
    "shop.local/app:1.4.2-slim": Image(Behaviour.APP),
    "shop.local/app:latest": Image(Behaviour.APP),
    "shop.local/catalog:2.0.1": Image(Behaviour.APP, user="65532"),
    "shop.local/tools:3.1": Image(Behaviour.SHELL),
}


def named(image: str, *, registry: str = REGISTRY) -> str:
    """The name of an image in the registry that a cluster pulls from, for example `registry.example/lab/`."""
    return registry + image.removeprefix(REGISTRY)
