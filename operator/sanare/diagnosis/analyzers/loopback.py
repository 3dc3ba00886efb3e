"""Processes that listen on loopback, where nobody outside the pod can reach them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sanare.api.manifest import Manifest, Ref, items, mapping, text
from sanare.diagnosis.documents import CUT
from sanare.diagnosis.environment import Variable, environment
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.listening import is_client_variable, listened
from sanare.diagnosis.patch import Change, patch, restart
from sanare.diagnosis.reference import references
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, Group, Workload
from sanare.kubectl.tool import Command

_BIND_NAME = re.compile(r"(?:^|_)(?:BIND|LISTEN|HOST|HOSTNAME|ADDR|ADDRESS|INTERFACE|IFACE|IP)(?:_|$)")
_PLAIN_NAME = re.compile(r"(?:^|_)(?:BIND|LISTEN)(?:_|$)")
_HOST = r"127(?:\.\d{1,3}){3}|localhost|\[::1\]|::1"
_ADDRESS = re.compile(rf"(?P<host>{_HOST})(?P<port>:\d{{1,5}})?")
_IN_WORD = re.compile(
    r"(?P<before>--?(?:[\w.]+-)?(?:bind|listen|host|addr|address|interface)(?:[\w.-]*)=)"
    rf"(?P<address>(?:{_HOST})(?::\d{{1,5}})?)",
    re.I,
)
_IN_FILE = re.compile(
    r"^[ \t\"']*[\w.-]*(?:bind|listen|host|addr|address|interface)[\w.-]*[\"']?[ \t]*[:= \t][ \t]*[\"']?"
    rf"(?P<address>(?:{_HOST})(?::\d{{1,5}})?)[\"']?[;,]?[ \t]*$",
    re.I | re.M,
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One place that sets the address: its object and field, the value, the same value opened, what changes it."""

    ref: Ref
    field: str
    value: str
    opened: str
    place: str
    commands: tuple[Command, ...]
    is_plain: bool


def loopback_listeners(view: View) -> Iterator[Finding]:
    """Containers of the incident that say they listen on loopback, or are told to, while nobody reaches them."""
    for workload in view.targets:
        for container in workload.containers:
            if container.group is Group.MAIN and _is_cut_off(view, workload, container):
                yield _finding(view, workload, container)


def _is_cut_off(view: View, workload: Workload, container: Container) -> bool:
    """Whether its log names loopback alone, or it is told so, and no request from outside got an answer."""
    said = [listener for where, listener in listened(view, workload) if where == container]
    if any(not listener.is_loopback for listener in said):
        return False
    if said:
        return not any(view.reached(workload, listener.port) for listener in said)
    refused = any(
        "refused" in answer.failure
        for service in view.services
        for port in items(service, "spec", "ports")
        for answer in view.service_answers(service, port)
    )
    return refused and is_told_loopback(view, workload, container)


def is_told_loopback(view: View, workload: Workload, container: Container) -> bool:
    """Whether a variable, argument or file plainly tells the process to bind to loopback."""
    return any(setting.is_plain for setting in _settings(view, workload, container))


def _finding(view: View, workload: Workload, container: Container) -> Finding:
    settings = tuple(_settings(view, workload, container))
    plain = tuple(setting for setting in settings if setting.is_plain)
    chosen = plain if len(plain) == 1 else settings
    one = chosen[0] if len(chosen) == 1 else None
    return Finding(
        kind="ListensOnLoopback",
        ref=one.ref if one else workload.ref,
        field=one.field if one else workload.field(container, "env"),
        observed=one.value if one else "127.0.0.1",
        expected="an address that other pods can reach, such as 0.0.0.0",
        confidence=Confidence.HIGH,
        candidates=tuple(
            Candidate(setting.opened, f"{setting.place} sets {setting.value}", setting.commands)
            for setting in chosen
        ),
        missing=_doubt(chosen),
    )


def _doubt(chosen: tuple[Setting, ...]) -> str:
    if len(chosen) == 1:
        return ""
    if chosen:
        return f"several places set a loopback address: {', '.join(setting.place for setting in chosen)}"
    return "no variable, argument or mounted ConfigMap sets the address, so it is the program's own default"


def _settings(view: View, workload: Workload, container: Container) -> Iterator[Setting]:
    for variable in environment(container, view.snapshot).values():
        told = _ADDRESS.fullmatch(variable.value or "") and _BIND_NAME.search(variable.name)
        if told and not is_client_variable(variable.name):
            yield _of_variable(view, workload, container, variable)
    yield from _of_arguments(workload, container)
    yield from _of_files(view, workload, container)


def _of_variable(view: View, workload: Workload, container: Container, variable: Variable) -> Setting:
    value = variable.value or ""
    is_plain = _PLAIN_NAME.search(variable.name) is not None
    name, key = variable.config_map
    holder = view.snapshot.find("ConfigMap", name)
    if holder is not None and _may_change(view, workload, holder):
        commands = (patch(Ref.of(holder), Change(("data", key), value, opened(value))), restart(workload.ref))
        place = f"ConfigMap/{name} key {key}"
        return Setting(Ref.of(holder), f"data.{key}", value, opened(value), place, commands, is_plain)
    entry = {"name": variable.name, "value": opened(value)}
    field = workload.field(container, f"env[{variable.name}]")
    place = f"variable {variable.name} of container {container.name}"
    return Setting(
        workload.ref, field, value, opened(value), place, (workload.set_variable(container, entry),), is_plain
    )


def opened(address: str) -> str:
    """The same address on every interface: the port, where there is one, stays."""
    match = _ADDRESS.fullmatch(address)
    if match is None:
        return address
    host = {"[::1]": "[::]", "::1": "::"}.get(match["host"], "0.0.0.0")  # noqa: S104
    return host + (match["port"] or "")


def _may_change(view: View, workload: Workload, holder: Manifest) -> bool:
    """Whether the ConfigMap can be changed without changing what another workload reads."""
    name = text(holder, "metadata", "name")
    readers = {w.name for w in view.workloads for r in references(w) if (r.kind, r.name) == ("ConfigMap", name)}
    return readers == {workload.name} and holder.get("immutable") is not True


def _of_arguments(workload: Workload, container: Container) -> Iterator[Setting]:
    for part in ("command", "args"):
        words = container.spec.get(part)
        for index, word in enumerate(words if isinstance(words, list) else []):
            match = _IN_WORD.fullmatch(word) if isinstance(word, str) else None
            if match:
                new = match["before"] + opened(match["address"])
                command = patch(workload.ref, Change(workload.pointer(container, part, index), word, new))
                field = workload.field(container, f"{part}[{index}]")
                yield Setting(
                    workload.ref, field, word, new, f"the {part} of container {container.name}", (command,), True
                )


def _of_files(view: View, workload: Workload, container: Container) -> Iterator[Setting]:
    """Lines of ConfigMaps that are mounted into the container."""
    mounted = {text(mount, "name") for mount in items(container.spec, "volumeMounts")}
    for volume in items(workload.pod_spec, "volumes"):
        holder = view.snapshot.find("ConfigMap", text(volume, "configMap", "name"))
        if holder is None or text(volume, "name") not in mounted or not _may_change(view, workload, holder):
            continue
        for key, content in mapping(holder, "data").items():
            if isinstance(content, str) and not CUT.search(content):
                yield from _of_lines(workload, holder, key, content)


def _of_lines(workload: Workload, holder: Manifest, key: str, content: str) -> Iterator[Setting]:
    place = f"ConfigMap/{text(holder, 'metadata', 'name')} key {key}"
    for match in _IN_FILE.finditer(content):
        new = content[: match.start("address")] + opened(match["address"]) + content[match.end("address") :]
        commands = (patch(Ref.of(holder), Change(("data", key), content, new)), restart(workload.ref))
        yield Setting(
            Ref.of(holder), f"data.{key}", match["address"], opened(match["address"]), place, commands, True
        )
