"""What the API server refuses, and in which words: recorded from a 1.37 API server, held by both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.integration.conformance.target import (
    APPLY,
    JSON,
    JSON_PATCH,
    MERGE,
    STRATEGIC,
    Target,
    apps,
    config_map,
    core,
    deployment,
    service,
    space,
    target,
)

__all__ = ["space", "target"]

_CM = "configmaps"
_STALE = (
    'Operation cannot be fulfilled on configmaps "x": the object has been modified; please apply your changes to '
    "the latest version and try again"
)
_UNFIT = "the server rejected our request due to an error in our request"
_NAME_WORDS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_AS_CM = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
_KEY_WORDS = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME', "
    " or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)


@dataclass(frozen=True)
class Case:
    """A request to a namespace that has the ConfigMap `x`, and the refusal."""

    id: str
    method: str
    path: str
    body: Any
    status: int
    reason: str
    message: str
    kind: str = JSON
    contains: bool = field(default=False)


def _post(name: str, path: str, body: Any, status: int, reason: str, message: str) -> Case:
    return Case(name, "POST", path, body, status, reason, message)


def _patch(name: str, kind: str, body: Any, status: int, reason: str, message: str, **more: Any) -> Case:
    return Case(name, "PATCH", more.pop("path", f"{_CM}/x"), body, status, reason, message, kind, **more)


REFUSALS = [
    Case("get-absent", "GET", f"{_CM}/no", None, 404, "NotFound", 'configmaps "no" not found'),
    Case("get-absent-pod", "GET", "pods/no", None, 404, "NotFound", 'pods "no" not found'),
    Case("put-absent", "PUT", f"{_CM}/no", config_map("no"), 404, "NotFound", 'configmaps "no" not found'),
    Case("delete-absent", "DELETE", f"{_CM}/no", None, 404, "NotFound", 'configmaps "no" not found'),
    Case("no-kind", "GET", "gizmos", None, 404, "NotFound", "the server could not find the requested resource"),
    Case("no-sub", "GET", f"{_CM}/x/no", None, 404, "NotFound", "the server could not find the requested resource"),
    Case(
        "post-object",
        "POST",
        f"{_CM}/x",
        None,
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
    ),
    Case(
        "put-collection",
        "PUT",
        _CM,
        None,
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
    ),
    _post("taken", _CM, config_map("x"), 409, "AlreadyExists", 'configmaps "x" already exists'),
    _post(
        "no-name",
        _CM,
        {"metadata": {}},
        422,
        "Invalid",
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    ),
    _post(
        "bad-name",
        _CM,
        config_map("A_"),
        422,
        "Invalid",
        f'ConfigMap "A_" is invalid: metadata.name: Invalid value: "A_": {_NAME_WORDS}',
    ),
    _post(
        "bad-key",
        _CM,
        {"metadata": {"name": "k"}, "data": {"a b": "c"}},
        422,
        "Invalid",
        f'ConfigMap "k" is invalid: data[a b]: Invalid value: "a b": {_KEY_WORDS}',
    ),
    _post(
        "wrong-type",
        _CM,
        {"metadata": {"name": "n"}, "data": {"a": 1}},
        400,
        "BadRequest",
        _AS_CM + "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
    ),
    _post(
        "strict",
        f"{_CM}?fieldValidation=Strict",
        {"metadata": {"name": "n"}, "dat": {}},
        400,
        "BadRequest",
        _AS_CM + 'strict decoding error: unknown field "dat"',
    ),
    _post(
        "other-kind",
        _CM,
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "n"}},
        400,
        "BadRequest",
        'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): '
        "unknown conversion",
    ),
    _post(
        "other-version",
        _CM,
        {"kind": "ConfigMap", "apiVersion": "v2", "metadata": {"name": "n"}},
        400,
        "BadRequest",
        'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version '
        '"v2" in scheme "pkg/runtime/scheme.go:111"',
    ),
    _post(
        "other-namespace",
        _CM,
        {"metadata": {"name": "n", "namespace": "other"}},
        400,
        "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request",
    ),
    _post(
        "no-json",
        _CM,
        "xx{",
        400,
        "BadRequest",
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse "
        "error: invalid character 'x' looking for beginning of value (78787b)",
    ),
    _post(
        "bad-dry-run",
        f"{_CM}?dryRun=Some",
        config_map("n"),
        422,
        "Invalid",
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
    ),
    _post(
        "bad-base64",
        "secrets",
        {"metadata": {"name": "s"}, "data": {"a": "$$"}},
        400,
        "BadRequest",
        'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0',
    ),
    _post(
        "no-ports",
        "services",
        {"metadata": {"name": "s"}, "spec": {}},
        422,
        "Invalid",
        'Service "s" is invalid: spec.ports: Required value',
    ),
    _post(
        "no-containers",
        "pods",
        {"metadata": {"name": "p"}, "spec": {}},
        422,
        "Invalid",
        'Pod "p" is invalid: spec.containers: Required value',
    ),
    Case(
        "other-name",
        "PUT",
        f"{_CM}/y",
        config_map("x"),
        400,
        "BadRequest",
        "the name of the object (x) does not match the name on the URL (y)",
    ),
    Case(
        "stale-put",
        "PUT",
        f"{_CM}/x",
        {"metadata": {"name": "x", "resourceVersion": "1"}},
        409,
        "Conflict",
        _STALE,
    ),
    _patch(
        "stale-patch", MERGE, {"metadata": {"resourceVersion": "1"}, "data": {"a": "z"}}, 409, "Conflict", _STALE
    ),
    _patch("absent", MERGE, {"data": {}}, 404, "NotFound", 'configmaps "no" not found', path=f"{_CM}/no"),
    _patch(
        "rename",
        MERGE,
        {"metadata": {"name": "z"}},
        400,
        "BadRequest",
        "the name of the object (z) does not match the name on the URL (x)",
    ),
    _patch(
        "merge-list",
        MERGE,
        [1],
        400,
        "BadRequest",
        "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
    ),
    _patch(
        "merge-type",
        MERGE,
        {"data": {"a": 1}},
        422,
        "Invalid",
        "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        contains=True,
    ),
    _patch("media", "text/plain", {}, 415, "UnsupportedMediaType", "415: Unsupported Media Type"),
    _patch("json-test", JSON_PATCH, [{"op": "test", "path": "/data/a", "value": "no"}], 422, "Invalid", _UNFIT),
    _patch("json-replace", JSON_PATCH, [{"op": "replace", "path": "/no/a", "value": "1"}], 422, "Invalid", _UNFIT),
    _patch("json-remove", JSON_PATCH, [{"op": "remove", "path": "/data/no"}], 422, "Invalid", _UNFIT),
    _patch("json-op", JSON_PATCH, [{"op": "zap", "path": "/data/a"}], 422, "Invalid", _UNFIT),
    _patch(
        "json-map",
        JSON_PATCH,
        {"op": "remove", "path": "/data/a"},
        400,
        "BadRequest",
        "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    ),
    _patch(
        "apply-no-manager",
        APPLY,
        config_map("x"),
        422,
        "Invalid",
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    ),
    _patch(
        "apply-no-kind",
        APPLY,
        {"data": {}},
        400,
        "BadRequest",
        "invalid object type: /, Kind=",
        path=f"{_CM}/x?fieldManager=m",
    ),
    Case(
        "field-selector",
        "GET",
        f"{_CM}?fieldSelector=data.a%3Db",
        None,
        400,
        "BadRequest",
        '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ),
    Case(
        "no-selector",
        "GET",
        f"{_CM}?fieldSelector=foo",
        None,
        400,
        "BadRequest",
        "invalid selector: 'foo'; can't understand 'foo'",
    ),
    Case(
        "label-selector",
        "GET",
        f"{_CM}?labelSelector=a%20in",
        None,
        400,
        "BadRequest",
        "unable to parse requirement: found '",
        contains=True,
    ),
    Case(
        "bad-version",
        "GET",
        f"{_CM}?resourceVersion=abc",
        None,
        400,
        "BadRequest",
        'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": '
        "invalid syntax",
    ),
    Case(
        "bad-watch-version",
        "GET",
        f"{_CM}?watch=1&resourceVersion=abc",
        None,
        500,
        "",
        'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ),
    Case(
        "bad-limit",
        "GET",
        f"{_CM}?limit=x",
        None,
        400,
        "BadRequest",
        'strconv.ParseInt: parsing "x": invalid syntax',
    ),
    Case(
        "bad-continue",
        "GET",
        f"{_CM}?continue=x",
        None,
        400,
        "BadRequest",
        "invalid continue token: continue key is not valid: illegal base64 data at input byte 0",
    ),
    Case(
        "future",
        "GET",
        f"{_CM}?resourceVersion=9223372036854775000",
        None,
        504,
        "Timeout",
        "Timeout: Too large resource version: 9223372036854775000, current: ",
        contains=True,
    ),
    Case(
        "service-absent",
        "GET",
        "services/no/proxy/",
        None,
        503,
        "ServiceUnavailable",
        'no endpoints available for service "no"',
    ),
    Case("pod-absent", "GET", "pods/no/proxy/", None, 404, "NotFound", 'pods "no" not found'),
    Case("log-absent", "GET", "pods/no/log", None, 404, "NotFound", 'pods "no" not found'),
]


@pytest.mark.parametrize("case", REFUSALS, ids=[case.id for case in REFUSALS])
def test_a_refusal_is_worded_as_the_real_server_words_it(target: Target, space: str, case: Case) -> None:
    target.call("POST", core(space, _CM), config_map("x", a="1"))
    answer = target.call(case.method, core(space, case.path), case.body, kind=case.kind)
    status, reason, message = answer.failure
    assert (status, reason) == (case.status, case.reason)
    assert case.message in message if case.contains else message == case.message
    assert answer.json["kind"] == "Status"
    assert answer.json["code"] == case.status


def _container(**fields: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "web", **fields}]}}}}


_C0 = "spec.template.spec.containers[0]"
_UNFIT_SELECTOR = "`selector` does not match template `labels`"
# (id, form, patch of a Deployment `web`, what is wrong with it)
WORKLOAD = [
    (
        "selector",
        MERGE,
        {"spec": {"selector": {"matchLabels": {"app": "y"}}}},
        f'[spec.template.metadata.labels: Invalid value: {{"app":"web"}}: {_UNFIT_SELECTOR}, spec.selector: '
        'Invalid value: {"matchLabels":{"app":"y"}}: field is immutable]',
    ),
    (
        "labels",
        MERGE,
        {"spec": {"template": {"metadata": {"labels": {"app": "z"}}}}},
        f'spec.template.metadata.labels: Invalid value: {{"app":"z"}}: {_UNFIT_SELECTOR}',
    ),
    (
        "replicas",
        MERGE,
        {"spec": {"replicas": -2}},
        "spec.replicas: Invalid value: -2: must be greater than or equal to 0",
    ),
    (
        "no-containers",
        MERGE,
        {"spec": {"template": {"spec": {"containers": []}}}},
        "spec.template.spec.containers: Required value",
    ),
    ("no-image", MERGE, _container(), f"{_C0}.image: Required value"),
    (
        "same-name",
        MERGE,
        {
            "spec": {
                "template": {"spec": {"containers": [{"name": "a", "image": "x"}, {"name": "a", "image": "y"}]}}
            }
        },
        'spec.template.spec.containers[1].name: Duplicate value: "a"',
    ),
    (
        "requests",
        STRATEGIC,
        _container(resources={"limits": {"memory": "64Mi"}, "requests": {"memory": "1Gi"}}),
        f'{_C0}.resources.requests: Invalid value: "1Gi": must be less than or equal to memory limit of 64Mi',
    ),
    (
        "port",
        STRATEGIC,
        _container(ports=[{"containerPort": 99999}]),
        f"{_C0}.ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive",
    ),
    (
        "mount",
        STRATEGIC,
        _container(volumeMounts=[{"name": "v", "mountPath": "/x"}]),
        f'{_C0}.volumeMounts[0].name: Not found: "v"',
    ),
    ("env-name", STRATEGIC, _container(env=[{"value": "x"}]), f"{_C0}.env[0].name: Required value"),
    (
        "env-both",
        STRATEGIC,
        _container(env=[{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
        f'{_C0}.env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
    ),
    (
        "probe",
        STRATEGIC,
        _container(livenessProbe={"failureThreshold": -1, "httpGet": {"port": 0}}),
        f"[{_C0}.livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive, "
        f"{_C0}.livenessProbe.failureThreshold: Invalid value: -1: must be greater than or equal to 0]",
    ),
    (
        "two-handlers",
        STRATEGIC,
        _container(livenessProbe={"exec": {"command": ["a"]}, "httpGet": {"port": 80}}),
        f"{_C0}.livenessProbe.httpGet: Forbidden: may not specify more than 1 handler type",
    ),
    (
        "restart-policy",
        STRATEGIC,
        {"spec": {"template": {"spec": {"restartPolicy": "Never"}}}},
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ),
    (
        "pull-policy",
        STRATEGIC,
        _container(imagePullPolicy="Foo"),
        f'{_C0}.imagePullPolicy: Unsupported value: "Foo": supported values: "Always", "IfNotPresent", "Never"',
    ),
]


@pytest.mark.parametrize(
    ("kind", "patch", "wrong"), [row[1:] for row in WORKLOAD], ids=[row[0] for row in WORKLOAD]
)
def test_a_wrong_change_of_a_workload_is_refused(
    target: Target, space: str, kind: str, patch: Any, wrong: str
) -> None:
    assert target.call("POST", apps(space, "deployments"), deployment(replicas=0)).status == 201
    if "ports" in str(patch):
        removal = [{"op": "remove", "path": "/spec/template/spec/containers/0/ports"}]
        assert target.call("PATCH", apps(space, "deployments/web"), removal, kind=JSON_PATCH).status == 200
    answer = target.call("PATCH", apps(space, "deployments/web"), patch, kind=kind)
    assert answer.failure == (422, "Invalid", f'Deployment.apps "web" is invalid: {wrong}')
    assert answer.json["details"]["kind"] == "Deployment"
    assert answer.json["details"]["group"] == "apps"


SERVICE = [
    (
        "port",
        {"ports": [{"port": 99999}]},
        "[spec.ports[0].port: Invalid value: 99999: must be between 1 and 65535, inclusive, "
        "spec.ports[0].targetPort: Invalid value: 99999: must be between 1 and 65535, inclusive]",
    ),
    (
        "names",
        {"ports": [{"port": 80}, {"port": 81}]},
        "[spec.ports[0].name: Required value, spec.ports[1].name: Required value]",
    ),
    ("no-ports", {"ports": []}, "spec.ports: Required value"),
    (
        "target-port",
        {"ports": [{"port": 80, "targetPort": "Foo_"}]},
        'spec.ports[0].targetPort: Invalid value: "Foo_": must contain only alpha-numeric characters (a-z, 0-9), '
        "and hyphens (-)",
    ),
    (
        "type",
        {"type": "Foo"},
        'spec.type: Unsupported value: "Foo": supported values: "ClusterIP", "ExternalName", "LoadBalancer", '
        '"NodePort"',
    ),
    (
        "cluster-ip",
        {"clusterIP": "10.96.7.7"},
        'spec.clusterIPs[0]: Invalid value: ["10.96.7.7"]: may not change once set',
    ),
]


@pytest.mark.parametrize(("spec", "wrong"), [row[1:] for row in SERVICE], ids=[row[0] for row in SERVICE])
def test_a_wrong_change_of_a_service_is_refused(target: Target, space: str, spec: Any, wrong: str) -> None:
    assert target.call("POST", core(space, "services"), service()).status == 201
    answer = target.call("PATCH", core(space, "services/web"), {"spec": spec}, kind=MERGE)
    assert answer.failure == (422, "Invalid", f'Service "web" is invalid: {wrong}')


__all__ += [name for name in dir() if name.startswith("test_")]
