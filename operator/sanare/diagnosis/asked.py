"""The HTTP and TCP probes of a container, as they are asked, and what a path is for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from sanare.api.manifest import Manifest, items, mapping, number, text
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, Group, Workload

FIELDS = ("startupProbe", "livenessProbe", "readinessProbe")
_WORDS = {"startupProbe": "Startup", "livenessProbe": "Liveness", "readinessProbe": "Readiness"}


class Role(Enum):
    """What a path is for, by its last word."""

    HEALTH = auto()
    READY = auto()
    ROOT = auto()


_ROLE_WORDS = {
    Role.HEALTH: frozenset({"health", "healthz", "healthcheck", "live", "livez", "liveness", "alive", "ping"}),
    Role.READY: frozenset({"ready", "readyz", "readiness"}),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One HTTP or TCP probe of a container, with its port as a number."""

    workload: Workload
    container: Container
    field: str
    spec: Manifest

    @property
    def handler(self) -> str:
        """`httpGet` or `tcpSocket`, empty for the other kinds."""
        return next((name for name in ("httpGet", "tcpSocket") if name in self.spec), "")

    @property
    def path(self) -> str:
        """The path of an HTTP probe."""
        return text(self.spec, "httpGet", "path") or "/"

    @property
    def raw_port(self) -> object:
        """The port as written: a number or the name of a container port."""
        return mapping(self.spec, self.handler).get("port")

    @property
    def port(self) -> int:
        """The port's number, 0 where its name is not declared."""
        raw = self.raw_port
        if isinstance(raw, int) or (isinstance(raw, str) and raw.isdigit()):
            return int(raw)
        named = (p for p in items(self.container.spec, "ports") if text(p, "name") == raw)
        return next((number(port, "containerPort") for port in named), 0)

    @property
    def window(self) -> int:
        """Seconds from the container's start to the kill when the probe never succeeds."""
        period, failures = (
            number(self.spec, "periodSeconds", default=10),
            number(self.spec, "failureThreshold", default=3),
        )
        return number(self.spec, "initialDelaySeconds") + period * failures


def role_of(path: str) -> Role | None:
    """What a path is for; None for a path that is nobody's probe."""
    if path == "/":
        return Role.ROOT
    last = re.sub(r"[^a-z]", "", path.rstrip("/").rpartition("/")[2].lower())
    return next((role for role, words in _ROLE_WORDS.items() if last in words), None)


def asked_of(workload: Workload) -> Iterator[Asked]:
    """Every HTTP and TCP probe of the workload's main containers."""
    for container in workload.containers:
        for field in FIELDS:
            asked = Asked(workload, container, field, mapping(container.spec, field))
            if container.group is Group.MAIN and asked.handler:
                yield asked


def complaint_about(view: View, asked: Asked) -> str:
    """The newest message of the kubelet about this probe of this container, empty where the container is well."""
    states = asked.workload.states(asked.container)
    if asked.field == "readinessProbe" and states and all(state.ready for state in states):
        return ""
    words = _WORDS[asked.field]
    messages = [m for m in view.events_of(asked.workload, asked.container) if m.startswith(f"{words} probe failed")]
    return messages[-1] if messages else ""
