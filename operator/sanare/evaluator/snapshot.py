"""Snapshot: everything the evaluator and the analyzers know about a namespace at one moment. Data, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sanare.api.manifest import Manifest, Ref, text
from sanare.evaluator.seen import Seen


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request from outside the pod met.

    Attributes:
        status: HTTP status of the backend, 0 when there was none.
        body: the first bytes of the answer, cleaned.
        failure: why there was no answer (`connection refused`, `no endpoints`, `timeout`), empty on an answer.
        known: False when the question could not be asked (Forbidden, API server unreachable): neither up nor down.
    """

    status: int = 0
    body: str = ""
    failure: str = ""
    known: bool = True

    @property
    def reached(self) -> bool:
        """Whether something behind the Service or pod answered."""
        return self.known and not self.failure


@dataclass(frozen=True, slots=True)
class Probe:
    """One request through the API server's proxy: `kind` Service or Pod, `port` a number or a name."""

    kind: str
    name: str
    port: str
    path: str = "/"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One list per kind and namespace, the requests made from outside, and what could not be looked at.

    Attributes:
        objects: kind (`Pod`, `Deployment`, ...) to manifests; Secrets are never in it.
        answers: probes made through the API server's proxy and what they met.
        logs: pod name/container to the cleaned tail of its log (the previous run's where it crashed).
        unseen: kind to why it could not be listed (`Forbidden: ...`); such a kind is unknown, not empty.
        declared: outcomes, by name, of the declared checks that are asked beside the lists.
    """

    namespace: str
    taken_at: datetime
    objects: Mapping[str, tuple[Manifest, ...]] = field(default_factory=dict)
    answers: Mapping[Probe, Answer] = field(default_factory=dict)
    logs: Mapping[str, str] = field(default_factory=dict)
    unseen: Mapping[str, str] = field(default_factory=dict)
    declared: Mapping[str, Seen] = field(default_factory=dict)
    _by_name: dict[str, dict[str, Manifest]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def all(self, kind: str) -> tuple[Manifest, ...]:
        """Every object of a kind; empty where there is none or it could not be listed (see `unseen`)."""
        return self.objects.get(kind, ())

    def find(self, kind: str, name: str) -> Manifest | None:
        """The object of that kind and name."""
        if kind not in self._by_name:
            self._by_name[kind] = {text(item, "metadata", "name"): item for item in reversed(self.all(kind))}
        return self._by_name[kind].get(name)

    def is_listed(self, kind: str) -> bool:
        """Whether the kind was looked at: what is not among its objects does not exist."""
        return kind in self.objects and kind not in self.unseen

    def ref(self, ref: Ref) -> Manifest | None:
        """The object that a reference names, by kind and name."""
        return self.find(ref.kind, ref.name)
