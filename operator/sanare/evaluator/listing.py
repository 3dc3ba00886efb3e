"""Lists of one namespace, trimmed, with the reason of each that failed.

Every answer that fails is told apart (`Forbidden`, `NotFound`, `Timeout`, `Empty`) and kept beside what was seen: a
kind that could not be listed is unknown, not empty. Secrets are never listed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from sanare import errors
from sanare.api.manifest import Manifest, mapping, owners, text, without_managed_fields
from sanare.evaluator.look import event_time
from sanare.kube.client import KubeClient, ObjectList
from sanare.kube.resources import BY_KIND, Resource
from sanare.text import cap, one_line

# Read by the evaluator alone: no request of an agent is ever about it.
_CLUSTER_WIDE = Resource(
    "ClusterRoleBinding", "rbac.authorization.k8s.io/v1", "clusterrolebindings", namespaced=False
)
LISTABLE = {**BY_KIND, _CLUSTER_WIDE.kind: _CLUSTER_WIDE}

_LIST_SECONDS = 20.0
_PAGE = 2500  # objects: a page is a request
_EVENTS = 300
_VALUE_BYTES = 4096
_VALUES_BYTES = 256 * 1024


@dataclass(slots=True)
class Listing:
    """What has been listed so far of one look.

    Attributes:
        ours: uids of the Jobs that declared checks made: they and their pods are no part of what is looked at.
    """

    kube: KubeClient
    namespace: str
    objects: dict[str, tuple[Manifest, ...]] = field(default_factory=dict)
    unseen: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    ours: Collection[str] = ()

    @property
    def asked(self) -> int:
        """How many lists were asked for."""
        return len(self.objects) + len(self.unseen)

    async def list(self, kinds: Iterable[str]) -> bool:
        """List those of the kinds that nobody has asked for yet, at once: whether there were any. Never raises."""
        asked = tuple(kind for kind in dict.fromkeys(kinds) if kind not in self.objects and kind not in self.unseen)
        answers = await asyncio.gather(*(_list(self.kube, self.namespace, kind) for kind in asked))
        for kind, found in zip(asked, answers, strict=True):
            if isinstance(found, str):
                self.unseen[kind] = found
            else:
                self.objects[kind] = _trimmed(kind, _without(self.ours, found.items))
                self.versions[kind] = found.resource_version
        return bool(asked)


async def _list(kube: KubeClient, namespace: str, kind: str) -> ObjectList | str:
    """The objects of a kind, or why they could not be listed."""
    resource = LISTABLE[kind]
    try:
        # Of events only the warnings: a busy namespace keeps thousands of the others.
        fields = "type=Warning" if kind == "Event" else ""
        async with asyncio.timeout(_LIST_SECONDS):
            found = await kube.list(resource, namespace, fields=fields, chunk=_PAGE)
    except TimeoutError:
        return f"Timeout: no list of {resource.plural} within {_LIST_SECONDS:g} s"
    except errors.Unreachable as error:
        return f"Timeout: {one_line(str(error), 300)}"
    except errors.KubeError as error:
        return f"{type(error).__name__}: {one_line(str(error), 300)}"
    # Every list carries the moment that it shows; an answer without one is no list of no objects.
    return found if found.resource_version else f"Empty: the answer holds no list of {resource.plural}"


def _without(ours: Collection[str], found: tuple[Manifest, ...]) -> tuple[Manifest, ...]:
    if not ours:
        return found
    return tuple(
        item
        for item in found
        if text(item, "metadata", "uid") not in ours and not any(owner.uid in ours for owner in owners(item))
    )


def _trimmed(kind: str, found: tuple[Manifest, ...]) -> tuple[Manifest, ...]:
    if kind == "ConfigMap":
        return _capped_values(found)
    if kind == "Event":
        found = tuple(sorted(found, key=event_time)[-_EVENTS:])
    return tuple(without_managed_fields(item) for item in found)


def _capped_values(found: tuple[Manifest, ...]) -> tuple[Manifest, ...]:
    """ConfigMaps with their values cut: each to 4 KiB, and all together to 256 KiB, names always kept."""
    room = _VALUES_BYTES
    kept = []
    for item in found:
        data = {}
        for name, value in mapping(item, "data").items():
            data[name] = cap(str(value), min(_VALUE_BYTES, max(room, 0)))
            room -= len(data[name].encode())
        binary = dict.fromkeys(mapping(item, "binaryData"), "")
        kept.append({**without_managed_fields(item), "data": data, "binaryData": binary})
    return tuple(kept)
