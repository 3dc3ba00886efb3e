"""Reading Kubernetes objects: typed access to untyped JSON, and the reference that names one object.

A manifest is what the API server sent, as parsed JSON. These readers never raise on a missing or misshapen field:
they answer with the empty value of the type asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Manifest: TypeAlias = Mapping[str, Any]


def dig(manifest: object, *path: str | int) -> object:
    """The value at a path of keys and list positions, or None."""
    value = manifest
    for step in path:
        # A dict first: asking an abstract class takes ten times as long, and a look asks half a million times.
        if isinstance(step, str) and isinstance(value, (dict, Mapping)):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def text(manifest: object, *path: str | int) -> str:
    """The string at a path, or an empty one."""
    value = dig(manifest, *path)
    return value if isinstance(value, str) else ""


def number(manifest: object, *path: str | int, default: int = 0) -> int:
    """The integer at a path, or the default."""
    value = dig(manifest, *path)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def mapping(manifest: object, *path: str | int) -> Mapping[str, Any]:
    """The object at a path, or an empty one."""
    value = dig(manifest, *path)
    return value if isinstance(value, (dict, Mapping)) else {}


def items(manifest: object, *path: str | int) -> list[Mapping[str, Any]]:
    """The objects of the list at a path; anything else in it is left out."""
    value = dig(manifest, *path)
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, (dict, Mapping))]


def labels(manifest: object) -> Mapping[str, str]:
    """metadata.labels."""
    return mapping(manifest, "metadata", "labels")


def without_managed_fields(manifest: Manifest) -> dict[str, Any]:
    """The object without the part of its metadata that tells which client set which field."""
    metadata = {name: value for name, value in mapping(manifest, "metadata").items() if name != "managedFields"}
    return {**manifest, "metadata": metadata}


def owners(manifest: object) -> Iterator[Ref]:
    """The controllers that own the object (ownerReferences with `controller: true`), uid included."""
    for owner in items(manifest, "metadata", "ownerReferences"):
        if owner.get("controller"):
            yield Ref(
                kind=text(owner, "kind"),
                namespace=text(manifest, "metadata", "namespace"),
                name=text(owner, "name"),
                api_version=text(owner, "apiVersion"),
                uid=text(owner, "uid"),
            )


@dataclass(frozen=True, slots=True)
class Ref:
    """One object. Prints as people write it: `Deployment/web`."""

    kind: str
    namespace: str
    name: str
    api_version: str = ""
    uid: str = ""

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"

    @classmethod
    def of(cls, manifest: Manifest) -> Ref:
        """The reference of an object as the API server sent it."""
        return cls(
            kind=text(manifest, "kind"),
            namespace=text(manifest, "metadata", "namespace"),
            name=text(manifest, "metadata", "name"),
            api_version=text(manifest, "apiVersion"),
            uid=text(manifest, "metadata", "uid"),
        )
