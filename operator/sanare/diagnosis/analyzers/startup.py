"""Liveness probes that kill a container before it has started."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from sanare.api.manifest import number
from sanare.diagnosis.asked import Asked, asked_of, complaint_about
from sanare.diagnosis.environment import environment
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.listening import listened
from sanare.diagnosis.log_reading import startup_seconds
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View

_START_NAME = re.compile(
    r"(?:^|_)(?:START(?:UP)?|BOOT|WARM_?UP|INIT)_(?:DELAY|TIME|SECONDS|WAIT)(?:_S(?:EC(?:ONDS)?)?)?$"
)
_MARGIN = 3  # a start may take that many times as long as what is known of it
_UNKNOWN_START = 300  # seconds; the period that Kubernetes' own documentation gives a slow start
_LONGEST_START = 1800


def impatient_liveness(view: View) -> Iterator[Finding]:
    """Containers that are killed while they still start."""
    for workload in view.troubled:
        for asked in asked_of(workload):
            if asked.field == "livenessProbe" and _is_killed_early(view, asked, complaint_about(view, asked)):
                yield from _too_fast(view, asked)


def _is_killed_early(view: View, asked: Asked, complaint: str) -> bool:
    """Whether the kubelet kills the container before it listens: never ready, no word of listening, no answer."""
    if "startupProbe" in asked.container.spec or "statuscode" in complaint:
        return False
    states = asked.workload.states(asked.container)
    killed = any(state.restarts and (complaint or state.was_killed) for state in states)
    known = _start_seconds(view, asked)
    if known is not None and known >= asked.window:
        return killed
    never_up = not listened(view, asked.workload) and not any(state.ready for state in states)
    return killed and never_up and bool(complaint)


def _start_seconds(view: View, asked: Asked) -> int | None:
    variables = environment(asked.container, view.snapshot).values()
    told = [int(v.value) for v in variables if v.value and v.value.isdigit() and _START_NAME.search(v.name)]
    told += [s for log in view.logs(asked.workload, asked.container) if (s := startup_seconds(log))]
    return max(told, default=None)


def _too_fast(view: View, asked: Asked) -> Iterator[Finding]:
    known = _start_seconds(view, asked)
    if known is not None and (known < asked.window // 2 or known > _LONGEST_START // _MARGIN):
        return
    seconds = known * _MARGIN if known is not None else _UNKNOWN_START
    period = number(asked.spec, "periodSeconds", default=10)
    probe = {**asked.spec, "initialDelaySeconds": 0, "failureThreshold": max(math.ceil(seconds / period), 3)}
    pointer = asked.workload.pointer(asked.container, "startupProbe")
    source = f"the start takes about {known} s" if known is not None else "the log has no word of a finished start"
    yield Finding(
        kind="LivenessFasterThanStart",
        ref=asked.workload.ref,
        field=asked.workload.field(asked.container, "startupProbe"),
        observed=f"killed {asked.window} s after its start",
        expected="a start-up probe that lets the process start",
        confidence=Confidence.HIGH if known is not None else Confidence.MEDIUM,
        candidates=(
            Candidate(
                f"a startupProbe of {period * int(number(probe, 'failureThreshold'))} s",
                f"{source}; the liveness probe stays as it is",
                (patch(asked.workload.ref, Change(pointer, None, probe)),),
            ),
        ),
    )
