"""Collecting a snapshot: one list per kind, all at once, then the requests from outside and the log tails.

Every answer that fails is told apart (`Forbidden`, `NotFound`, `Timeout`) and kept beside what was seen: a kind
that could not be listed is unknown, not empty. Secrets are never listed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sanare import errors
from sanare.api.incident import Incident
from sanare.api.manifest import Manifest, dig, items, mapping, number, text
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.declared import declared_requests
from sanare.evaluator.look import event_time
from sanare.evaluator.ownership import TEMPLATED, Ownership, ownership, pod_template
from sanare.evaluator.reach import address, planned, read_answer
from sanare.evaluator.scope import Scope, scope_of
from sanare.evaluator.snapshot import Answer, Probe, Snapshot
from sanare.kube.client import KubeClient, ObjectList
from sanare.kube.resources import BY_KIND
from sanare.text import cap, clean, one_line

# What every look needs: ten requests. The rest is listed for the baseline, and again only where there was some.
CORE = (
    "Pod",
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "Service",
    "EndpointSlice",
    "ConfigMap",
    "Event",
    "ResourceQuota",
)
EXTRA = (
    "PersistentVolumeClaim",
    "ServiceAccount",
    "LimitRange",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "HorizontalPodAutoscaler",
    "Job",
)
# Kinds that a verdict can be about.
TARGET_KINDS = frozenset({*TEMPLATED, "Pod", "Service", "HorizontalPodAutoscaler"})

_LIST_SECONDS = 20.0
_ASK_SECONDS = 5.0
_EVENTS = 300
_VALUE_BYTES = 4096
_VALUES_BYTES = 256 * 1024
_LOGS = 6
_LOG_LINES = 30
_LOG_BYTES = 4096
# The kubelet's words, with status 200, for a log that is gone.
_NO_LOG = (b"unable to retrieve container logs", b"failed to try resolving symlinks", b"failed to open log file")


@dataclass(frozen=True, slots=True)
class Collected:
    """A snapshot with the readings that it was probed by, and the resourceVersions that a watch goes on from."""

    snapshot: Snapshot
    owned: Ownership
    scope: Scope
    versions: Mapping[str, str]


async def collect(kube: KubeClient, incident: Incident, baseline: Baseline | None = None) -> Collected:
    """One look at the Incident's namespace. Never raises for what could not be read; the snapshot says it."""
    namespace = incident.metadata.namespace
    listed, unseen = await _lists(kube, namespace, _first(incident, baseline))
    more = [kind for kind in _mentioned(listed) if kind not in listed and kind not in unseen]
    if more:
        found, blind = await _lists(kube, namespace, more)
        listed, unseen = listed | found, unseen | blind
    objects = {kind: _trimmed(kind, found.items) for kind, found in listed.items()}
    bare = Snapshot(namespace, datetime.now(UTC), objects, {}, {}, unseen)
    owned = ownership(bare)
    scope = scope_of(bare, incident, owned, baseline=baseline)
    probes = tuple(dict.fromkeys((*declared_requests(incident, bare), *planned(bare, scope, owned))))
    answers = dict(
        zip(probes, await asyncio.gather(*(_ask(kube, namespace, probe) for probe in probes)), strict=True)
    )
    wanted = _worth_reading(owned, scope, answers)
    tails = await asyncio.gather(*(_tail(kube, namespace, *which) for which in wanted))
    logs = {f"{pod}/{name}": tail for (pod, name, _), tail in zip(wanted, tails, strict=True) if tail}
    versions = {kind: found.resource_version for kind, found in listed.items()}
    return Collected(Snapshot(namespace, bare.taken_at, objects, answers, logs, unseen), owned, scope, versions)


def _first(incident: Incident, baseline: Baseline | None) -> tuple[str, ...]:
    named = [target.kind for target in incident.spec.targets if target.kind in TARGET_KINDS]
    extra = EXTRA if baseline is None else [kind for kind in EXTRA if baseline.facts.names.get(kind)]
    return tuple(dict.fromkeys((*CORE, *extra, *named, *(["Job"] if "CronJob" in named else []))))


def _mentioned(listed: Mapping[str, ObjectList]) -> list[str]:
    """Kinds that the pod templates refer to and that a later look may have left out."""
    wanted = []
    templates = [pod_template(item) for kind in TEMPLATED if kind in listed for item in listed[kind].items]
    if any("persistentVolumeClaim" in volume for each in templates for volume in items(each, "spec", "volumes")):
        wanted.append("PersistentVolumeClaim")
    if any(text(each, "spec", "serviceAccountName") not in ("", "default") for each in templates):
        wanted.append("ServiceAccount")
    return wanted


async def _lists(
    kube: KubeClient, namespace: str, kinds: Iterable[str]
) -> tuple[dict[str, ObjectList], dict[str, str]]:
    asked = tuple(kinds)
    answers = await asyncio.gather(*(_list(kube, namespace, kind) for kind in asked))
    listed = {kind: found for kind, found in zip(asked, answers, strict=True) if not isinstance(found, str)}
    return listed, {kind: found for kind, found in zip(asked, answers, strict=True) if isinstance(found, str)}


async def _list(kube: KubeClient, namespace: str, kind: str) -> ObjectList | str:
    """The objects of a kind, or why they could not be listed."""
    try:
        # Of events only the warnings: a busy namespace keeps thousands of the others.
        fields = "type=Warning" if kind == "Event" else ""
        async with asyncio.timeout(_LIST_SECONDS):
            return await kube.list(BY_KIND[kind], namespace, fields=fields)
    except TimeoutError:
        return f"Timeout: no list of {BY_KIND[kind].plural} within {_LIST_SECONDS:g} s"
    except errors.Unreachable as error:
        return f"Timeout: {one_line(str(error), 300)}"
    except errors.KubeError as error:
        return f"{type(error).__name__}: {one_line(str(error), 300)}"


def _trimmed(kind: str, found: tuple[Manifest, ...]) -> tuple[Manifest, ...]:
    if kind == "ConfigMap":
        return _capped_values(found)
    if kind == "Event":
        found = tuple(sorted(found, key=event_time)[-_EVENTS:])
    return tuple({**item, "metadata": _without_noise(item)} for item in found)


def _without_noise(item: Manifest) -> dict[str, Any]:
    return {name: value for name, value in mapping(item, "metadata").items() if name != "managedFields"}


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
        kept.append({**item, "metadata": _without_noise(item), "data": data, "binaryData": binary})
    return tuple(kept)


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
    return read_answer(raw)


def _worth_reading(
    owned: Ownership, scope: Scope, answers: Mapping[Probe, Answer]
) -> tuple[tuple[str, str, bool], ...]:
    """Containers whose log says something: unhealthy ones, and those behind a Service that does not answer."""
    refused = any(answer.known and answer.failure for answer in answers.values())
    wanted = []
    for key in scope.workloads:
        for pod in owned.current(key):
            for status in (
                *items(pod, "status", "initContainerStatuses"),
                *items(pod, "status", "containerStatuses"),
            ):
                troubled = not status.get("ready") or number(status, "restartCount") > 0
                started = bool(number(status, "restartCount") or dig(status, "state", "waiting") is None)
                if started and (troubled or refused):
                    wanted.append((text(pod, "metadata", "name"), text(status, "name"), _previous(status)))
    return tuple(wanted[:_LOGS])


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
