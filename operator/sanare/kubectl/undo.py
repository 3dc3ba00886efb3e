"""Undo: puts back what an attempt changed, newest first, and proves it. Never over what somebody else changed."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from sanare import errors
from sanare.api.manifest import Manifest, Ref, mapping, text
from sanare.kube.client import KubeClient, RawAnswer, kube_error
from sanare.kube.transport import Method
from sanare.kubectl.diff import MISSING, FieldChange, Named, changes
from sanare.kubectl.journal import Journal, MutationRecord
from sanare.text import one_line

_TRIES = 4
_NOT_RECREATED = {
    "Pod": "its containers' state is lost",
    "Job": "its pods' history is lost",
    "PersistentVolumeClaim": "its data may be lost",
}
_SERVER_FIELDS = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")


@dataclass(frozen=True, slots=True)
class UndoReport:
    """What was put back, and what could not be, each with its reason."""

    undone: tuple[Ref, ...] = ()
    leftovers: tuple[str, ...] = ()


class _Leftover(Exception):
    """Why one record cannot be undone."""


@dataclass(slots=True)
class _Undo:
    client: KubeClient
    impersonate: str
    journal: Journal | None
    writes: int = 0
    undone: list[Ref] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    left: set[str] = field(default_factory=set)

    def leave(self, ref: Ref, reason: str) -> None:
        """Tell an object that is not as it was before."""
        self.left.add(str(ref))
        self.leftovers.append(f"{ref}: {reason}")


async def undo(
    client: KubeClient,
    records: Sequence[MutationRecord],
    *,
    impersonate: str = "",
    journal: Journal | None = None,
) -> UndoReport:
    """Undo an attempt's mutations. Failures become leftovers; raises only what the journal raises."""
    work = _Undo(client, impersonate, journal)
    done = [record for record in records if record.ok and not record.dry_run]
    for record in sorted(done, key=lambda one: one.seq, reverse=True):
        try:
            await _undo_one(work, record)
            work.undone.append(record.ref)
        except _Leftover as leftover:
            work.leave(record.ref, str(leftover))
        except errors.KubeError as error:
            work.leave(record.ref, one_line(str(error), 200))
    await _prove(work, done)
    return UndoReport(tuple(dict.fromkeys(work.undone)), tuple(dict.fromkeys(work.leftovers)))


async def _undo_one(work: _Undo, record: MutationRecord) -> None:
    if record.truncated:
        raise _Leftover("was too large to keep and is not put back")
    if record.verb == "delete":
        await _recreate(work, record)
    elif record.before is None:
        await _remove(work, record)
    else:
        await _put_back(work, record)


async def _remove(work: _Undo, record: MutationRecord) -> None:
    """Delete what the attempt created, and only that very object."""
    uid = text(record.after, "metadata", "uid")
    live = await _read(work, record.path)
    if live is None:
        return
    if text(live, "metadata", "uid") != uid:
        raise _Leftover("was created by the attempt and replaced since by someone else")
    body = {"propagationPolicy": "Background", "preconditions": {"uid": uid}}
    await _write(work, record, "DELETE", record.path, body, before=live)


async def _recreate(work: _Undo, record: MutationRecord) -> None:
    before = record.before or {}
    if await _read(work, record.path) is not None:
        return  # its controller, or someone else, created it again
    if record.ref.kind in _NOT_RECREATED:
        raise _Leftover(f"was deleted and is not created again: {_NOT_RECREATED[record.ref.kind]}")
    metadata = {k: v for k, v in mapping(before, "metadata").items() if k not in _SERVER_FIELDS}
    body = {**{k: v for k, v in before.items() if k != "status"}, "metadata": metadata}
    await _write(work, record, "POST", record.path.rpartition("/")[0], body, before=None)


async def _put_back(work: _Undo, record: MutationRecord) -> None:
    """Restore the changed fields where they still have the value that the attempt gave them."""
    wanted = changes(record.before, record.after)
    for attempt in range(_TRIES):
        live = await _read(work, record.path)
        if live is None:
            raise _Leftover("is gone")
        if text(live, "metadata", "uid") != text(record.before, "metadata", "uid"):
            raise _Leftover("was replaced since by another object of that name")
        foreign = [change.path for change in wanted if _value(live, change) not in (change.after, change.before)]
        if foreign:
            raise _Leftover(f"{foreign[0]} was changed since by someone else")
        body = restored(live, wanted)
        if body == live:
            return
        try:
            await _write(work, record, "PUT", record.path, body, before=live)
        except errors.Conflict:
            if attempt + 1 == _TRIES:
                raise
        else:
            return


def restored(live: Manifest, wanted: Sequence[FieldChange]) -> dict[str, Any]:
    """A copy of the live object with the fields set back."""
    body: dict[str, Any] = copy.deepcopy(dict(live))
    for change in reversed(wanted):
        _set(body, change)
    return body


def _value(live: Manifest, change: FieldChange) -> object:
    """The live value of a changed field, MISSING where it is not there."""
    value: object = live
    for step in change.steps:
        value = _child(value, step)
        if value is MISSING:
            return MISSING
    return value


def _child(value: object, step: str | int | Named) -> object:
    if isinstance(value, dict) and isinstance(step, str):
        return value.get(step, MISSING)
    if isinstance(value, list) and isinstance(step, int):
        return value[step] if step < len(value) else MISSING
    if isinstance(value, list) and isinstance(step, Named):
        return next((item for item in value if isinstance(item, dict) and item.get("name") == step.name), MISSING)
    return MISSING


def _set(body: dict[str, Any], change: FieldChange) -> None:
    """Write `change.before` at the field, creating the objects on the way, or remove the field."""
    parent: Any = body
    for step in change.steps[:-1]:
        inner = _child(parent, step)
        if inner is MISSING:
            if change.before is MISSING or not isinstance(parent, dict):
                return
            inner = parent[step] = {}
        parent = inner
    _set_in(parent, change.steps[-1], change.before)


def _set_in(parent: Any, step: str | int | Named, value: object) -> None:
    if isinstance(parent, list):
        position = _position(parent, step)
        if value is MISSING:
            del parent[position : position + 1]
        else:
            parent[position : position + 1] = [value]
    elif isinstance(parent, dict):
        if value is MISSING:
            parent.pop(step, None)
        else:
            parent[step] = value


def _position(parent: list[Any], step: str | int | Named) -> int:
    if isinstance(step, Named):
        found = (i for i, item in enumerate(parent) if isinstance(item, dict) and item.get("name") == step.name)
        return next(found, len(parent))
    return int(step) if isinstance(step, int) else len(parent)


async def _prove(work: _Undo, done: Sequence[MutationRecord]) -> None:
    """Compare each object with what it was before the attempt's first change of it."""
    first: dict[str, MutationRecord] = {}
    for record in sorted(done, key=lambda one: one.seq):
        first.setdefault(record.path, record)
    told = frozenset(work.left)
    for record in first.values():
        if str(record.ref) in told:
            continue
        scaled = f"{record.path}/scale" in first  # replicas are proved by the scale's own record
        try:
            problem = _difference(record, await _read(work, record.path), scaled=scaled)
        except errors.KubeError as error:
            problem = f"not proven: {one_line(str(error), 160)}"
        if problem:
            work.leave(record.ref, problem)


def _difference(record: MutationRecord, live: Manifest | None, *, scaled: bool) -> str:
    if record.before is None:
        leaving = live is None or bool(text(live, "metadata", "deletionTimestamp"))
        return "" if leaving else "was created and is still there"
    if live is None:
        return "is not there any more"
    found = changes(record.before, live)
    different = [change for change in found if not (scaled and change.path == "spec.replicas")]
    return f"differs from before: {one_line(str(different[0]), 160)}" if different else ""


def _headers(work: _Undo) -> dict[str, str]:
    told = {"Accept": "application/json", "Content-Type": "application/json"}
    return told | ({"Impersonate-User": work.impersonate} if work.impersonate else {})


async def _read(work: _Undo, path: str) -> Manifest | None:
    answer = await work.client.raw("GET", path, headers=_headers(work))
    if answer.status == 404:
        return None
    if not answer.ok:
        raise kube_error(answer.status, answer.body, what=f"GET {path}")
    return answer.manifest()


async def _write(
    work: _Undo,
    record: MutationRecord,
    method: Method,
    path: str,
    body: dict[str, Any],
    *,
    before: Manifest | None,
) -> None:
    """One journaled write. Raises KubeError."""
    work.writes += 1
    verb = {"DELETE": "delete", "PUT": "update", "POST": "create"}[method]
    intent = replace(
        record,
        seq=work.writes,
        at=datetime.now(UTC),
        verb=verb,
        method=method,
        query={},
        content_type="application/json",
        body=body,
        before=before,
        after=None,
        status=0,
    )
    if work.journal:
        await work.journal.intend(intent)
    answer = await _send(work, method, path, body)
    if work.journal:
        after = answer.manifest() if answer.ok and verb != "delete" else None
        await work.journal.done(replace(intent, status=answer.status, after=after))
    if not answer.ok:
        raise kube_error(answer.status, answer.body, what=f"{method} {path}")


async def _send(work: _Undo, method: Method, path: str, body: dict[str, Any]) -> RawAnswer:
    try:
        return await work.client.raw(method, path, body=body, headers=_headers(work))
    except errors.Unreachable as error:
        return RawAnswer(504, str(error).encode(), "text/plain")
