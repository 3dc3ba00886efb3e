"""Asking pods directly, through the API server's proxy, what the analyzers would like to have confirmed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

from sanare import errors
from sanare.api.incident import Incident
from sanare.api.manifest import Manifest, items, text
from sanare.diagnosis.asked import Asked, asked_of, role_of
from sanare.diagnosis.listening import heard
from sanare.diagnosis.log_reading import routes
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Group, Workload
from sanare.evaluator.reach import address, read_answer
from sanare.evaluator.snapshot import Answer, Probe, Snapshot
from sanare.kube.client import KubeClient
from sanare.text import one_line

_LIMIT = 40
_AT_ONCE = 8
_SECONDS = 4.0
_BYTES = 4096


def probes_wanted(snapshot: Snapshot, incident: Incident) -> tuple[Probe, ...]:
    """The requests to running pods that would confirm or refute a candidate and are not answered yet; at most 40.

    Only `/` and paths with a probe's name are asked: a log may name a path whose request does something.
    """
    view = View.of(snapshot, incident.spec.targets)
    wanted = dict.fromkeys(probe for workload in view.targets for probe in _of_workload(view, workload))
    return tuple(probe for probe in wanted if probe not in snapshot.answers)[:_LIMIT]


async def confirm(kube: KubeClient, snapshot: Snapshot, incident: Incident) -> Snapshot:
    """The snapshot with the answers to `probes_wanted`; what could not be asked stays unknown. Never raises."""
    gate = asyncio.Semaphore(_AT_ONCE)
    wanted = probes_wanted(snapshot, incident)
    answers = await asyncio.gather(*(_ask(kube, snapshot.namespace, probe, gate) for probe in wanted))
    return replace(snapshot, answers={**snapshot.answers, **dict(zip(wanted, answers, strict=True))})


async def _ask(kube: KubeClient, namespace: str, probe: Probe, gate: asyncio.Semaphore) -> Answer:
    path, query = address(namespace, probe)
    async with gate:
        try:
            raw = await kube.raw("GET", path, query=query or None, timeout=_SECONDS, limit=_BYTES)
        except errors.KubeError as error:
            return Answer(failure=one_line(str(error), 300), known=False)
    return read_answer(raw)


def _of_workload(view: View, workload: Workload) -> Iterator[Probe]:
    running = [pod for pod in workload.pods if _is_running(workload, pod)]
    for pod in running[:1]:
        name = text(pod, "metadata", "name")
        for port in sorted(_ports(view, workload)):
            yield Probe("Pod", name, str(port))
        for asked in asked_of(workload):
            if asked.handler == "httpGet" and asked.port:
                yield from (Probe("Pod", name, str(asked.port), path) for path in _paths(view, workload, asked))


def _is_running(workload: Workload, pod: Manifest) -> bool:
    main = (c for c in workload.containers if c.group is Group.MAIN)
    return any(state.running and state.pod is pod for c in main for state in workload.states(c))


def _ports(view: View, workload: Workload) -> set[int]:
    """Ports that log, environment or spec name, and those that the Services of the incident send to."""
    ports = {port.number for port in heard(view, workload)}
    for service in view.services:
        for port in items(service, "spec", "ports"):
            target = port.get("targetPort", port.get("port"))
            if isinstance(target, int) and (workload in view.behind(service) or len(view.targets) == 1):
                ports.add(target)
    return ports


def _paths(view: View, workload: Workload, asked: Asked) -> list[str]:
    said = [path for log in view.logs(workload, asked.container) for path in routes(log) if role_of(path)]
    own = [other.path for other in asked_of(workload) if other.container == asked.container]
    return list(dict.fromkeys([*own, *said]))
