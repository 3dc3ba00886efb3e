"""Recorder: Events as the real components write them, counted where they repeat, combined where they are many.

The rules are client-go's event correlator: the same event again raises `count`; from the tenth different message of
one object and reason on, they share one event that says "(combined from similar events)".
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TypeAlias

from sanare_lab.cluster.objects import Obj, micro_timestamp, name_of, namespace_of, timestamp
from sanare_lab.cluster.resources import EVENTS
from sanare_lab.cluster.store import ApiError, Store

COMBINE_AFTER = 10
_COMBINE_WITHIN = 600.0  # seconds of the cluster's time; after so long without one, messages count from none again
_REMEMBERED = 8192  # events that may still be counted up; older ones start anew
_KEPT = 20_000  # events in the store that one recorder wrote; the oldest go first

_Key: TypeAlias = tuple[str, ...]


class Recorder:
    """Writes the Events of one component. Never raises: an event that cannot be written is lost, as in reality."""

    def __init__(self, store: Store, component: str, host: str = "") -> None:
        self._store = store
        self._component = component
        self._host = host
        self._seen: OrderedDict[_Key, tuple[str, str]] = OrderedDict()
        self._messages: OrderedDict[_Key, tuple[float, set[str]]] = OrderedDict()
        self._written: deque[tuple[str, str]] = deque()
        self._number = 0

    def normal(self, about: Obj, reason: str, message: str, field: str = "") -> None:
        """An event of type Normal; `field` is the fieldPath within the object."""
        self._record(about, "Normal", reason, message, field)

    def warning(self, about: Obj, reason: str, message: str, field: str = "") -> None:
        """An event of type Warning."""
        self._record(about, "Warning", reason, message, field)

    def scheduled(self, about: Obj, kind: str, reason: str, message: str, action: str) -> None:
        """An event in the events.k8s.io form, without count, as the scheduler writes it."""
        now = micro_timestamp(self._store.clock.now())
        self._create(about, kind, reason, message, "", {"eventTime": now, "action": action, "source": {}})

    def _record(self, about: Obj, kind: str, reason: str, message: str, field: str) -> None:
        message = message[:1023]
        group = (about["metadata"].get("uid", ""), field, kind, reason)
        messages = self._similar(group)
        messages.add(message)
        key = (*group, message)
        if len(messages) >= COMBINE_AFTER:
            messages.discard(message)
            message, key = f"(combined from similar events): {message}", (*group, "")
        if not self._count_up(key, message):
            self._first(key, about, kind, reason, message, field)

    def _similar(self, group: _Key) -> set[str]:
        """The different messages of one object and reason of late."""
        now = self._store.clock.monotonic()
        last, messages = self._messages.pop(group, (now, set()))
        if now - last > _COMBINE_WITHIN:
            messages = set()
        self._messages[group] = (now, messages)
        if len(self._messages) > _REMEMBERED:
            self._messages.popitem(last=False)
        return messages

    def _count_up(self, key: _Key, message: str) -> bool:
        where = self._seen.get(key)
        if where is None:
            return False
        now = timestamp(self._store.clock.now())

        def again(event: Obj) -> None:
            event.update(count=event.get("count", 1) + 1, lastTimestamp=now, message=message)

        try:
            return self._store.modify(EVENTS, *where, again) is not None
        except ApiError:
            return True

    def _first(self, key: _Key, about: Obj, kind: str, reason: str, message: str, field: str) -> None:
        now = timestamp(self._store.clock.now())
        source = {"component": self._component} | ({"host": self._host} if self._host else {})
        extra = {"count": 1, "eventTime": None, "firstTimestamp": now, "lastTimestamp": now, "source": source}
        name = self._create(about, kind, reason, message, field, extra)
        if name:
            self._seen[key] = (namespace_of(about) or "default", name)
            if len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)

    def _create(self, about: Obj, kind: str, reason: str, message: str, field: str, extra: Obj) -> str:
        self._number += 1
        stamp = int(self._store.clock.now().timestamp() * 1e9) + self._number
        namespace = namespace_of(about) or "default"
        event: Obj = {
            "metadata": {"name": f"{name_of(about)}.{stamp:x}", "namespace": namespace},
            "involvedObject": _reference(about, field),
            "type": kind,
            "reason": reason,
            "message": message,
            "reportingComponent": self._component,
            "reportingInstance": self._host,
            **({"firstTimestamp": None, "lastTimestamp": None} | extra),
        }
        try:
            self._store.create(EVENTS, event)
        except ApiError:
            return ""
        self._keep(namespace, event["metadata"]["name"])
        return str(event["metadata"]["name"])

    def _keep(self, namespace: str, name: str) -> None:
        self._written.append((namespace, name))
        if len(self._written) > _KEPT:
            oldest = self._written.popleft()
            if self._store.get(EVENTS, *oldest) is not None:
                self._store.delete(EVENTS, *oldest)


def _reference(about: Obj, field: str) -> Obj:
    metadata = about["metadata"]
    reference = {
        "apiVersion": about.get("apiVersion"),
        "kind": about.get("kind"),
        "name": metadata.get("name"),
        "namespace": metadata.get("namespace"),
        "uid": metadata.get("uid"),
        "resourceVersion": metadata.get("resourceVersion"),
        "fieldPath": field,
    }
    return {key: value for key, value in reference.items() if value}
