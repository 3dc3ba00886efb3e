"""Containers that are killed at a memory limit below what they are known to need."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.api.manifest import text
from sanare.diagnosis.environment import environment
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, Workload
from sanare.evaluator.quantities import quantity

_MEMORY_NAME = re.compile(r"(?:^|_)(?:ALLOC|HEAP|MEMORY|MEM|CACHE|BUFFER)(?:_SIZE)?_(?:MB|MIB|M)$")
_HEAP_FLAG = re.compile(r"-Xmx(\d{1,6})([mMgG])\b")
_MIB = 1024**2
_STEP = 32  # MiB to which a new limit is rounded up
_OWN = 32  # MiB for the process itself, beside what it is told to use


def memory_limits(view: View) -> Iterator[Finding]:
    """Containers of the incident's workloads that were OOM-killed."""
    for workload in view.troubled:
        for container in workload.containers:
            limit = quantity(text(container.spec, "resources", "limits", "memory"))
            if limit and any(state.ended == "OOMKilled" for state in workload.states(container)):
                yield _finding(view, workload, container, limit)


def _finding(view: View, workload: Workload, container: Container, limit: float) -> Finding:
    needs = list(_by_neighbours(view, workload, container, limit)) or list(_by_settings(view, container, limit))
    old = text(container.spec, "resources", "limits", "memory")
    pointer = workload.pointer(container, "resources", "limits", "memory")
    distinct = dict(needs)
    return Finding(
        kind="MemoryLimitTooLow",
        ref=workload.ref,
        field=workload.field(container, "resources.limits.memory"),
        observed=old,
        expected="a limit above what the process is known to use",
        confidence=Confidence.HIGH if len(distinct) == 1 else Confidence.MEDIUM,
        candidates=tuple(
            Candidate(value, evidence, (patch(workload.ref, Change(pointer, old, value)),))
            for value, evidence in distinct.items()
        ),
        missing="" if len(distinct) == 1 else f"nothing in the cluster says surely how much {container.name} needs",
    )


def _by_neighbours(view: View, workload: Workload, container: Container, limit: float) -> Iterator[tuple[str, str]]:
    for other, neighbour in view.neighbours(workload, container):
        value = text(neighbour.spec, "resources", "limits", "memory")
        same_work = environment_names(view, neighbour) == environment_names(view, container)
        if other.is_proven and same_work and (quantity(value) or 0) > limit:
            yield value, f"{other.ref} runs the same image with this limit"


def environment_names(view: View, container: Container) -> set[tuple[str, str | None]]:
    """The variables that tell how much memory to use."""
    variables = environment(container, view.snapshot).values()
    return {(v.name, v.value) for v in variables if _MEMORY_NAME.search(v.name) or _HEAP_FLAG.search(v.value or "")}


def _by_settings(view: View, container: Container, limit: float) -> Iterator[tuple[str, str]]:
    """Half as much again as the process is told to use, and room for itself, rounded up."""
    for name, value in sorted(environment_names(view, container)):
        told = _mebibytes(value or "")
        wanted = -(-(told * 3 // 2 + _OWN) // _STEP) * _STEP
        if told and wanted * _MIB > limit:
            yield f"{wanted}Mi", f"variable {name} tells the process to use {told} MiB"


def _mebibytes(value: str) -> int:
    flag = _HEAP_FLAG.search(value)
    if flag:
        return int(flag[1]) * (1024 if flag[2] in "gG" else 1)
    return int(value) if value.isdigit() and len(value) <= 6 else 0
