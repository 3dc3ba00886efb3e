"""What of one container is compared before and after. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sanare.api.manifest import Manifest, dig, items, mapping, number, text
from sanare.api.model import Model
from sanare.evaluator.privilege import container_privileges, container_safeguards

_WORD = 200


class ProbeFacts(Model):
    """One probe. `seconds` is how long it tolerates a dead container: delay + period x threshold.

    `grace` is how many seconds a container that it has failed gets to end, where it says so.
    """

    handler: str
    detail: str = ""
    host: str = ""
    seconds: int
    timeout: int = 1
    grace: int | None = None

    def __str__(self) -> str:
        return f"{self.handler} {self.detail}".strip()


class ContainerFacts(Model):
    """One container of a pod template.

    Attributes:
        env: names of variables.
        blank: those of them with neither a value nor a source.
        references: variable name to the object that it is read from (`ConfigMap/web`).
        sources: objects whose every key is a variable.
        hosts: variable name to the host of the URL that is its value, of a Service's full name the first part.
        optional: references that may be missing.
        privileges: what it may do that containers may not by themselves, in words.
        safeguards: what holds it back, in words.
        hooks: its lifecycle hooks.
        hook_actions: lifecycle hook to what it does, with the handler as the first word.
        pull: when its image is pulled.
        stays: an init container that the others do not wait for to end (restartPolicy Always).
    """

    name: str
    init: bool = False
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    literals: Mapping[str, str] = {}
    hosts: Mapping[str, str] = {}
    references: Mapping[str, str] = {}
    sources: tuple[str, ...] = ()
    liveness: ProbeFacts | None = None
    readiness: ProbeFacts | None = None
    startup: ProbeFacts | None = None
    limits: Mapping[str, str] = {}
    requests: Mapping[str, str] = {}
    optional: tuple[str, ...] = ()
    mounts: tuple[str, ...] = ()
    privileged: bool = False
    escalation: bool | None = None
    capabilities: tuple[str, ...] = ()
    privileges: tuple[str, ...] = ()
    safeguards: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    hook_actions: Mapping[str, str] = {}
    pull: str = ""
    stays: bool = False
    non_root: bool | None = None
    user: int | None = None
    read_only: bool = False


def container_facts(container: Manifest, spec: Manifest, *, init: bool) -> ContainerFacts:
    """Read one container of a pod spec."""
    security = mapping(container, "securityContext")
    env = items(container, "env")
    return ContainerFacts(
        name=text(container, "name"),
        stays=init and text(container, "restartPolicy") == "Always",
        init=init,
        image=text(container, "image"),
        command=words(container, "command"),
        args=words(container, "args"),
        env=tuple(text(entry, "name") for entry in env),
        blank=tuple(text(entry, "name") for entry in env if not (text(entry, "value") or entry.get("valueFrom"))),
        literals={text(entry, "name"): text(entry, "value")[:_WORD] for entry in env if text(entry, "value")},
        hosts={text(entry, "name"): host for entry in env if (host := _host(text(entry, "value")))},
        references=dict(_read_from(env)),
        sources=tuple(_sources(container)),
        liveness=_probe(container, "livenessProbe"),
        readiness=_probe(container, "readinessProbe"),
        startup=_probe(container, "startupProbe"),
        limits=quantities(container, "limits"),
        requests=quantities(container, "requests"),
        optional=tuple(sorted(_optional(container))),
        mounts=tuple(sorted(text(mount, "name") for mount in items(container, "volumeMounts"))),
        privileged=bool(security.get("privileged")),
        escalation=flag(security, "allowPrivilegeEscalation"),
        capabilities=words(security, "capabilities", "add"),
        privileges=tuple(container_privileges(container, spec)),
        safeguards=tuple(container_safeguards(container, spec)),
        hooks=tuple(sorted(mapping(container, "lifecycle"))),
        hook_actions=dict(_hook_actions(container)),
        pull=text(container, "imagePullPolicy"),
        non_root=flag(security, "runAsNonRoot"),
        user=whole(security, "runAsUser"),
        read_only=bool(security.get("readOnlyRootFilesystem")),
    )


def _host(url: str) -> str:
    if "://" not in url:
        return ""
    host = re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0].rpartition("@")[2]
    host = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return (host if host[:1].isdigit() or ":" in host else host.partition(".")[0])[:_WORD]


def _read_from(env: list[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for entry in env:
        for field, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
            if dig(entry, "valueFrom", field) is not None:
                yield text(entry, "name"), f"{kind}/{text(entry, 'valueFrom', field, 'name')}"


def _sources(container: Manifest) -> Iterator[str]:
    for entry in items(container, "envFrom"):
        for field, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            if dig(entry, field) is not None:
                yield f"{kind}/{text(entry, field, 'name')}"


def _probe(container: Manifest, name: str) -> ProbeFacts | None:
    probe = mapping(container, name)
    handler = next((kind for kind in ("httpGet", "tcpSocket", "exec", "grpc") if kind in probe), "")
    if not handler:
        return None
    action = mapping(probe, handler)
    return ProbeFacts(
        handler=handler,
        detail=_detail(action),
        host=text(action, "host"),
        seconds=number(probe, "initialDelaySeconds")
        + number(probe, "periodSeconds", default=10) * number(probe, "failureThreshold", default=3),
        timeout=number(probe, "timeoutSeconds", default=1),
        grace=whole(probe, "terminationGracePeriodSeconds"),
    )


def _detail(action: Manifest) -> str:
    """What a handler asks for: its command, or path and port."""
    found = dig(action, "command")
    asked = (
        " ".join(map(str, found)) if isinstance(found, list) else f"{action.get('path', '')}:{action.get('port')}"
    )
    return asked[:_WORD]


def _hook_actions(container: Manifest) -> Iterator[tuple[str, str]]:
    for hook in sorted(mapping(container, "lifecycle")):
        for handler, action in mapping(container, "lifecycle", hook).items():
            yield hook, f"{handler} {_detail(action)}"


def _optional(container: Manifest) -> Iterator[str]:
    for entry in items(container, "env"):
        for kind in ("configMapKeyRef", "secretKeyRef"):
            if dig(entry, "valueFrom", kind, "optional"):
                yield f"env {text(entry, 'name')}"
    for entry in items(container, "envFrom"):
        for kind in ("configMapRef", "secretRef"):
            if dig(entry, kind, "optional"):
                yield f"envFrom {text(entry, kind, 'name')}"


def words(container: Manifest, *path: str) -> tuple[str, ...]:
    """The texts of a list at a path, at most sixteen, each cut."""
    found = dig(container, *path)
    return tuple(str(word)[:_WORD] for word in found[:16]) if isinstance(found, list) else ()


def quantities(owner: Manifest, bound: str) -> dict[str, str]:
    """The `limits` or `requests` of a container or of a whole pod."""
    return {str(name): str(value) for name, value in mapping(owner, "resources", bound).items()}


def flag(manifest: Manifest, *path: str) -> bool | None:
    """The boolean at a path, None where there is none."""
    found = dig(manifest, *path)
    return found if isinstance(found, bool) else None


def whole(manifest: Manifest, *path: str) -> int | None:
    """The whole number at a path, None where there is none."""
    found = dig(manifest, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None
