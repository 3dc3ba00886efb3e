"""What the gate writes down of each mutation: before it is sent, and after the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, Self

from sanare.api.manifest import Manifest, Ref
from sanare.api.model import to_rfc3339
from sanare.api.status import Mutation
from sanare.kubectl.diff import summarise


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

    @property
    def ok(self) -> bool:
        """Whether the API server took it."""
        return 200 <= self.status < 300

    def mutation(self) -> Mutation:
        """The line that stands in the Incident's status."""
        name = f"{self.ref}" + (f"/{self.subresource}" if self.subresource else "")
        told = summarise(self.before, None if self.verb == "delete" else self.after)
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
