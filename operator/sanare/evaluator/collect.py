"""Collecting a snapshot: lists, then requests from outside and log tails, in as few requests as it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sanare import errors
from sanare.api.incident import Incident
from sanare.api.manifest import Manifest, dig, items, number, text
from sanare.evaluator import wanted
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.listing import Listing
from sanare.evaluator.look import Look
from sanare.evaluator.ownership import Ownership, ownership, service_selector
from sanare.evaluator.reach import address, plan, read_answer
from sanare.evaluator.scope import Scope, scope_of
from sanare.evaluator.snapshot import Answer, Probe, Snapshot
from sanare.evaluator.trouble import Trouble, trouble_in
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND
from sanare.text import clean, one_line

_ASK_SECONDS = 5.0
_LOGS = 6
_LOG_LINES = 30
_LOG_BYTES = 4096
# The kubelet's words, with status 200, for a log that is gone.
_NO_LOG = (b"unable to retrieve container logs", b"failed to try resolving symlinks", b"failed to open log file")


@dataclass(frozen=True, slots=True)
class Collected:
    """A snapshot with the readings that it was probed by.

    Attributes:
        versions: kind to the resourceVersion of its list, from which a watch goes on.
        room: how many requests the look has left of its budget; negative where the scope needed more.
    """

    snapshot: Snapshot
    owned: Ownership
    scope: Scope
    versions: Mapping[str, str]
    room: int


async def collect(
    kube: KubeClient,
    incident: Incident,
    baseline: Baseline | None = None,
    *,
    capture: bool = False,
    ours: Collection[str] = (),
) -> Collected:
    """One look at the Incident's namespace. Never raises for what could not be read; the snapshot says it.

    With `capture` it is the first one, which leaves room for the guards and asks for less evidence.
    `ours` are the uids of the Jobs that declared checks made.
    """
    listing = Listing(kube, incident.metadata.namespace, ours=ours)
    await listing.list(wanted.first_kinds(incident, baseline, capture=capture))
    await listing.list(wanted.owning_kinds(listing.objects.get("Pod", ())))
    readings = await asyncio.to_thread(_read, listing, incident, baseline)
    if await listing.list(wanted.candidate_kinds(incident, readings.scope)):
        readings = await asyncio.to_thread(_read, listing, incident, baseline)
    await listing.list(_first_evidence(readings) if capture else _evidence(readings, baseline))
    return await _ask_around(listing, readings, baseline, capture=capture)


async def with_kinds(kube: KubeClient, snapshot: Snapshot, kinds: Iterable[str]) -> Snapshot:
    """The snapshot with further kinds listed, none of which owns a pod."""
    listing = Listing(kube, snapshot.namespace, dict(snapshot.objects), dict(snapshot.unseen))
    if not await listing.list(kinds):
        return snapshot
    return replace(snapshot, objects=listing.objects, unseen=listing.unseen)


@dataclass(frozen=True, slots=True)
class _Readings:
    """What the lists say before anything was asked from outside."""

    bare: Snapshot
    owned: Ownership
    scope: Scope
    trouble: Trouble

    @property
    def workloads(self) -> list[Manifest]:
        return [self.owned.workloads[key] for key in self.scope.workloads if key in self.owned.workloads]


def _read(listing: Listing, incident: Incident, baseline: Baseline | None) -> _Readings:
    now = datetime.now(UTC)
    bare = Snapshot(listing.namespace, now, dict(listing.objects), {}, {}, dict(listing.unseen))
    owned = ownership(bare)
    scope = scope_of(bare, incident, owned, baseline=baseline)
    return _Readings(bare, owned, scope, trouble_in(Look(bare, incident, owned, scope, now, baseline)))


def _first_evidence(readings: _Readings) -> Iterator[str]:
    """What the first look needs beyond the pods, their owners and the Services."""
    yield from wanted.mentioned_kinds(readings.workloads)
    if readings.trouble.any or readings.trouble.silent_probe:
        yield "Event"
    services = (readings.bare.find("Service", name) for name in readings.scope.services)
    if any(service is not None and not service_selector(service) for service in services):
        yield "EndpointSlice"


def _evidence(readings: _Readings, baseline: Baseline | None) -> Iterator[str]:
    """Kinds that explain what is wrong, or that a rule compares where nothing is."""
    trouble = readings.trouble
    yield from wanted.mentioned_kinds(readings.workloads)
    if trouble.any or trouble.silent_probe:
        yield "Event"
    known = baseline.facts.workloads if baseline else ()
    if trouble.any or wanted.reads_config(known) or wanted.mentions_config(readings.owned.workloads.values()):
        yield "ConfigMap"
    if baseline and wanted.is_shrunk(baseline, readings.owned.workloads):
        yield wanted.SCALER
    if trouble.creation:
        yield "ResourceQuota"
        yield from (kind for kind in ("LimitRange", wanted.SCALER) if wanted.may_exist(kind, baseline))
        if wanted.names_an_account(readings.workloads):
            yield "ServiceAccount"


async def _ask_around(
    listing: Listing, readings: _Readings, baseline: Baseline | None, *, capture: bool
) -> Collected:
    """The requests from outside, and the logs of what is in trouble, within the room that the lists leave."""
    kube, namespace, troubled = listing.kube, listing.namespace, readings.trouble.any
    bare = replace(readings.bare, objects=listing.objects, unseen=listing.unseen)
    offered = plan(bare, readings.scope, readings.owned)
    limit = wanted.budget(readings.scope, offered.ports)
    room = limit - listing.asked - wanted.reserve(baseline, capture=capture, troubled=troubled)
    logs = (
        _worth_reading(readings, refused=False)[: max(room - offered.ports * (not capture), 1)] if troubled else ()
    )
    answers = await _answers(kube, namespace, offered.within(room - len(logs), thrifty=troubled and capture))
    if not capture and any(answer.known and answer.failure for answer in answers.values()):
        await listing.list(
            ["ConfigMap", *(["NetworkPolicy"] if wanted.may_exist("NetworkPolicy", baseline) else [])]
        )
        logs = _worth_reading(readings, refused=True)[: max(limit - listing.asked - len(answers), 1)]
    tails = await asyncio.gather(*(_tail(kube, namespace, *which) for which in logs))
    return Collected(
        replace(
            bare,
            objects=listing.objects,
            unseen=listing.unseen,
            answers=answers,
            logs={f"{pod}/{name}": tail for (pod, name, _), tail in zip(logs, tails, strict=True) if tail},
        ),
        readings.owned,
        readings.scope,
        listing.versions,
        limit - listing.asked - len(answers) - len(logs),
    )


async def _answers(kube: KubeClient, namespace: str, probes: Iterable[Probe]) -> dict[Probe, Answer]:
    asked = tuple(probes)
    return dict(zip(asked, await asyncio.gather(*(_ask(kube, namespace, each) for each in asked)), strict=True))


async def _ask(kube: KubeClient, namespace: str, probe: Probe) -> Answer:
    """One request from outside, repeated once where the proxy itself stumbled (over a closed connection)."""
    answer = await _ask_once(kube, namespace, probe)
    if answer.known or "forbidden" in answer.failure:
        return answer
    return await _ask_once(kube, namespace, probe)


async def _ask_once(kube: KubeClient, namespace: str, probe: Probe) -> Answer:
    path, query = address(namespace, probe)
    try:
        raw = await kube.raw("GET", path, query=query or None, timeout=_ASK_SECONDS, limit=4096)
    except errors.Unreachable as error:
        # The API server answered the lists a moment ago, so a silence here is the backend's.
        slow = isinstance(error.__cause__, TimeoutError)
        return Answer(failure="timeout" if slow else one_line(str(error), 300), known=slow)
    except errors.KubeError as error:
        return Answer(failure=one_line(str(error), 300), known=False)
    return read_answer(raw)


def _worth_reading(readings: _Readings, *, refused: bool) -> tuple[tuple[str, str, bool], ...]:
    """Containers whose log says something: unhealthy ones, then those behind a Service that does not answer."""
    found: list[tuple[str, str, bool]] = []
    silent: list[tuple[str, str, bool]] = []
    for key in readings.scope.workloads:
        for pod in readings.owned.current(key):
            for status in (
                *items(pod, "status", "initContainerStatuses"),
                *items(pod, "status", "containerStatuses"),
            ):
                troubled = not status.get("ready") or number(status, "restartCount") > 0
                started = bool(number(status, "restartCount") or dig(status, "state", "waiting") is None)
                if started and (troubled or refused):
                    which = text(pod, "metadata", "name"), text(status, "name"), _previous(status)
                    (found if troubled else silent).append(which)
            if len(found) >= _LOGS:
                break
    return tuple([*found, *silent][:_LOGS])


def _previous(status: Manifest) -> bool:
    """Whether the log of the run before this one is the telling one: the container runs again.

    While it waits for its next run, the log is still that of the last one.
    """
    return dig(status, "lastState", "terminated") is not None and dig(status, "state", "running") is not None


async def _tail(kube: KubeClient, namespace: str, pod: str, container: str, previous: bool) -> str:
    """The end of a container's log, cleaned; empty where there is none or it may not be read."""
    path = BY_KIND["Pod"].path(namespace, pod, "log")
    query = {"container": container, "tailLines": str(_LOG_LINES), "limitBytes": str(4 * _LOG_BYTES)}
    # The log of one of the two runs may just be removed; the other one's says the same.
    earlier = query | {"previous": "true"}
    for asked in (earlier, query) if previous else (query, earlier):
        try:
            raw = await kube.raw("GET", path, query=asked, timeout=_ASK_SECONDS, limit=4 * _LOG_BYTES)
        except errors.Unreachable:
            return ""
        if raw.ok and raw.body.strip() and not raw.body.startswith(_NO_LOG):
            return clean(raw.body.decode("utf-8", "replace"), _LOG_BYTES)
    return ""
