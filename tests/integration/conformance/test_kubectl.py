"""kubectl's everyday commands, against a Deployment that runs and one that does not."""

from __future__ import annotations

import atexit
import functools
import json
import re
import uuid
from typing import Any

import pytest

from tests.integration.conformance.target import (
    APPLY,
    IMAGE,
    PORT,
    ROOT,
    Output,
    Target,
    connect,
    core,
    deployment,
    eventually,
    service,
    space,
    target,
)

__all__ = ["shop", "space", "target"]


def _manifest(*objects: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


@functools.cache
def _shop() -> str:
    """A namespace with a Deployment and a Service of one running Pod, for tests that change neither."""
    found, name = connect(), f"conf-{uuid.uuid4().hex[:8]}"
    found.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    atexit.register(found.call, "DELETE", f"/api/v1/namespaces/{name}")
    applied = found.kubectl("apply", "-n", name, "-f", "-", stdin=_manifest(deployment(), service()))
    assert applied.code == 0, applied.err
    done = found.kubectl("rollout", "status", "deploy/web", "-n", name, "--timeout=60s")
    assert done.code == 0, done.err
    return name


@pytest.fixture
def shop() -> str:
    """The namespace of the running shop."""
    return _shop()


def _ok(output: Output) -> str:
    assert output.code == 0, output.err
    return output.out


def test_apply_creates_then_configures_then_leaves_alone(target: Target, space: str) -> None:
    body = deployment(replicas=0)
    for words in ("deployment.apps/web created", "deployment.apps/web unchanged"):
        assert _ok(target.kubectl("apply", "-n", space, "-f", "-", stdin=json.dumps(body))).strip() == words
    body["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": "1"}]
    out = _ok(target.kubectl("apply", "-n", space, "-f", "-", stdin=json.dumps(body)))
    assert out.strip() == "deployment.apps/web configured"
    del body["spec"]["template"]["spec"]["containers"][0]["env"]
    _ok(target.kubectl("apply", "-n", space, "-f", "-", stdin=json.dumps(body)))
    path = "jsonpath={.spec.template.spec.containers[0].env}"
    assert _ok(target.kubectl("get", "deploy/web", "-n", space, "-o", path)) == ""


def test_apply_refuses_unknown_fields(target: Target, space: str) -> None:
    body = deployment(replicas=0)
    body["spec"]["foo"] = 1
    output = target.kubectl("apply", "-n", space, "-f", "-", stdin=json.dumps(body))
    assert output.code == 1
    assert 'strict decoding error: unknown field "spec.foo"' in output.err


def test_get_prints_the_table_of_the_server(target: Target, shop: str) -> None:
    lines = _ok(target.kubectl("get", "deploy", "-n", shop)).splitlines()
    assert lines[0].split() == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert lines[1].split()[:4] == ["web", "1/1", "1", "1"]
    lines = _ok(target.kubectl("get", "pods", "-n", shop, "-o", "wide")).splitlines()
    assert lines[0].split()[:7] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE"]
    assert lines[1].split()[1:4] == ["1/1", "Running", "0"]
    wide = _ok(target.kubectl("get", "svc", "web", "-n", shop, "-o", "wide")).splitlines()
    assert wide[1].split()[-1] == "app=web"


OUTPUTS = [
    ("name", ["get", "deploy", "-o", "name"], "deployment.apps/web"),
    ("jsonpath", ["get", "deploy", "web", "-o", "jsonpath={.spec.replicas}"], "1"),
    (
        "columns",
        ["get", "svc", "-o", "custom-columns=A:.metadata.name,B:.spec.type", "--no-headers"],
        "web   ClusterIP",
    ),
    ("template", ["get", "svc", "web", "-o", "go-template={{.spec.selector.app}}"], "web"),
    ("selector", ["get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].status.phase}"], "Running"),
    (
        "field",
        ["get", "pods", "--field-selector", "status.phase=Running", "-o", "jsonpath={.items[*].status.phase}"],
        "Running",
    ),
    ("several", ["get", "deploy/web", "svc/web", "-o", "name"], "deployment.apps/web\nservice/web"),
    ("raw", ["get", "--raw", "/healthz"], "ok"),
]


@pytest.mark.parametrize(("arguments", "expected"), [row[1:] for row in OUTPUTS], ids=[row[0] for row in OUTPUTS])
def test_get_prints_in_the_form_asked_for(target: Target, shop: str, arguments: list[str], expected: str) -> None:
    assert _ok(target.kubectl(*arguments, "-n", shop)).strip() == expected


MISSING = [
    ("absent", ["get", "deploy", "no"], 'Error from server (NotFound): deployments.apps "no" not found'),
    ("kind", ["get", "gizmos"], 'error: the server doesn\'t have a resource type "gizmos"'),
    (
        "scale",
        ["scale", "deploy", "no", "--replicas=1"],
        'deployments.apps "no" not found',
    ),
    ("image", ["set", "image", "deploy/web", "no=x"], 'error: unable to find container named "no"'),
    ("logs", ["logs", "no"], 'error: error from server (NotFound): pods "no" not found in namespace'),
    ("container", ["logs", "deploy/web", "-c", "no"], "error: container no is not valid for pod web-"),
]


@pytest.mark.parametrize(("arguments", "message"), [row[1:] for row in MISSING], ids=[row[0] for row in MISSING])
def test_what_is_not_there_is_told(target: Target, shop: str, arguments: list[str], message: str) -> None:
    output = target.kubectl(*arguments, "-n", shop)
    assert output.code == 1
    assert message in output.err


def test_describe_tells_the_story_of_a_deployment(target: Target, shop: str) -> None:
    out = _ok(target.kubectl("describe", "deploy", "web", "-n", shop))
    assert "Replicas:               1 desired | 1 updated | 1 total | 1 available | 0 unavailable" in out
    assert "RollingUpdateStrategy:  25% max unavailable, 25% max surge" in out
    assert "Available      True    MinimumReplicasAvailable" in out
    assert "Progressing    True    NewReplicaSetAvailable" in out
    assert "ScalingReplicaSet" in out


def test_describe_tells_the_story_of_a_pod(target: Target, shop: str) -> None:
    out = _ok(target.kubectl("describe", "pods", "-l", "app=web", "-n", shop))
    assert "Controlled By:  ReplicaSet/web-" in out
    assert f"Image:          {IMAGE}" in out
    assert "State:          Running" in out
    assert "Successfully assigned" in out
    assert re.search(r"QoS Class: +BestEffort", out)


def test_describe_names_the_endpoints_of_a_service(target: Target, shop: str) -> None:
    out = _ok(target.kubectl("describe", "svc", "web", "-n", shop))
    assert "Selector:                 app=web" in out
    assert f":{PORT}" in next(line for line in out.splitlines() if line.startswith("Endpoints:"))


def test_logs_are_those_of_the_container(target: Target, shop: str) -> None:
    said = f"listening on 0.0.0.0:{PORT}"
    eventually(lambda: said in target.kubectl("logs", "deploy/web", "-n", shop).out)
    out = _ok(target.kubectl("logs", "deploy/web", "-n", shop))
    last = _ok(target.kubectl("logs", "deploy/web", "-n", shop, "--tail=1"))
    assert last == out.splitlines(keepends=True)[-1]
    few = _ok(target.kubectl("logs", "deploy/web", "-n", shop, "--limit-bytes=4"))
    assert few == "app:"
    previous = target.kubectl("logs", "deploy/web", "-n", shop, "--previous")
    assert 'previous terminated container "web" in pod' in previous.err


def test_a_service_and_a_pod_are_reached_through_the_api(target: Target, shop: str) -> None:
    pod = _ok(target.kubectl("get", "pods", "-n", shop, "-o", "jsonpath={.items[0].metadata.name}"))
    eventually(lambda: target.call("GET", core(shop, "services/web/proxy/healthz")).status == 200)
    for path in (
        "services/web/proxy/",
        "services/web:80/proxy/",
        "services/http:web:80/proxy/",
        "services/web:/proxy/",
    ):
        assert target.call("GET", core(shop, f"{path}healthz")).status == 200, path
    assert target.call("GET", core(shop, f"pods/{pod}/proxy/healthz")).status == 200
    assert target.call("GET", core(shop, f"pods/{pod}:{PORT}/proxy/readyz")).status == 200
    assert target.call("GET", core(shop, "services/web/proxy")).status == 301
    refused = target.call("GET", core(shop, f"pods/{pod}:9/proxy/"))
    status, reason, message = refused.failure
    assert (status, reason) == (503, "ServiceUnavailable")
    assert message.startswith("error trying to reach service: dial tcp 10.")
    assert message.endswith(":9: connect: connection refused")
    no_port = target.call("GET", core(shop, "services/web:99/proxy/"))
    assert no_port.failure == (503, "ServiceUnavailable", 'no service port 99 found for service "web"')
    no_name = target.call("GET", core(shop, "services/web:zz/proxy/"))
    assert no_name.failure == (503, "ServiceUnavailable", 'no endpoints available for service "web"')


def test_endpoints_name_the_ready_pod(target: Target, shop: str) -> None:
    ip = _ok(target.kubectl("get", "pods", "-n", shop, "-o", "jsonpath={.items[0].status.podIP}"))
    assert _ok(target.kubectl("get", "endpoints", "web", "-n", shop, "--no-headers")).split()[1] == f"{ip}:{PORT}"
    slices = _ok(target.kubectl("get", "endpointslices", "-n", shop, "--no-headers")).split()
    assert slices[1:4] == ["IPv4", str(PORT), ip]


def test_a_pod_that_exists_cannot_be_rewritten(target: Target, shop: str) -> None:
    pod = _ok(target.kubectl("get", "pods", "-n", shop, "-o", "name")).strip()
    patch = '{"spec":{"containers":[{"name":"web","env":[{"name":"A","value":"b"}]}]}}'
    output = target.kubectl("patch", pod, "-n", shop, "-p", patch)
    assert output.code == 1
    assert "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`" in output.err


def test_events_are_listed(target: Target, shop: str) -> None:
    out = _ok(target.kubectl("events", "-n", shop, "--for", "deploy/web"))
    assert "Scaled up replica set" in out
    sorted_out = _ok(target.kubectl("get", "events", "-n", shop, "--sort-by=.metadata.name"))
    assert "ScalingReplicaSet" in sorted_out


def test_a_rollout_goes_on_stalls_and_is_undone(target: Target, space: str) -> None:
    _ok(target.kubectl("apply", "-n", space, "-f", "-", stdin=json.dumps(deployment())))
    status = ["rollout", "status", "deploy/web", "-n", space]
    assert 'deployment "web" successfully rolled out' in _ok(target.kubectl(*status, "--timeout=60s"))
    assert _ok(target.kubectl("set", "image", "deploy/web", "web=shop.local/app:none", "-n", space)).strip() == (
        "deployment.apps/web image updated"
    )
    stalled = target.kubectl(*status, "--timeout=2s")
    assert stalled.code == 1
    assert 'Waiting for deployment "web" rollout to finish' in stalled.out
    eventually(lambda: "ImagePull" in target.kubectl("get", "pods", "-n", space).out, seconds=90)
    history = _ok(target.kubectl("rollout", "history", "deploy/web", "-n", space)).split()
    assert history[-4:] == ["1", "<none>", "2", "<none>"]
    undone = _ok(target.kubectl("rollout", "undo", "deploy/web", "-n", space))
    assert undone.strip() == "deployment.apps/web rolled back"
    _ok(target.kubectl(*status, "--timeout=60s"))
    image = "jsonpath={.spec.template.spec.containers[0].image}"
    assert _ok(target.kubectl("get", "deploy/web", "-n", space, "-o", image)) == IMAGE


def test_a_failing_pull_is_told_in_the_logs(target: Target, space: str) -> None:
    body = deployment(image="shop.local/app:none")
    _ok(target.kubectl("apply", "-n", space, "-f", "-", stdin=json.dumps(body)))
    eventually(lambda: "ImagePull" in target.kubectl("get", "pods", "-n", space).out, seconds=90)
    output = target.kubectl("logs", "deploy/web", "-n", space)
    assert output.code == 1
    assert re.search(r"is waiting to start: (image can't be pulled|trying and failing to pull image)", output.err)


def test_a_deployment_is_changed_step_by_step(target: Target, space: str) -> None:
    _ok(target.kubectl("apply", "-n", space, "-f", "-", stdin=json.dumps(deployment(replicas=0))))
    steps = [
        (["set", "env", "deploy/web", "A=b"], "deployment.apps/web env updated"),
        (
            ["set", "resources", "deploy/web", "--limits=memory=64Mi"],
            "deployment.apps/web resource requirements updated",
        ),
        (["rollout", "restart", "deploy/web"], "deployment.apps/web restarted"),
        (["rollout", "pause", "deploy/web"], "deployment.apps/web paused"),
        (["rollout", "resume", "deploy/web"], "deployment.apps/web resumed"),
        (["label", "deploy/web", "x=y"], "deployment.apps/web labeled"),
        (["annotate", "deploy/web", "x=y"], "deployment.apps/web annotated"),
        (["scale", "deploy/web", "--replicas=1"], "deployment.apps/web scaled"),
        (
            ["patch", "deploy/web", "-p", '{"spec":{"minReadySeconds":0,"replicas":0}}'],
            "deployment.apps/web patched",
        ),
        (["expose", "deploy/web", "--port=80", "--target-port=8080"], "service/web exposed"),
        (["delete", "deploy/web"], 'deployment.apps "web" deleted'),
    ]
    for arguments, said in steps:
        told = _ok(target.kubectl(*arguments, "-n", space)).strip()
        assert told in (said, f"{said} from {space} namespace"), (
            arguments
        )  # kubectl 1.34 began to add the namespace
    eventually(lambda: target.kubectl("get", "all", "-n", space, "-o", "name").out.strip() == "service/web")


CREATED = [
    ("configmap", ["configmap", "c", "--from-literal=a=b"], "configmap/c"),
    ("secret", ["secret", "generic", "s", "--from-literal=a=b"], "secret/s"),
    ("deployment", ["deployment", "d", f"--image={IMAGE}", "--replicas=0"], "deployment.apps/d"),
    ("service", ["service", "clusterip", "v", "--tcp=80:8080"], "service/v"),
    ("serviceaccount", ["serviceaccount", "a"], "serviceaccount/a"),
    ("quota", ["quota", "q", "--hard=pods=5"], "resourcequota/q"),
    ("cronjob", ["cronjob", "j", f"--image={IMAGE}", "--schedule=0 0 1 1 *"], "cronjob.batch/j"),
    ("role", ["role", "r", "--verb=get", "--resource=pods"], "role.rbac.authorization.k8s.io/r"),
    ("pdb", ["pdb", "p", "--selector=app=web", "--min-available=1"], "poddisruptionbudget.policy/p"),
]


@pytest.mark.parametrize(("arguments", "name"), [row[1:] for row in CREATED], ids=[row[0] for row in CREATED])
def test_create_makes_objects_of_many_kinds(target: Target, space: str, arguments: list[str], name: str) -> None:
    assert _ok(target.kubectl("create", *arguments, "-n", space)).strip() == f"{name} created"
    assert _ok(target.kubectl("get", name, "-n", space, "-o", "name")).strip() == name
    again = target.kubectl("create", *arguments, "-n", space)
    assert "already exists" in again.err


def test_a_namespace_is_created_and_deleted(target: Target) -> None:
    name = f"conf-{uuid.uuid4().hex[:8]}"
    assert _ok(target.kubectl("create", "namespace", name)).strip() == f"namespace/{name} created"
    deleted = _ok(target.kubectl("delete", "namespace", name, "--wait=false"))
    assert deleted.strip() == f'namespace "{name}" deleted'
    eventually(lambda: target.kubectl("get", "namespace", name).code == 1, seconds=180)


def test_wait_sees_a_condition_come_and_not_come(target: Target, shop: str) -> None:
    out = _ok(target.kubectl("wait", "--for=condition=Available", "deploy/web", "-n", shop, "--timeout=30s"))
    assert out.strip() == "deployment.apps/web condition met"
    out = _ok(target.kubectl("wait", "--for=jsonpath={.status.phase}=Running", "pod", "-l", "app=web", "-n", shop))
    assert out.strip().endswith("condition met")
    never = target.kubectl("wait", "--for=condition=Nope", "deploy/web", "-n", shop, "--timeout=1s")
    assert never.code == 1
    assert "timed out waiting for the condition on deployments/web" in never.err


def test_may_i_is_answered(target: Target) -> None:
    assert _ok(target.kubectl("auth", "can-i", "get", "pods")).strip() == "yes"


def test_api_resources_have_short_names(target: Target) -> None:
    lines = [line.split() for line in _ok(target.kubectl("api-resources", "--no-headers")).splitlines()]
    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in lines
    assert ["pods", "po", "v1", "true", "Pod"] in lines


@pytest.fixture
def our_kinds(target: Target) -> None:
    """The kinds of this repository, served."""
    for path in sorted((ROOT / "crds").glob("*.yaml")):
        definition = path.read_text(encoding="utf-8")
        name = path.name.removesuffix(".yaml")
        crd = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}?fieldManager=conformance&force=true"
        assert target.call("PATCH", crd, definition, kind=APPLY).status in (200, 201)
    eventually(lambda: target.call("GET", "/apis/sanare.dev/v1alpha1/incidents").status == 200)


EXPLAINED = [
    ("incident", "KIND:       Incident"),
    ("incident.spec.targets", "FIELD: targets <[]Object>"),
    ("incident.spec.severity", "ENUM:\n    Critical\n    High\n    Medium\n    Low\n"),
    ("incident.status.verdict", "FIELD: verdict <Object>"),
    ("remediationpolicy.spec.ladder", "FIELD: ladder <[]Object>"),
]


@pytest.mark.usefixtures("our_kinds")
@pytest.mark.parametrize(("path", "said"), EXPLAINED, ids=[row[0] for row in EXPLAINED])
def test_our_kinds_are_explained(target: Target, path: str, said: str) -> None:
    said_at_last: list[str] = []

    def is_said() -> bool:  # the document follows the CRD after a moment
        said_at_last[:] = [target.kubectl("explain", path).out]
        return said in said_at_last[0]

    eventually(is_said)
    assert "sanare.dev" in said_at_last[0]
    assert "VERSION:    v1alpha1" in said_at_last[0]


__all__ += [name for name in dir() if name.startswith("test_")] + ["our_kinds"]
