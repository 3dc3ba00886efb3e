"""Services that send requests to a port where nothing listens, and the container port in between."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.manifest import Manifest, Ref, items, number, text
from sanare.diagnosis.analyzers.loopback import is_told_loopback
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.likeness import nearest
from sanare.diagnosis.listening import Heard, Source, choose, heard, is_up, listened
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, Group, Workload
from sanare.kubectl.tool import Command


def service_ports(view: View) -> Iterator[Finding]:
    """Ports of the incident's Services that end where their workload does not listen."""
    for service in view.services:
        behind = [w for w in _meant(view, service) if w.ref.kind not in ("Job", "CronJob")]
        if len(behind) != 1:
            continue
        for index, port in enumerate(items(service, "spec", "ports")):
            if not any(answer.reached for answer in view.service_answers(service, port)):
                yield from _of_port(view, service, index, port, behind[0])


def _meant(view: View, service: Manifest) -> tuple[Workload, ...]:
    """The workloads behind a Service; while its selector takes none, the only one that the incident is about."""
    return view.behind(service) or (view.targets if len(view.targets) == 1 else ())


def _of_port(view: View, service: Manifest, index: int, port: Manifest, workload: Workload) -> Iterator[Finding]:
    target = port.get("targetPort", port.get("port"))
    if isinstance(target, str) and not target.isdigit():
        yield from _named(view, service, index, port, workload, target)
    elif isinstance(target, int | str) and _leads_nowhere(view, service, port, workload, int(target)):
        yield _numbered(view, service, index, port, workload, int(target))


def _leads_nowhere(view: View, service: Manifest, port: Manifest, workload: Workload, target: int) -> bool:
    """Whether nothing answers at the target port, and not because the process keeps to itself on loopback.

    While nothing listens yet, a refusal says nothing; then the spec alone can tell.
    """
    ports = heard(view, workload)
    if not is_up(view, workload, ports):
        return bool(ports) and target not in {item.number for item in ports}
    reached = view.reached(workload, target)
    if reached is None:
        reached = not any("refused" in answer.failure for answer in view.service_answers(service, port))
    return not reached and not _keeps_to_itself(view, workload, target)


def _keeps_to_itself(view: View, workload: Workload, target: int) -> bool:
    """Whether the process listens at the target port on loopback alone: by its log, else by its settings."""
    said = [listener for _, listener in listened(view, workload)]
    if said:
        return any(listener.port == target and listener.is_loopback for listener in said)
    main = (c for c in workload.containers if c.group is Group.MAIN)
    return any(is_told_loopback(view, workload, container) for container in main)


def _numbered(
    view: View, service: Manifest, index: int, port: Manifest, workload: Workload, target: int
) -> Finding:
    ports = choose(heard(view, workload), target, named=text(port, "name"))
    old = port.get("targetPort")
    candidates = tuple(
        Candidate(
            str(item.number),
            item.words,
            (
                *_declare(workload, item, target),
                patch(Ref.of(service), Change(("spec", "ports", index, "targetPort"), old, item.number)),
            ),
        )
        for item in ports
    )
    sure = all(item.reached or len(item.sources) > 1 for item in ports)
    return Finding(
        kind="TargetPortWrong",
        ref=Ref.of(service),
        field=f"spec.ports[{text(port, 'name') or port.get('port')}].targetPort",
        observed=str(target),
        expected=f"the port that {workload.ref} listens on",
        confidence=Confidence.HIGH if sure else Confidence.MEDIUM,
        candidates=candidates,
        missing=_doubt(view, workload, ports),
    )


def _doubt(view: View, workload: Workload, ports: tuple[Heard, ...]) -> str:
    if len(ports) == 1:
        return ""
    if ports:
        return f"{workload.ref} may be meant to be reached at {', '.join(str(item.number) for item in ports)}"
    said = sorted({item.number for item in heard(view, workload) if Source.LOG in item.sources})
    if said:
        return f"the log names {', '.join(map(str, said))}, but no pod answered there and the spec does not say so"
    return f"neither log, environment nor spec of {workload.ref} says where it listens"


def _declare(workload: Workload, item: Heard, wrong: int) -> tuple[Command, ...]:
    """Correct the declared container port too, where it repeats the wrong number."""
    declared = items(item.container.spec, "ports")
    if any(number(port, "containerPort") == item.number for port in declared):
        return ()
    return tuple(
        patch(
            workload.ref, Change(workload.pointer(item.container, "ports", i, "containerPort"), wrong, item.number)
        )
        for i, port in enumerate(declared)
        if number(port, "containerPort") == wrong
    )


def _named(
    view: View, service: Manifest, index: int, port: Manifest, workload: Workload, target: str
) -> Iterator[Finding]:
    declared = _declared(workload)
    if target in declared:
        yield from _named_number(view, workload, declared[target], target)
        return
    near = nearest(target, declared)
    names = near or (tuple(declared) if len(declared) == 1 else ())
    values: tuple[str | int, ...] = names
    evidence = {str(name): f"{workload.ref} declares a port of that name" for name in names}
    if not names:
        ports = choose(heard(view, workload), number(port, "port"))
        values = tuple(item.number for item in ports)
        evidence = {str(item.number): item.words for item in ports}
    pointer = ("spec", "ports", index, "targetPort")
    yield Finding(
        kind="TargetPortNameUnknown",
        ref=Ref.of(service),
        field=f"spec.ports[{text(port, 'name') or port.get('port')}].targetPort",
        observed=target,
        expected=f"a port name that {workload.ref} declares",
        confidence=Confidence.HIGH if near else Confidence.MEDIUM,
        candidates=tuple(
            Candidate(str(v), evidence[str(v)], (patch(Ref.of(service), Change(pointer, target, v)),))
            for v in values
        ),
        missing=""
        if len(values) == 1
        else f"{workload.ref} declares {', '.join(sorted(declared)) or 'no named port'}",
    )


def _named_number(
    view: View, workload: Workload, place: tuple[Container, int, int], name: str
) -> Iterator[Finding]:
    """A name that resolves to a number where nothing listens: the container's declaration is at fault."""
    container, index, declared = place
    if view.reached(workload, declared) is not False or _keeps_to_itself(view, workload, declared):
        return
    ports = choose(heard(view, workload), declared)
    pointer = workload.pointer(container, "ports", index, "containerPort")
    yield Finding(
        kind="ContainerPortWrong",
        ref=workload.ref,
        field=workload.field(container, f"ports[{name}].containerPort"),
        observed=str(declared),
        expected="the port that the process listens on",
        confidence=Confidence.HIGH if all(item.reached for item in ports) else Confidence.MEDIUM,
        candidates=tuple(
            Candidate(str(item.number), item.words, (patch(workload.ref, Change(pointer, declared, item.number)),))
            for item in ports
        ),
        missing=_doubt(view, workload, ports),
    )


def _declared(workload: Workload) -> dict[str, tuple[Container, int, int]]:
    """The named container ports: name to container, position and number."""
    return {
        text(port, "name"): (container, index, number(port, "containerPort"))
        for container in workload.containers
        if container.group is Group.MAIN
        for index, port in enumerate(items(container.spec, "ports"))
        if text(port, "name")
    }
