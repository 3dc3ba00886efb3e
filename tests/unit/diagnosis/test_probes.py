"""A probe that asks the wrong thing is repaired from what the container serves, never removed."""

from __future__ import annotations

from typing import Any

import pytest

from sanare.diagnosis.asked import Role, role_of
from sanare.diagnosis.finding import Confidence
from tests.unit.diagnosis.builders import (
    App,
    Object,
    app,
    box,
    crashed,
    found,
    only,
    patch_of,
    reached,
    refused,
    running,
    up_not_ready,
    values,
)

SERVES = "app: listening on 0.0.0.0:8080, serving / /healthz /readyz"
NOT_FOUND = "{} probe failed: HTTP probe failed with statuscode: 404"
REFUSED = 'Readiness probe failed: Get "http://10.0.0.1:80/": dial tcp 10.0.0.1:80: connect: connection refused'


def http(path: str, port: object = 8080, **more: Any) -> Object:
    return {"httpGet": {"path": path, "port": port}, **more}


def live(log: str = SERVES, *, path: str = "/incorrect", **more: Any) -> App:
    state = crashed(log, NOT_FOUND.format("Liveness"), code=137)
    return app("web", box(livenessProbe=http(path), **more), state=state)


def ready(log: str = SERVES, *, path: str = "/incorrect", **more: Any) -> App:
    state = up_not_ready(log, NOT_FOUND.format("Readiness"))
    return app("web", box(readinessProbe=http(path), **more), state=state)


ONE_CANDIDATE: dict[str, tuple[list[App], str, str]] = {
    "liveness from the log, by its role": ([live()], "livenessProbe", "/healthz"),
    "readiness from the log, by its role": ([ready()], "readinessProbe", "/readyz"),
    "readiness falls back to health": ([ready("serving / /healthz")], "readinessProbe", "/healthz"),
    "a slip of the pen": ([live("routes /health /livez", path="/livz")], "livenessProbe", "/livez"),
    "the readiness probe's path where it is for health": (
        [live("", readinessProbe=http("/healthz"))],
        "livenessProbe",
        "/healthz",
    ),
    "a ready neighbour with the same image": (
        [live(""), app("cart", box("cart", livenessProbe=http("/status")))],
        "livenessProbe",
        "/status",
    ),
    "the root where nothing else is served": ([live("serving /")], "livenessProbe", "/"),
}


@pytest.mark.parametrize(("parts", "field", "path"), ONE_CANDIDATE.values(), ids=ONE_CANDIDATE)
def test_one_path_is_the_repair(parts: list[App], field: str, path: str) -> None:
    finding = only(found(*parts), "ProbePathWrong")
    assert values(finding) == [path]
    assert patch_of(finding)[1] == {
        "op": "replace",
        "path": f"/spec/template/spec/containers/0/{field}/httpGet/path",
        "value": path,
    }


NO_REPAIR = {
    "two paths of the same role": [live("serving / /healthz /livez")],
    "liveness does not take a readiness path": [live("serving /readyz")],
    "no path named": [live("started")],
    "paths that were only asked for": [live("GET /healthz 404 endpoint")],
    "a path that is no probe's": [live("registered route /shutdown")],
}


@pytest.mark.parametrize("parts", NO_REPAIR.values(), ids=NO_REPAIR)
def test_doubt_is_said_and_not_repaired(parts: list[App]) -> None:
    finding = only(found(*parts), "ProbePathWrong")
    assert finding.repair is None
    assert finding.missing


def test_an_answer_confirms_a_path_and_another_refutes_one() -> None:
    broken = ready("serving /readyz /ready")
    answers = {**reached("web", 8080, "/readyz", 404), **reached("web", 8080, "/ready", 200)}
    finding = only(found(broken, answers=answers), "ProbePathWrong")
    assert values(finding) == ["/ready"]
    assert finding.confidence is Confidence.HIGH


@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(app("web", box(readinessProbe=http("/x")), state=running(SERVES)), id="all is ready"),
        pytest.param(
            app(
                "web",
                box(readinessProbe=http("/readyz")),
                state=up_not_ready(SERVES, NOT_FOUND.format("Readiness").replace("404", "503")),
            ),
            id="the application itself says no",
        ),
    ],
)
def test_what_is_no_probe_fault_gives_no_finding(workload: App) -> None:
    assert found(workload) == ()


def test_an_event_of_a_pod_that_is_gone_is_no_evidence() -> None:
    broken = app("web", box(readinessProbe=http("/readyz")), state=up_not_ready(SERVES))
    event = {"kind": "Event", "metadata": {"name": "e"}, "message": NOT_FOUND.format("Readiness")}
    gone = {
        **event,
        "involvedObject": {"kind": "Pod", "name": "web-8-a", "uid": "old", "fieldPath": "spec.containers{web}"},
    }
    assert found(broken, gone) == ()


def test_a_probe_s_port_is_repaired_from_where_the_process_listens() -> None:
    broken = app("web", box(readinessProbe=http("/readyz", 80)), state=up_not_ready(SERVES, REFUSED))
    finding = only(found(broken, answers=reached("web", 8080)), "ProbePortWrong")
    assert patch_of(finding)[1]["value"] == 8080
    assert only(found(broken), "ProbePortWrong").repair is None
    silent = app("web", box(readinessProbe=http("/readyz", 80)), state=up_not_ready(SERVES))
    answers = {**refused("web", 80), **reached("web", 8080)}
    assert values(only(found(silent, answers=answers), "ProbePortWrong")) == ["8080"]


def test_a_probe_s_port_name_is_repaired_from_what_is_declared() -> None:
    container = box(readinessProbe=http("/readyz", "htp"), ports=[{"name": "http", "containerPort": 8080}])
    finding = only(found(app("web", container, state=up_not_ready(SERVES))), "ProbePortNameUnknown")
    assert patch_of(finding)[1]["value"] == "http"


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("/", Role.ROOT),
        ("/healthz", Role.HEALTH),
        ("/api/v1/health-check", Role.HEALTH),
        ("/-/ready", Role.READY),
        ("/shutdown", None),
    ],
)
def test_a_path_has_the_role_of_its_last_word(path: str, role: Role | None) -> None:
    assert role_of(path) is role


KILLED = (
    'Liveness probe failed: Get "http://10.0.0.1:8080/healthz": dial tcp 10.0.0.1:8080: connect: connection refused'
)


def slow(log: str, *, delay: str = "", restarts: int = 3, **probe: Any) -> App:
    container = box(
        livenessProbe=http("/healthz", periodSeconds=2, failureThreshold=3, **probe),
        env=[{"name": "START_DELAY", "value": delay}] if delay else [],
    )
    return app("web", container, state=up_not_ready(log, KILLED, restarts=restarts))


@pytest.mark.parametrize(
    ("workload", "seconds"),
    [
        pytest.param(slow("app: starting", delay="20"), 60, id="a variable tells the start"),
        pytest.param(slow("warming up, takes about 30 s"), 90, id="the log tells the start"),
        pytest.param(slow("app: starting"), 300, id="nothing tells the start"),
    ],
)
def test_a_slow_start_gets_a_start_up_probe_beside_the_liveness_probe(workload: App, seconds: int) -> None:
    finding = only(found(workload), "LivenessFasterThanStart")
    (operation,) = patch_of(finding)
    assert (operation["op"], operation["path"]) == ("add", "/spec/template/spec/containers/0/startupProbe")
    probe = operation["value"]
    assert probe["httpGet"] == {"path": "/healthz", "port": 8080}
    assert probe["periodSeconds"] * probe["failureThreshold"] == seconds


def test_the_exit_code_tells_a_kill_where_events_lack() -> None:
    state = crashed("app: starting", code=137)
    told = box(
        livenessProbe=http("/healthz", periodSeconds=2, failureThreshold=3),
        env=[{"name": "START_DELAY", "value": "20"}],
    )
    only(found(app("web", told, state=state)), "LivenessFasterThanStart")
    assert found(app("web", box(livenessProbe=http("/healthz")), state=state)) == ()


@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(slow("app: listening on 0.0.0.0:8080"), id="it listened in time"),
        pytest.param(slow("app: starting", restarts=0), id="never killed"),
        pytest.param(slow("app: starting", delay="1"), id="the start is short enough"),
    ],
)
def test_a_start_that_is_fast_enough_is_left_alone(workload: App) -> None:
    assert found(workload) == ()
