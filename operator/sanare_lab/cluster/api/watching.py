"""Watch: changes of a collection as a stream of JSON lines."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterable

from aiohttp import web

from sanare_lab.cluster.api.reading import listed, parse_version, selection
from sanare_lab.cluster.api.rendering import Form, View, partial, render_table
from sanare_lab.cluster.api.request import Call
from sanare_lab.cluster.changes import Change, Subscription
from sanare_lab.cluster.errors import ApiError, expired
from sanare_lab.cluster.faults import Fault, FaultKind, cut
from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.store import Store
from sanare_lab.cluster.tables import TableBook

_BOOKMARK_SECONDS = 60.0
_LONGEST_SECONDS = 3600.0


class Watch:
    """One watch, from its first version to its time-out."""

    def __init__(self, store: Store, tables: TableBook, call: Call, fault: Fault | None) -> None:
        self._store = store
        self._tables = tables
        self._call = call
        self._keep = selection(call)
        self._view = View.of(call.http)
        self._columns = True
        self._bookmarks = call.flag("allowWatchBookmarks")
        self._fault = fault.kind if fault else None
        self._cut_after = fault.seconds if fault and fault.kind is FaultKind.DROP else None

    async def serve(self) -> web.StreamResponse:
        """Stream until the client goes or time is over. A version too old is told in the stream, as 410."""
        answer = web.StreamResponse()
        answer.content_type = "application/json"
        seconds = self._call.number("timeoutSeconds") or random.uniform(1800, _LONGEST_SECONDS)  # noqa: S311
        _check_version(self._call.text("resourceVersion"))
        with self._store.subscribe(self._call.resource) as subscription:
            try:
                start = b"".join(self._start())
            except ApiError as error:
                start, seconds = self._line("ERROR", error.body()), 0
            await answer.prepare(self._call.http)
            if start:
                await answer.write(start)
            try:
                await self._follow(subscription, answer, seconds if self._cut_after is None else self._cut_after)
                if self._cut_after is not None:
                    return cut(self._call.http)
                await answer.write_eof()
            except ConnectionError:  # the client went; nobody is left to tell
                return answer
        return answer

    def _start(self) -> Iterable[bytes]:
        text = self._call.text("resourceVersion")
        version = parse_version(text)
        if self._fault is FaultKind.STALE:
            return
        if self._call.flag("sendInitialEvents") or version == 0:
            yield from (self._event("ADDED", obj) for obj in listed(self._store, self._call))
            if self._call.flag("sendInitialEvents"):
                yield self._bookmark(initial=True)
            return
        current = int(self._store.resource_version)
        if (
            self._fault is FaultKind.GONE
            or version > current
            or self._store.log.is_too_old(self._call.resource, version)
        ):
            raise expired(f"too old resource version: {version} ({current})")
        for change in self._store.log.since(self._call.resource, version):
            yield self._change(change)

    async def _follow(self, subscription: Subscription, answer: web.StreamResponse, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while (left := end - loop.time()) > 0:
            try:
                async with asyncio.timeout(min(left, _BOOKMARK_SECONDS)):
                    first = await subscription.get()
            except TimeoutError:
                await self._tell_bookmark(answer)
                continue
            changes = [first, *subscription.waiting()]
            if self._fault is FaultKind.STALE:
                continue
            lines = b"".join(self._change(change) for change in changes)
            if lines:
                await answer.write(lines)

    async def _tell_bookmark(self, answer: web.StreamResponse) -> None:
        if self._bookmarks and self._fault is not FaultKind.STALE:
            await answer.write(self._bookmark())

    def _change(self, change: Change) -> bytes:
        """The event that this watch sees: what leaves the selection is deleted, what enters it is added."""
        is_in = self._keep(change.object)
        if change.type == "ADDED":
            return self._event("ADDED", change.object, change) if is_in else b""
        was_in = change.old is not None and self._keep(change.old)
        if change.type == "DELETED" or not is_in:
            return self._event("DELETED", change.object, change) if was_in else b""
        return self._event("MODIFIED" if was_in else "ADDED", change.object, change)

    def _event(self, kind: str, obj: Obj, change: Change | None = None) -> bytes:
        if self._view.form is Form.TABLE:
            version = {"resourceVersion": obj["metadata"]["resourceVersion"]}
            rendered = render_table(
                self._tables, self._call.resource, [obj], version, self._view, columns=self._columns
            )
            self._columns = False
            return self._line(kind, rendered)
        if self._view.form is Form.METADATA:
            return self._line(kind, partial(obj))
        if change is None:
            return self._line(kind, obj)
        return b'{"type":"%s","object":%s}\n' % (kind.encode(), change.encoded)

    def _bookmark(self, *, initial: bool = False) -> bytes:
        resource = self._call.resource
        metadata: Obj = {"resourceVersion": self._store.resource_version, "creationTimestamp": None}
        if initial:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        body: Obj = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        if self._view.form is Form.METADATA:
            body = partial(body)
        if self._view.form is Form.TABLE:
            body = render_table(self._tables, resource, [], metadata, self._view, columns=self._columns)
        return self._line("BOOKMARK", body)

    @staticmethod
    def _line(kind: str, body: Obj) -> bytes:
        return json.dumps({"type": kind, "object": body}, separators=(",", ":")).encode() + b"\n"


def _check_version(text: str) -> None:
    """A watch from no version at all is the server's own error, as on the real one."""
    if text and not text.isdigit():
        why = f'Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        raise ApiError(500, "", f"resourceVersion: {why}")
