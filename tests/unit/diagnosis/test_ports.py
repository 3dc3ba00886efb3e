"""A Service's port is repaired from where the process is known to listen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from sanare.diagnosis.finding import Confidence, Finding
from sanare.evaluator.snapshot import Answer, Probe
from tests.unit.diagnosis.builders import (
    App,
    Object,
    State,
    app,
    box,
    config_map,
    found,
    only,
    patch_of,
    reached,
    refused,
    running,
    service,
    service_refused,
    values,
    waiting,
)

Answers = Mapping[Probe, Answer]


def listens(port: int, address: str = "0.0.0.0") -> State:  # noqa: S104
    return running(f"app: listening on {address}:{port}, serving / /healthz")


def ports(*numbers: int, **named: int) -> list[Object]:
    return [{"containerPort": n} for n in numbers] + [{"name": k, "containerPort": n} for k, n in named.items()]


def web(state: State, *, declared: list[Object] | None = None, **container: Any) -> App:
    return app("web", box(ports=declared or [], **container), state=state)


def env(**values_: str) -> list[Object]:
    return [{"name": name, "value": value} for name, value in values_.items()]


DOWN = refused("web", 8000)
ONE_CANDIDATE: dict[str, tuple[App, Answers, int]] = {
    "log and an answer": (web(listens(8765)), {**DOWN, **reached("web", 8765)}, 8765),
    "log and environment": (web(listens(8765), env=env(PORT="8765")), DOWN, 8765),
    "log and declared port": (web(listens(8765), declared=ports(8765)), DOWN, 8765),
    "the Service's word where no pod was asked": (
        web(listens(8765), declared=ports(8765)),
        service_refused("web"),
        8765,
    ),
    "an answer beats a declaration": (
        web(running(), declared=ports(9000), env=env(PORT="9001")),
        {**DOWN, **refused("web", 9000), **reached("web", 9001)},
        9001,
    ),
    "of two that answer the one named as the Service's port": (
        web(running(), declared=ports(http=8080, metrics=9090)),
        {**DOWN, **reached("web", 8080), **reached("web", 9090)},
        8080,
    ),
    "of two that answer the one that PORT names": (
        web(running(), declared=ports(8080, 9090), env=env(PORT="9090", METRICS_PORT="8080")),
        {**DOWN, **reached("web", 8080), **reached("web", 9090)},
        9090,
    ),
    "declared, while no pod has ever run": (web(waiting("ImagePullBackOff"), declared=ports(8080)), {}, 8080),
    "a probe, where the spec names no other": (
        web(running(), declared=ports(8000), livenessProbe={"tcpSocket": {"port": 9090}}),
        DOWN,
        9090,
    ),
    "the readiness probe of a ready pod": (
        web(running(), declared=ports(8080, 9090), readinessProbe={"httpGet": {"path": "/", "port": 9090}}),
        DOWN,
        9090,
    ),
}


@pytest.mark.parametrize(("workload", "answers", "port"), ONE_CANDIDATE.values(), ids=ONE_CANDIDATE)
def test_one_port_is_the_repair(workload: App, answers: Answers, port: int) -> None:
    finding = only_port_finding(workload, answers, wrong=8000)
    assert values(finding) == [str(port)]
    assert patch_of(finding, -1) == [
        {"op": "test", "path": "/spec/ports/0/targetPort", "value": 8000},
        {"op": "replace", "path": "/spec/ports/0/targetPort", "value": port},
    ]


def only_port_finding(workload: App, answers: Answers, *, wrong: int) -> Finding:
    front = service("web", target=wrong, port_name="http")
    (finding,) = [f for f in found(workload, front, answers=answers) if f.kind == "TargetPortWrong"]
    return finding


def test_of_two_that_answer_the_one_with_the_digits_swapped_is_the_repair() -> None:
    answers = {**refused("web", 9009), **reached("web", 9090), **reached("web", 7000)}
    assert values(only_port_finding(web(running(), declared=ports(7000, 9090)), answers, wrong=9009)) == ["9090"]


NO_REPAIR: dict[str, tuple[App, Answers]] = {
    "the log alone": (web(listens(8765)), DOWN),
    "a log that lies": (web(listens(6666)), {**DOWN, **refused("web", 6666)}),
    "two that answer alike": (
        web(running(), declared=ports(7001, 7002)),
        {**DOWN, **reached("web", 7001), **reached("web", 7002)},
    ),
    "somebody else's port": (web(running(), env=env(DB_PORT="5432", REDIS_PORT="6379")), DOWN),
    "nothing known": (web(running()), DOWN),
}


@pytest.mark.parametrize(("workload", "answers"), NO_REPAIR.values(), ids=NO_REPAIR)
def test_doubt_is_said_and_not_repaired(workload: App, answers: Answers) -> None:
    finding = only(found(workload, service("web", target=8000), answers=answers), "TargetPortWrong")
    assert finding.repair is None
    assert finding.missing


NO_FAULT: dict[str, tuple[App, Answers]] = {
    "the pod answers at the target port": (web(listens(8000)), reached("web", 8000)),
    "the Service answers": (web(listens(9000)), {Probe("Service", "web", "80"): Answer(status=200)}),
    "nothing listens yet": (web(waiting("ContainerCreating"), declared=ports(8000)), DOWN),
    "a pod that does not run refuses everything": (web(waiting("ImagePullBackOff"), declared=ports(8000)), DOWN),
    "nobody could ask": (
        web(listens(9000), declared=ports(9000)),
        {Probe("Service", "web", "80"): Answer(failure="forbidden", known=False)},
    ),
}


@pytest.mark.parametrize(("workload", "answers"), NO_FAULT.values(), ids=NO_FAULT)
def test_what_is_no_port_fault_gives_no_finding(workload: App, answers: Answers) -> None:
    findings = found(workload, service("web", target=8000), answers=answers)
    assert [finding.kind for finding in findings if finding.kind != "ImageNotPullable"] == []


def test_the_whole_chain_is_repaired_where_the_container_declares_the_wrong_number_too() -> None:
    chain = web(listens(8765), declared=ports(8000))
    finding = only(
        found(chain, service("web", target=8000), answers={**DOWN, **reached("web", 8765)}), "TargetPortWrong"
    )
    assert patch_of(finding, 0)[1]["path"] == "/spec/template/spec/containers/0/ports/0/containerPort"
    assert patch_of(finding, 1)[1]["path"] == "/spec/ports/0/targetPort"
    assert finding.confidence is Confidence.HIGH


def test_a_service_without_a_target_port_gets_one() -> None:
    front = service("web")
    del front["spec"]["ports"][0]["targetPort"]
    answers = {**refused("web", 80), **reached("web", 8080)}
    finding = only(found(web(listens(8080)), front, answers=answers), "TargetPortWrong")
    assert patch_of(finding) == [{"op": "add", "path": "/spec/ports/0/targetPort", "value": 8080}]


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        pytest.param(ports(http=8080, metrics=9090), ["http"], id="a slip in the name"),
        pytest.param(ports(web=8080), ["web"], id="the only named port"),
        pytest.param(ports(8080), ["8080"], id="the only port, without a name"),
        pytest.param(ports(alpha=8080, beta=9090), [], id="two other names"),
    ],
)
def test_an_unknown_port_name_is_repaired_from_what_is_declared(
    declared: list[Object], expected: list[str]
) -> None:
    finding = only(found(web(running(), declared=declared), service("web", target="htp")), "TargetPortNameUnknown")
    assert ([finding.repair.value] if finding.repair else []) == expected


def test_a_name_that_leads_to_a_wrong_number_is_the_container_s_fault() -> None:
    answers = {**DOWN, **reached("web", 8765)}
    finding = only(
        found(web(listens(8765), declared=ports(http=8000)), service("web", target="http"), answers=answers),
        "ContainerPortWrong",
    )
    assert str(finding.ref) == "Deployment/web"
    assert patch_of(finding)[1]["value"] == 8765


def test_a_variable_from_a_config_map_counts_as_environment() -> None:
    workload = web(listens(8765), envFrom=[{"configMapRef": {"name": "settings"}}])
    parts = (workload, config_map("settings", {"PORT": "8765"}), service("web", target=8000))
    assert values(only(found(*parts, answers=DOWN), "TargetPortWrong")) == ["8765"]
