"""Resource words and names as a model writes them, resolved through the closed table of kinds. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sanare.errors import Refused
from sanare.kube.resources import RESOURCES, Resource
from sanare.text import one_line

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")

# What `kubectl get all` means, without asking the API server for its categories.
ALL = ("Pod", "ReplicationController", "Service", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
ALL_KINDS = (*ALL, "HorizontalPodAutoscaler", "CronJob", "Job")

# Kinds that an agent has no business with, with the words that say why.
CLOSED = {
    "Secret": "Secrets are out of reach: neither read nor written; work with the names that workloads refer to",
    "Incident": "sanare's own objects are not for the agent: the operator alone writes the verdict",
    "IncidentRecord": "sanare's own objects are not for the agent",
    "RemediationPolicy": "sanare's own objects are not for the agent",
    "Role": "roles and their bindings are out of reach",
    "RoleBinding": "roles and their bindings are out of reach",
    "Lease": "leases belong to controllers",
}
CLUSTER_READS = frozenset({"Node", "StorageClass", "PersistentVolume", "Namespace"})
READ_ONLY = {
    "ServiceAccount": "service accounts are not created or changed here",
    "Event": "events are written by the cluster",
    "Endpoints": "endpoints follow from a Service's selector; correct the selector or the pods' labels",
    "EndpointSlice": "endpoints follow from a Service's selector; correct the selector or the pods' labels",
    "ControllerRevision": "controller revisions are written by their controller",
}


def _spellings(resource: Resource) -> Iterator[str]:
    yield from (resource.plural, resource.kind.lower(), *resource.short)


_WORDS = {word: resource for resource in RESOURCES for word in _spellings(resource)}


@dataclass(frozen=True, slots=True)
class Target:
    """A kind, and one object of it where a name was given."""

    resource: Resource
    name: str = ""

    @property
    def word(self) -> str:
        """The one spelling that is handed to kubectl: plural and group."""
        group = self.resource.group
        return f"{self.resource.plural}.{group}" if group else self.resource.plural

    def __str__(self) -> str:
        return f"{self.word}/{self.name}" if self.name else self.word


def resolve(word: str) -> Resource:
    """The kind that `deploy`, `Deployment`, `deployments.apps` or `deployments.v1.apps` means. Raises Refused."""
    stem, dot, rest = word.lower().partition(".")
    resource = _WORDS.get(stem) if word.isascii() else None
    if resource is None or (dot and not _is_group(rest, resource)):
        raise Refused("UnknownResource", f"{one_line(word, 60)!r} is not a kind that can be used here")
    return resource


def _is_group(rest: str, resource: Resource) -> bool:
    """Whether what follows the first dot is the kind's GROUP or VERSION.GROUP."""
    version = resource.api_version.rpartition("/")[2]
    return rest in (resource.group, f"{version}.{resource.group}")


def name(text: str, what: str = "name") -> str:
    """A valid object name. Raises Refused."""
    if not _NAME.match(text) or len(text) > 253:
        raise Refused(
            "InvalidName", f"{one_line(text, 80)!r} is not a valid {what}: lower-case letters, digits, - and ."
        )
    return text


def namespace(text: str) -> str:
    """A valid namespace name. Raises Refused."""
    if not _LABEL.match(text):
        raise Refused("Namespace", f"{one_line(text, 80)!r} is not one namespace; name exactly one")
    return text


def targets(words: Sequence[str]) -> tuple[Target, ...]:
    """Read `TYPE[,TYPE] [NAME...]` or `TYPE/NAME...`, never a mixture. Raises Refused."""
    if not words:
        raise Refused("NoTarget", "name a kind and an object, for example deployment/web")
    if any("/" in word for word in words):
        return tuple(_pair(word) for word in words)
    resources = [resource for part in words[0].split(",") for resource in _category(part)]
    names = [name(word) for word in words[1:]]
    if len(resources) > 1 and names:
        raise Refused("Ambiguous", "several kinds with names: write TYPE/NAME for each object")
    if not names:
        return tuple(Target(resource) for resource in resources)
    return tuple(Target(resources[0], one) for one in names)


def _category(word: str) -> list[Resource]:
    if word.lower() == "all":
        return [_WORDS[kind.lower()] for kind in ALL_KINDS]
    return [resolve(word)]


def _pair(word: str) -> Target:
    kind, slash, one = word.partition("/")
    if not slash or "/" in one:
        raise Refused("Ambiguous", f"{one_line(word, 80)!r} beside TYPE/NAME: write TYPE/NAME for each object")
    return Target(resolve(kind), name(one))


def refuse_closed(target: Target) -> None:
    """Raise Refused for the kinds that are closed to the agent, read or write."""
    reason = CLOSED.get(target.resource.kind)
    if reason:
        raise Refused("ClosedKind", reason)
