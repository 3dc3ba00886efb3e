"""One attempt at the gate: its grant, its journal, and the exchange of each mutation with the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import quote

from sanare import errors
from sanare.api.manifest import Manifest, Ref, mapping, text, without_managed_fields
from sanare.errors import Refused
from sanare.kube.client import KubeClient, RawAnswer
from sanare.kube.resources import BY_KIND
from sanare.kube.transport import Method
from sanare.kubectl.diff import changes
from sanare.kubectl.facts import Fact, Rule
from sanare.kubectl.grant import Grant
from sanare.kubectl.journal import Journal, MutationRecord
from sanare.kubectl.judge import corrected_references, judge_change
from sanare.kubectl.origin import cron_job_path, deletion_concerns, job_template
from sanare.kubectl.precondition import conditioned, names_version
from sanare.kubectl.request import ApiRequest
from sanare.kubectl.rules import Spent, check
from sanare.kubectl.scope import settle

Clock = Callable[[], datetime]

_TRIES = 4
_LIMIT = 8 * 1024 * 1024
_LOOK_SECONDS = 10.0
_JSON = {"Accept": "application/json"}


@dataclass(frozen=True, slots=True)
class _Seen:
    """A mutation and the object it meets (None: not there)."""

    request: ApiRequest
    before: Manifest | None


class Session:
    """What the gate knows of one attempt. Mutations pass one at a time, so that each is judged on what is true."""

    def __init__(self, client: KubeClient, grant: Grant, journal: Journal, clock: Clock) -> None:
        self.grant = grant
        self.client = client
        self.records: list[MutationRecord] = []
        self.refusals: list[Refused] = []
        self._journal = journal
        self._clock = clock
        self._lock = asyncio.Lock()
        self._closed = False
        self._running: set[asyncio.Task[RawAnswer]] = set()
        self._deleted: dict[tuple[str, str], Manifest] = {}

    @property
    def spent(self) -> Spent:
        """The mutations that went through so far."""
        done = [record for record in self.records if record.ok]
        return Spent(len(done), sum(record.verb == "delete" for record in done))

    def track(self, mutation: Coroutine[Any, Any, RawAnswer]) -> asyncio.Task[RawAnswer]:
        """Run a mutation as a task that `idle` waits for."""
        task = asyncio.create_task(mutation)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[RawAnswer]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # whoever awaited it has it; a caller that left must not leave a warning

    def close(self) -> None:
        """The attempt has ended: no mutation is begun, or sent, from now on."""
        self._closed = True

    def _refuse_closed(self) -> None:
        if self._closed:
            raise Refused("AttemptEnded", "the attempt has ended; nothing of it is sent any more")

    async def idle(self, timeout: float) -> None:
        """Wait until no mutation is under way, at most `timeout` seconds."""
        if self._running:
            await asyncio.wait(self._running, timeout=timeout)

    def headers(self, **more: str) -> dict[str, str]:
        """Request headers in the name that the grant gives."""
        return ({"Impersonate-User": self.grant.impersonate} if self.grant.impersonate else {}) | more

    async def mutate(self, request: ApiRequest) -> RawAnswer:
        """Judge a mutation by its effect, journal it, send it. Raises Refused, KubeError, the journal's errors."""
        async with self._lock:
            # Those before it may have used up the limits, or the attempt's time, while it waited.
            self._refuse_closed()
            check(request, self.grant, self.spent)
            for _ in range(_TRIES):
                seen = _Seen(request, await self._live(request))
                answer = await self._attempt(seen)
                if answer.status != 409 or not await self._moved(seen):
                    break
            return answer

    async def _attempt(self, seen: _Seen) -> RawAnswer:
        preview = await self._send(seen, dry_run=True)
        if not preview.ok:
            return preview
        await self._judge(seen, preview.manifest())
        self._refuse_closed()
        record = self._record(seen)
        if self.grant.dry_run:
            await self._keep(record, preview)
            return preview
        await self._journal.intend(record)
        self._refuse_closed()
        answer = await self._deliver(seen)
        await self._keep(record, answer)
        return answer

    async def _deliver(self, seen: _Seen) -> RawAnswer:
        """Send it; where no answer comes, look whether it happened."""
        try:
            return await self._send(seen, dry_run=False)
        except errors.Unreachable as error:
            try:
                live = await self._fetch(self._object_path(seen.request), timeout=_LOOK_SECONDS)
            except errors.KubeError:
                live = RawAnswer(0, b"", "")
            if _happened(seen, live):
                return replace(live, status=200)
            return RawAnswer(504, str(error).encode(), "text/plain")

    async def _keep(self, record: MutationRecord, answer: RawAnswer) -> None:
        after = None if record.verb == "delete" or not answer.ok else without_managed_fields(answer.manifest())
        ref = replace(record.ref, uid=record.ref.uid or text(after, "metadata", "uid"))
        done = replace(record, status=answer.status, after=after, ref=ref)
        self.records.append(done)
        if done.ok and done.verb == "delete" and done.before is not None:
            self._deleted[(done.ref.kind, done.ref.name)] = done.before
        await self._journal.done(done)

    def _record(self, seen: _Seen) -> MutationRecord:
        request = seen.request
        known = seen.before if seen.before is not None else mapping(request.body)
        ref = Ref(
            kind=request.kind,
            namespace=request.namespace,
            name=request.name or text(known, "metadata", "name"),
            api_version=request.resource.api_version if request.resource else "",
            uid=text(seen.before, "metadata", "uid"),
        )
        return MutationRecord(
            seq=len(self.records) + 1,
            at=self._clock(),
            verb=request.verb,
            ref=ref,
            method=request.method,
            path=self._object_path(request),
            subresource=request.subresource,
            query=dict(request.query),
            content_type=request.content_type,
            body=request.body,
            before=without_managed_fields(seen.before) if seen.before is not None else None,
            dry_run=self.grant.dry_run,
        )

    @staticmethod
    def _object_path(request: ApiRequest) -> str:
        if request.verb == "create":
            return f"{request.path}/{text(request.body, 'metadata', 'name')}"
        return request.path

    async def _live(self, request: ApiRequest) -> Manifest | None:
        """The object as it stands. Raises KubeError."""
        if request.verb == "create":
            return None
        answer = await self._fetch(request.path)
        if answer.status == 404:
            return None
        if not answer.ok:
            raise errors.KubeError(f"cannot read {request.kind}/{request.name} first", status=answer.status)
        return answer.manifest()

    async def _fetch(self, path: str, *, timeout: float | None = None) -> RawAnswer:
        return await self.client.raw("GET", path, headers=self.headers(**_JSON), limit=_LIMIT, timeout=timeout)

    async def _moved(self, seen: _Seen) -> bool:
        """Whether a conflict is the object's own change since it was judged, so that judging anew may help."""
        if seen.before is None or names_version(seen.request):
            return False
        live = await self._live(seen.request)
        version = text(live, "metadata", "resourceVersion")
        return bool(version) and version != text(seen.before, "metadata", "resourceVersion")

    async def _send(self, seen: _Seen, *, dry_run: bool) -> RawAnswer:
        request = seen.request
        query, body = dict(request.query), conditioned(request, seen.before)
        if dry_run:
            query["dryRun"] = "All"
        if dry_run and request.verb == "delete":
            body = {**body, "dryRun": ["All"]}  # with a body, the API server ignores the query's options
        headers = self.headers(**_JSON, **{"Content-Type": request.content_type or "application/json"})
        method: Method = request.method
        return await self.client.raw(method, request.path, query=query, body=body, headers=headers, limit=_LIMIT)

    async def _judge(self, seen: _Seen, preview: Manifest) -> None:
        """Raises Refused where the effect is not allowed, or needs a person who has not approved it."""
        request, before = seen.request, seen.before
        kind = "Scale" if request.subresource == "scale" else request.kind
        if request.verb == "delete":
            concerns = deletion_concerns(kind, before)
        elif before is not None:
            standing = await self._standing(kind, before, preview)
            concerns = judge_change(kind, before, preview, self.grant.limits, standing=standing)
        else:
            concerns = judge_change(kind, await self._origin(request), mapping(request.body), self.grant.limits)
        settle(concerns, approved=self.grant.has_person)

    async def _standing(self, kind: str, before: Manifest, preview: Manifest) -> frozenset[Fact]:
        """The references that would be corrected and yet lead somewhere, as far as the grant's name may look."""
        found = corrected_references(kind, before, preview)
        return frozenset([fact for fact in found if await self._leads(fact)])

    async def _leads(self, fact: Fact) -> bool:
        name, _, key = fact.value.partition("/")
        resource = BY_KIND["ServiceAccount" if fact.rule is Rule.SERVICE_ACCOUNT else "Secret"]
        answer = await self._fetch(f"{resource.path(self.grant.namespace)}/{quote(name, safe='')}")
        return answer.ok and (not key or key in mapping(answer.manifest(), "data"))

    async def _origin(self, request: ApiRequest) -> Manifest | None:
        """What a new object is judged as a change of: the one this attempt deleted, or the CronJob's template."""
        deleted = self._deleted.get((request.kind, text(request.body, "metadata", "name")))
        path = cron_job_path(request)
        if deleted is not None or not path:
            return deleted
        answer = await self._fetch(path)
        return job_template(mapping(request.body), answer.manifest()) if answer.ok else None


def _happened(seen: _Seen, live: RawAnswer) -> bool:
    """Whether a mutation that got no answer shows in the object as it is now."""
    if seen.request.verb == "delete":
        return live.status == 404
    return live.ok and (seen.before is None or bool(changes(seen.before, live.manifest())))
