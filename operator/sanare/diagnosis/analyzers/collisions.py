"""Containers of one pod that want the same port: the network of a pod is shared."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.api.manifest import items, number
from sanare.diagnosis.asked import FIELDS, Asked
from sanare.diagnosis.environment import Variable, environment
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, Workload

_IN_USE = re.compile(
    r"\baddress already in use\b|\bEADDRINUSE\b|\bport \d+ is already (?:in use|allocated)\b", re.I
)


def is_colliding(view: View, workload: Workload, container: Container) -> bool:
    """Whether the container says that somebody has its port: then its probes and Services are not at fault."""
    return any(_IN_USE.search(log) for log in view.logs(workload, container))


def port_collisions(view: View) -> Iterator[Finding]:
    """Ports that another container of the pod has, set by a variable that its own ports and probes contradict."""
    for workload in view.troubled:
        for container in workload.containers:
            if is_colliding(view, workload, container):
                taken = {
                    p for c in workload.containers if c.name != container.name for p in _own_ports(workload, c)
                }
                for variable in environment(container, view.snapshot).values():
                    if variable.port in taken and variable.index is not None and "PORT" in variable.name:
                        yield _of_variable(workload, container, variable, _own_ports(workload, container) - taken)


def _own_ports(workload: Workload, container: Container) -> set[int]:
    """The ports that the container declares and that its probes ask."""
    declared = {number(port, "containerPort") for port in items(container.spec, "ports")}
    probes = (
        Asked(workload, container, field, container.spec[field]) for field in FIELDS if field in container.spec
    )
    return (declared | {asked.port for asked in probes if asked.handler}) - {0}


def _of_variable(workload: Workload, container: Container, variable: Variable, meant: set[int]) -> Finding:
    candidates = tuple(
        Candidate(
            str(port),
            f"container {container.name} declares it or is probed there, and says that its port is taken",
            (workload.set_variable(container, {"name": variable.name, "value": str(port)}),),
        )
        for port in sorted(meant)
    )
    return Finding(
        kind="PortCollision",
        ref=workload.ref,
        field=workload.field(container, f"env[{variable.name}]"),
        observed=str(variable.port),
        expected="a port that no other container of the pod has",
        confidence=Confidence.HIGH,
        candidates=candidates,
        missing=""
        if len(meant) == 1
        else f"neither ports nor probes of container {container.name} name one other port",
    )
