"""Probes that ask the wrong path or port."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.api.manifest import items, text
from sanare.diagnosis.analyzers.collisions import is_colliding
from sanare.diagnosis.asked import FIELDS, Asked, Role, asked_of, complaint_about, role_of
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.likeness import nearest
from sanare.diagnosis.listening import choose, heard, listened
from sanare.diagnosis.log_reading import routes
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View

_WANTED = {
    "startupProbe": (Role.HEALTH, Role.READY, Role.ROOT),
    "livenessProbe": (Role.HEALTH, Role.ROOT),
    "readinessProbe": (Role.READY, Role.HEALTH, Role.ROOT),
}


def probes(view: View) -> Iterator[Finding]:
    """Failing probes of the incident's workloads."""
    for workload in view.troubled:
        for asked in asked_of(workload):
            if is_colliding(view, workload, asked.container):
                continue
            complaint = complaint_about(view, asked)
            if re.search(r"statuscode: 4(?:04|05|10)\b", complaint) or _is_not_found(view, asked):
                yield _wrong_path(view, asked)
            elif not asked.port:
                yield _unknown_port_name(asked)
            elif _is_refused(view, asked, complaint) and _listens_elsewhere(view, asked):
                yield _wrong_port(view, asked)


def _is_not_found(view: View, asked: Asked) -> bool:
    if asked.handler != "httpGet":
        return False
    answers = view.pod_answers(asked.workload, asked.port, asked.path)
    return bool(answers) and all(answer.reached and answer.status == 404 for answer in answers)


def _is_refused(view: View, asked: Asked, complaint: str) -> bool:
    """Whether nothing answers at the probe's port: by the kubelet's word, else by a request of ours."""
    states = asked.workload.states(asked.container)
    troubled = any(not state.ready or state.restarts for state in states)
    return "refused" in complaint or (troubled and view.reached(asked.workload, asked.port) is False)


def _wrong_path(view: View, asked: Asked) -> Finding:
    known = {path: words for path, words in _known_paths(view, asked) if not _is_refuted(view, asked, path)}
    chosen = _by_role(known, asked)
    pointer = asked.workload.pointer(asked.container, asked.field, "httpGet", "path")
    return Finding(
        kind="ProbePathWrong",
        ref=asked.workload.ref,
        field=asked.workload.field(asked.container, f"{asked.field}.httpGet.path"),
        observed=asked.path,
        expected="a path that the container serves for this purpose",
        confidence=Confidence.HIGH
        if all(_is_confirmed(view, asked, path) for path in chosen)
        else Confidence.MEDIUM,
        candidates=tuple(
            Candidate(path, known[path], (patch(asked.workload.ref, Change(pointer, asked.path, path)),))
            for path in chosen
        ),
        missing=_path_doubt(asked, chosen),
    )


def _path_doubt(asked: Asked, chosen: tuple[str, ...]) -> str:
    if len(chosen) == 1:
        return ""
    if chosen:
        return f"{', '.join(chosen)} all fit"
    return (
        f"neither log, other probes nor neighbours of container {asked.container.name} name a path for this purpose"
    )


def _known_paths(view: View, asked: Asked) -> Iterator[tuple[str, str]]:
    """Paths that may be right, with where they stand; of the same path the last one, the strongest, wins."""
    for log in view.logs(asked.workload, asked.container):
        for path in routes(log):
            if role_of(path) is not None:
                yield path, f"the log of container {asked.container.name} says that it serves {path}"
    for other, container in view.neighbours(asked.workload, asked.container):
        path = text(container.spec, asked.field, "httpGet", "path")
        if path and other.is_proven:
            yield path, f"{other.ref} runs the same image and is probed there"
    for field in FIELDS:
        path = text(asked.container.spec, field, "httpGet", "path")
        if path and path != asked.path:
            yield path, f"the {field} of the same container asks it"


def _by_role(known: dict[str, str], asked: Asked) -> tuple[str, ...]:
    """The paths that fit best: a slip of the pen first, then what a neighbour asks, then by what a path is for."""
    others = [path for path in known if path != asked.path]
    near = nearest(asked.path, others)
    if len(near) == 1 and role_of(near[0]) in _WANTED[asked.field]:
        return near
    neighbours = tuple(path for path in others if "same image" in known[path])
    if len(neighbours) == 1:
        return neighbours
    for role in _WANTED[asked.field]:
        fitting = tuple(sorted(path for path in others if role_of(path) is role))
        if fitting:
            return fitting
    return tuple(path for path in others if "same container asks it" in known[path])


def _is_confirmed(view: View, asked: Asked, path: str) -> bool:
    return any(
        answer.reached and 200 <= answer.status < 400
        for answer in view.pod_answers(asked.workload, asked.port, path)
    )


def _is_refuted(view: View, asked: Asked, path: str) -> bool:
    answers = [answer for answer in view.pod_answers(asked.workload, asked.port, path) if answer.reached]
    return bool(answers) and not _is_confirmed(view, asked, path)


def _unknown_port_name(asked: Asked) -> Finding:
    declared = [text(port, "name") for port in items(asked.container.spec, "ports") if text(port, "name")]
    names = nearest(str(asked.raw_port), declared) or (tuple(declared) if len(declared) == 1 else ())
    pointer = asked.workload.pointer(asked.container, asked.field, asked.handler, "port")
    return Finding(
        kind="ProbePortNameUnknown",
        ref=asked.workload.ref,
        field=asked.workload.field(asked.container, f"{asked.field}.{asked.handler}.port"),
        observed=str(asked.raw_port),
        expected="the name of a port that the container declares",
        confidence=Confidence.HIGH,
        candidates=tuple(
            Candidate(
                name,
                "the container declares it",
                (patch(asked.workload.ref, Change(pointer, asked.raw_port, name)),),
            )
            for name in names
        ),
        missing="" if len(names) == 1 else f"the container declares {', '.join(declared) or 'no named port'}",
    )


def _listens_elsewhere(view: View, asked: Asked) -> bool:
    """Whether the process is up and its log or an answer names another port."""
    if any(listener.port == asked.port for _, listener in listened(view, asked.workload)):
        return False
    ports = heard(view, asked.workload)
    return any(port.reached and port.number != asked.port for port in ports) or bool(listened(view, asked.workload))


def _wrong_port(view: View, asked: Asked) -> Finding:
    ports = choose(heard(view, asked.workload), asked.port)
    pointer = asked.workload.pointer(asked.container, asked.field, asked.handler, "port")
    return Finding(
        kind="ProbePortWrong",
        ref=asked.workload.ref,
        field=asked.workload.field(asked.container, f"{asked.field}.{asked.handler}.port"),
        observed=str(asked.raw_port),
        expected="the port that the process listens on",
        confidence=Confidence.HIGH if all(p.reached or len(p.sources) > 1 for p in ports) else Confidence.MEDIUM,
        candidates=tuple(
            Candidate(
                str(p.number), p.words, (patch(asked.workload.ref, Change(pointer, asked.raw_port, p.number)),)
            )
            for p in ports
        ),
        missing="" if len(ports) == 1 else "no single port is confirmed by an answer, or by log and spec together",
    )
