"""Which port a workload's process really listens on: what its log, environment and spec say, what answers. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from itertools import product

from sanare.api.manifest import dig, items, number, text
from sanare.diagnosis.environment import environment
from sanare.diagnosis.likeness import is_transposed
from sanare.diagnosis.log_reading import Listener, listeners
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, Group, Workload, is_ready

_PORT_NAME = re.compile(r"(?:^|_)PORT$|^(?:BIND|LISTEN)(?:_ADDR(?:ESS)?)?$")
# Somebody else's place: of a database, a back end, or a Service link such as WEB_SERVICE_PORT.
_CLIENT = re.compile(
    r"(?:^|_)(?:DB|DATABASE|PG|POSTGRES|POSTGRESQL|MYSQL|MARIADB|MONGO|MONGODB|REDIS|CACHE|MEMCACHED?|RABBITMQ|AMQP|KAFKA|"
    r"NATS|SMTP|MAIL|LDAP|BACKEND|UPSTREAM|REMOTE|PROXY|PEER|TARGET|CLIENT|ELASTIC|ELASTICSEARCH|STATSD|OTEL|JAEGER|"
    r"SERVICE)_"
)
_PROBES = ("readinessProbe", "livenessProbe", "startupProbe")
_MAIN_NAMES = frozenset({"PORT", "HTTP_PORT", "LISTEN_PORT", "SERVER_PORT", "APP_PORT", "BIND_PORT"})


class Source(Enum):
    """Where a port stands."""

    LOG = auto()
    ENV = auto()
    DECLARED = auto()
    PROBED = auto()


@dataclass(frozen=True, slots=True)
class Heard:
    """One port that the process may listen on.

    Attributes:
        name: of the declared container port, empty where it is not declared or has none.
        reached: whether a request from outside the pod was answered there; None where nobody asked.
        words: where it stands, for a person.
    """

    number: int
    container: Container
    sources: frozenset[Source]
    reached: bool | None
    words: str
    name: str = ""
    is_main: bool = False


def heard(view: View, workload: Workload) -> tuple[Heard, ...]:
    """Every port that the workload's log, environment or spec names, each once, with what a request to it met."""
    gathered: dict[int, list[tuple[Container, Source, str]]] = {}
    for container in workload.containers:
        if container.group is Group.MAIN:
            for port, source, words in _said(view, workload, container):
                gathered.setdefault(port, []).append((container, source, words))
    return tuple(_heard(view, workload, port, found) for port, found in gathered.items())


def listened(view: View, workload: Workload) -> tuple[tuple[Container, Listener], ...]:
    """What the logs of the main containers say about where they listen."""
    main = (c for c in workload.containers if c.group is Group.MAIN)
    return tuple((c, item) for c in main for log in view.logs(workload, c) for item in listeners(log))


def is_up(view: View, workload: Workload, ports: tuple[Heard, ...]) -> bool:
    """Whether a process of the workload runs and listens somewhere: ready, answering, or by its own word."""
    running = any(s.running for c in workload.containers if c.group is Group.MAIN for s in workload.states(c))
    told = any(port.reached or Source.LOG in port.sources for port in ports)
    return running and (told or any(is_ready(pod) for pod in workload.pods))


def is_client_variable(name: str) -> bool:
    """Whether a variable is about where somebody else listens."""
    return _CLIENT.search(name) is not None


def choose(ports: tuple[Heard, ...], observed: int, *, named: str = "") -> tuple[Heard, ...]:
    """The ports that a wrong port may stand for: one is an answer, several are a doubt, none is no evidence.

    What answers from outside counts first. Where nobody asked, the log must agree with the environment or the spec;
    without a log the environment speaks, then what is declared.
    """
    others = tuple(port for port in ports if port.number != observed and port.reached is not False)
    live = tuple(port for port in others if port.reached)
    return _narrow(live or _agreed(others), observed, named)


def _agreed(ports: tuple[Heard, ...]) -> tuple[Heard, ...]:
    logged = tuple(port for port in ports if Source.LOG in port.sources)
    if logged:
        return tuple(port for port in logged if len(port.sources) > 1)
    by_env = tuple(port for port in ports if Source.ENV in port.sources)
    return by_env or ports


def _narrow(ports: tuple[Heard, ...], observed: int, named: str) -> tuple[Heard, ...]:
    rules = (
        lambda port: bool(named) and port.name == named,
        lambda port: port.is_main,
        lambda port: is_transposed(port.number, observed),
    )
    for rule in rules:
        fitting = tuple(port for port in ports if rule(port))
        if len(ports) > 1 and len(fitting) == 1:
            return fitting
    return ports


def _said(view: View, workload: Workload, container: Container) -> Iterator[tuple[int, Source, str]]:
    for log in view.logs(workload, container):
        for listener in listeners(log):
            yield listener.port, Source.LOG, f"the log of container {container.name} says that it listens there"
    for variable in environment(container, view.snapshot).values():
        if variable.port and _PORT_NAME.search(variable.name) and not is_client_variable(variable.name):
            yield variable.port, Source.ENV, f"variable {variable.name} of container {container.name} names it"
    for port in items(container.spec, "ports"):
        yield number(port, "containerPort"), Source.DECLARED, f"container {container.name} declares it"
    for field, handler in product(_PROBES, ("httpGet", "tcpSocket")):
        probed = number(container.spec, field, handler, "port")
        if probed:
            yield probed, Source.PROBED, f"a probe of container {container.name} asks it"


def _heard(view: View, workload: Workload, port: int, found: list[tuple[Container, Source, str]]) -> Heard:
    container = found[0][0]
    reached = view.reached(workload, port)
    reached = True if reached is None and _is_probed(workload, port) else reached
    words = list(dict.fromkeys(words for _, _, words in found))
    if reached:
        words.append("a pod answers there")
    return Heard(
        number=port,
        container=container,
        sources=frozenset(source for _, source, _ in found),
        reached=reached,
        words=" and ".join(words),
        name=next((n for c, _, _ in found for n in _names(c, port)), ""),
        is_main=any(f"variable {name} " in text for name in _MAIN_NAMES for _, _, text in found),
    )


def _names(container: Container, port: int) -> list[str]:
    ports = items(container.spec, "ports")
    return [text(item, "name") for item in ports if number(item, "containerPort") == port and text(item, "name")]


def _is_probed(workload: Workload, port: int) -> bool:
    """Whether the kubelet's readiness probe of a ready pod asks that port."""
    asked = False
    for container in workload.containers:
        for handler in ("httpGet", "tcpSocket"):
            wanted = dig(container.spec, "readinessProbe", handler, "port")
            asked = asked or wanted == port or (isinstance(wanted, str) and wanted in _names(container, port))
    return asked and any(is_ready(pod) for pod in workload.pods)
