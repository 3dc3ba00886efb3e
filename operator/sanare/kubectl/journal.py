"""What the gate writes down of each mutation: before it is sent, and after the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol, Self

from sanare.api.attempt import Mutation
from sanare.api.manifest import Manifest, Ref, mapping, text
from sanare.api.model import to_rfc3339
from sanare.kubectl.diff import summarise

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True, slots=True)
class MutationRecord:
    """One write through the gate.

    Attributes:
        seq: number within the attempt, from 1.
        verb: create, update, patch or delete.
        path: the request's path; the object's own, also for a create.
        body: the request's body as it was judged and sent (a uid or resourceVersion precondition is added to it).
        before: the object before, None where there was none.
        after: the object after, None where it is gone or the request failed.
        status: HTTP status of the answer, 0 while the request is only intended.
        truncated: before and after were too large to keep, so that the write cannot be undone.
    """

    seq: int
    at: datetime
    verb: str
    ref: Ref
    method: str
    path: str
    subresource: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    content_type: str = ""
    body: Any = None
    before: Manifest | None = None
    after: Manifest | None = None
    dry_run: bool = False
    status: int = 0
    truncated: bool = False

    @property
    def ok(self) -> bool:
        """Whether the API server took it."""
        return 200 <= self.status < 300

    def mutation(self) -> Mutation:
        """The line that stands in the Incident's status."""
        name = f"{self.ref}" + (f"/{self.subresource}" if self.subresource else "")
        before, after = (_stated(state, self.subresource) for state in (self.before, self.after))
        told = summarise(before, None if self.verb == "delete" else after)
        if self.truncated:
            told = "too large to keep"
        if self.status and not self.ok:
            told = f"refused by the API server: {self.status}"
        return Mutation(at=self.at, verb=self.verb, object=name[:320], summary=told)

    def wire(self) -> dict[str, Any]:
        """The record as JSON, for keeping it across a restart."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name not in ("at", "ref")}
        ref = {name: getattr(self.ref, name) for name in ("kind", "namespace", "name", "api_version", "uid")}
        return {**plain, "at": to_rfc3339(self.at), "ref": ref}

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Self:
        """The record that `wire` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        return cls(**{**data, "at": datetime.fromisoformat(data["at"]), "ref": Ref(**data["ref"])})


def _stated(state: Manifest | None, subresource: str) -> Manifest | None:
    """The state with what its wire form leaves out: a Scale of no replicas has none to read."""
    if state is None or subresource != "scale":
        return state
    return {**state, "spec": {"replicas": 0, **mapping(state, "spec")}}


def fitted(record: MutationRecord, limit: int) -> MutationRecord:
    """The record with a wire form of at most `limit` bytes: what undoing it does not need goes first.

    As the last resort both states go and the record is marked as truncated.
    """
    smaller = record
    for step in (_without_noise, _without_body, _only_the_uid):
        if _size(smaller) <= limit:
            return smaller
        smaller = step(smaller)
    return smaller if _size(smaller) <= limit else replace(smaller, before=None, after=None, truncated=True)


def _size(record: MutationRecord) -> int:
    return len(json.dumps(record.wire(), ensure_ascii=False).encode())


def _without_noise(record: MutationRecord) -> MutationRecord:
    before, after = (_plain(state) for state in (record.before, record.after))
    return replace(record, before=before, after=after)


def _plain(state: Manifest | None) -> Manifest | None:
    """A state without status, managedFields and the copy of itself that `kubectl apply` keeps."""
    if state is None:
        return None
    metadata = {k: v for k, v in mapping(state, "metadata").items() if k != "managedFields"}
    if "annotations" in metadata:
        annotations = mapping(metadata, "annotations")
        metadata["annotations"] = {k: v for k, v in annotations.items() if k != _LAST_APPLIED}
    return {**{k: v for k, v in state.items() if k != "status"}, "metadata": metadata}


def _without_body(record: MutationRecord) -> MutationRecord:
    return replace(record, body=None)


def _only_the_uid(record: MutationRecord) -> MutationRecord:
    """Of a created object its uid is all that removing it needs."""
    if record.before is not None or record.after is None:
        return record
    return replace(record, after={"metadata": {"uid": text(record.after, "metadata", "uid")}})


class Journal(Protocol):
    """Where mutations are kept. What it raises stops the mutation."""

    async def intend(self, record: MutationRecord) -> None:
        """Keep that the mutation is about to be sent; awaited before it is."""
        ...

    async def done(self, record: MutationRecord) -> None:
        """Keep the answer; awaited before kubectl gets it."""
        ...


class MemoryJournal:
    """Keeps records in memory: for a plan being recorded, and for tests."""

    def __init__(self) -> None:
        self.intended: list[MutationRecord] = []
        self.records: list[MutationRecord] = []

    async def intend(self, record: MutationRecord) -> None:
        """Keep the intent."""
        self.intended.append(record)

    async def done(self, record: MutationRecord) -> None:
        """Keep the answer."""
        self.records.append(record)
