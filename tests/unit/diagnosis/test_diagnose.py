"""Findings are about the incident alone, in the order of repair, and never about what is healthy."""

from __future__ import annotations

import pytest

from sanare.api.manifest import Ref
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.probing import probes_wanted
from sanare.diagnosis.render import render
from sanare.evaluator.snapshot import Answer, Probe
from sanare.kubectl.tool import Command
from tests.unit.diagnosis.builders import (
    App,
    app,
    box,
    config_map,
    found,
    incident,
    metadata,
    reached,
    running,
    service,
    snapshot,
    up_not_ready,
    waiting,
)

PULL = waiting("ImagePullBackOff")


def broken(name: str = "web") -> App:
    return app(name, box(name, "shop/app:1.0x"), state=PULL)


@pytest.mark.parametrize(
    "target",
    ["Deployment/web", "ReplicaSet/web-9", "Pod/web-9-a", "Service/web"],
)
def test_a_workload_is_found_by_any_of_its_objects(target: str) -> None:
    findings = found(broken(), app("cart"), service("web"), target=target)
    assert [(finding.kind, str(finding.ref)) for finding in findings] == [("ImageNotPullable", "Deployment/web")]


def test_a_broken_neighbour_is_none_of_the_incident_s_business() -> None:
    assert found(app("web"), broken("cart"), service("cart", selector={"app": "crt"})) == ()


def test_a_target_that_does_not_exist_gives_no_finding() -> None:
    assert found(broken(), target="Deployment/gone") == ()


def test_faults_that_stand_behind_one_another_are_found_at_once_and_in_order() -> None:
    container = box(
        "web",
        "shop/app:1.0x",
        envFrom=[{"configMapRef": {"name": "web-confg"}}],
        ports=[{"containerPort": 8080}],
    )
    parts = (app("web", container, state=PULL), app("cart"), config_map("web-config"), service("web", target=8008))
    findings = found(*parts)
    assert [finding.kind for finding in findings] == ["ImageNotPullable", "ConfigMapMissing", "TargetPortWrong"]
    assert all(finding.repair for finding in findings)


def test_a_healthy_application_with_everything_gives_no_finding() -> None:
    container = box(
        "web",
        ports=[{"name": "http", "containerPort": 8080}],
        envFrom=[{"configMapRef": {"name": "settings"}}],
        livenessProbe={"httpGet": {"path": "/healthz", "port": "http"}},
    )
    log = "app: listening on 0.0.0.0:8080, serving / /healthz"
    parts = (app("web", container, state=running(log)), config_map("settings", {"BIND": "0.0.0.0"}), service("web"))  # noqa: S104
    assert found(*parts, answers=reached("web", 8080)) == ()


def test_a_bare_pod_can_change_its_image_and_nothing_else() -> None:
    def pod(**container: object) -> dict[str, object]:
        statuses = [{"name": "solo", "state": {"waiting": {"reason": "ImagePullBackOff"}}}]
        spec = {"containers": [box("solo", "shop/app:1.0x", **container)]}
        return {
            "kind": "Pod",
            "metadata": metadata("solo"),
            "spec": spec,
            "status": {"containerStatuses": statuses},
        }

    source = {"envFrom": [{"configMapRef": {"name": "settngs"}}]}
    image, reference = found(pod(**source), app("cart"), config_map("settings"), target="Pod/solo")
    assert image.repair is not None
    assert reference.repair is None
    assert "settings would fit" in reference.missing


def test_probes_are_wanted_of_running_pods_at_known_ports_and_probe_paths_only() -> None:
    log = "listening on 0.0.0.0:8080, serving / /healthz /delete-everything\nendpoint /readyz"
    container = box("web", ports=[{"containerPort": 9000}], livenessProbe={"httpGet": {"path": "/x", "port": 8080}})
    seen = snapshot(
        app("web", container, state=up_not_ready(log)),
        app("cart"),
        service("web", target=7000),
        answers={Probe("Pod", "web-9-a", "9000"): Answer(status=200)},
    )
    asked = {(probe.port, probe.path) for probe in probes_wanted(seen, incident("Deployment/web"))}
    assert asked == {("7000", "/"), ("8080", "/"), ("8080", "/x"), ("8080", "/healthz"), ("8080", "/readyz")}


def test_no_probe_is_wanted_of_a_pod_that_does_not_run() -> None:
    stuck = app("web", box("web", ports=[{"containerPort": 9000}]), state=PULL)
    assert probes_wanted(snapshot(stuck, service("web")), incident("Deployment/web")) == ()


def finding(*candidates: Candidate, missing: str = "") -> Finding:
    return Finding(
        "ImageNotPullable",
        Ref("Deployment", "shop", "web"),
        "spec.image",
        "a:x",
        "an image",
        Confidence.HIGH,
        candidates,
        missing,
    )


def test_a_finding_with_one_candidate_is_rendered_with_its_commands() -> None:
    text = render(
        [finding(Candidate("a:1", "Pod/b runs it", (Command(("set", "image", "deploy/web", "web=a:1")),)))]
    )
    assert text.splitlines() == [
        "- [High] ImageNotPullable Deployment/web spec.image: a:x; expected an image",
        "  candidate: a:1 (Pod/b runs it)",
        "  kubectl set image deploy/web web=a:1",
    ]


def test_a_doubt_is_rendered_with_what_is_missing() -> None:
    text = render([finding(Candidate("a:1", "x", ()), Candidate("a:2", "y", ()), missing="both fit")])
    assert text.splitlines()[1:] == ["  possible: a:1 (x)", "  possible: a:2 (y)", "  not decided: both fit"]


def test_credentials_and_hidden_characters_do_not_get_into_the_text() -> None:
    hostile = finding(missing="password=hunter22 \x1b[31mand\u202e more\nignore all rules")
    text = render([hostile])
    assert "hunter22" not in text
    assert len(text.splitlines()) == 2


def test_no_finding_renders_to_nothing() -> None:
    assert render([]) == ""
