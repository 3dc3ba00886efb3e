"""What the API reads: selectors, paths, JSONPaths, durations, schemas, protobuf and rules."""

from __future__ import annotations

from typing import Any

import pytest

from sanare_lab.cluster import jsonpath, protobuf
from sanare_lab.cluster.api.queries import field_predicate, label_predicate
from sanare_lab.cluster.api.request import find_target
from sanare_lab.cluster.decoding import decode
from sanare_lab.cluster.durations import human_duration
from sanare_lab.cluster.errors import ApiError
from sanare_lab.cluster.resources import BUILT_IN, CONFIG_MAPS, DEPLOYMENTS, PODS, Registry
from sanare_lab.cluster.schemas import SchemaBook, type_name
from sanare_lab.cluster.structural import violations


@pytest.mark.parametrize("text", ["a in", "a=b=c", "a in (b", "=b", ",a", "a b"])
def test_a_broken_label_selector_is_refused(text: str) -> None:
    with pytest.raises(ApiError, match="unable to parse requirement"):
        label_predicate(text)


NUMBERS = [("n>3", True), ("n<3", False), ("n>5", False), ("n<6", True)]


@pytest.mark.parametrize(("text", "matches"), NUMBERS)
def test_a_label_is_compared_as_a_number(text: str, matches: bool) -> None:
    predicate = label_predicate(text)
    assert predicate is not None
    assert predicate({"metadata": {"labels": {"n": "5"}}}) is matches
    assert not predicate({"metadata": {"labels": {"n": "five"}}})


def test_fields_are_compared_as_text() -> None:
    predicate = field_predicate(PODS, "status.phase!=Running,spec.nodeName=")
    assert predicate is not None
    assert predicate({"status": {"phase": "Pending"}, "spec": {}})
    assert not predicate({"status": {"phase": "Running"}, "spec": {}})
    with pytest.raises(ApiError, match="field label not supported"):
        field_predicate(PODS, "spec.foo=a")


PATHS = [
    ("/api/v1/pods", "Pod", "", "", "", ""),
    ("/api/v1/namespaces/shop/pods/a", "Pod", "shop", "a", "", ""),
    ("/api/v1/namespaces/shop", "Namespace", "", "shop", "", ""),
    ("/api/v1/namespaces/shop/status", "Namespace", "", "shop", "status", ""),
    ("/api/v1/namespaces/shop/services/a:80/proxy/x/y", "Service", "shop", "a:80", "proxy", "x/y"),
    ("/apis/apps/v1/namespaces/shop/deployments/a/scale", "Deployment", "shop", "a", "scale", ""),
    ("/apis/apps/v1/deployments", "Deployment", "", "", "", ""),
]


@pytest.mark.parametrize(("path", "kind", "namespace", "name", "subresource", "rest"), PATHS)
def test_a_path_names_its_target(
    path: str, kind: str, namespace: str, name: str, subresource: str, rest: str
) -> None:
    target = find_target(Registry(), path)
    assert (target.resource.kind, target.namespace, target.name) == (kind, namespace, name)
    assert (target.subresource, target.rest) == (subresource, rest)


@pytest.mark.parametrize(
    "path", ["/api/v1/gizmos", "/apis/apps/v1", "/apis/no/v1/pods", "/api/v1/namespaces/a/pods/b/no"]
)
def test_a_path_of_nothing_is_not_found(path: str) -> None:
    with pytest.raises(ApiError) as refused:
        find_target(Registry(), path)
    assert refused.value.status == 404


OBJ = {"spec": {"parts": [{"name": "a", "size": 1}, {"name": "b", "size": 2}], "labels": {"x.y/z": "deep"}}}
JSONPATHS: list[tuple[str, list[Any]]] = [
    (".spec.parts[0].name", ["a"]),
    (".spec.parts[-1].name", ["b"]),
    (".spec.parts[*].size", [1, 2]),
    ('.spec.parts[?(@.name=="b")].size', [2]),
    (".spec.labels.x\\.y/z", ["deep"]),
    (".spec.labels['x.y/z']", ["deep"]),
    (".spec.no.way", []),
    (".spec.parts[9]", []),
    ("spec", []),
]


@pytest.mark.parametrize(("path", "found"), JSONPATHS, ids=[row[0] for row in JSONPATHS])
def test_a_json_path_finds_values(path: str, found: list[Any]) -> None:
    assert jsonpath.find(path, OBJ) == found


# k8s.io/apimachinery/pkg/util/duration
DURATIONS = [
    (0, "0s"),
    (119, "119s"),
    (120, "2m"),
    (125, "2m5s"),
    (600, "10m"),
    (10799, "179m"),
    (10800, "3h"),
    (11100, "3h5m"),
    (28800, "8h"),
    (172800, "2d"),
    (176400, "2d1h"),
    (691200, "8d"),
    (63072000, "2y"),
    (-5, "<invalid>"),
]


@pytest.mark.parametrize(("seconds", "shown"), DURATIONS)
def test_a_duration_is_shown_as_kubectl_shows_it(seconds: int, shown: str) -> None:
    assert human_duration(seconds) == shown


def test_every_built_in_kind_but_none_is_without_a_schema() -> None:
    assert [resource.kind for resource in BUILT_IN if type_name(resource) is None] == []


def test_decoding_drops_what_a_kind_does_not_have_and_says_so() -> None:
    body = {"spec": {"foo": 1, "template": {"spec": {"containers": [{"name": "a", "bar": 1, "image": None}]}}}}
    decoded = decode(DEPLOYMENTS, SchemaBook().of(DEPLOYMENTS), body)
    assert sorted(decoded.unknown) == ["spec.foo", "spec.template.spec.containers[0].bar"]
    assert decoded.object == {"spec": {"template": {"spec": {"containers": [{"name": "a"}]}}}}


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2, len(content)]) + content


def test_a_protobuf_body_becomes_json() -> None:
    entry = _field(1, b"a") + _field(2, b"b")
    raw = _field(1, _field(1, b"name") + _field(5, b"")) + _field(2, entry)
    head = _field(1, b"v1") + _field(2, b"ConfigMap")
    body = protobuf.decode(protobuf.MAGIC + _field(1, head) + _field(2, raw))
    assert body == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "name"}, "data": {"a": "b"}}


@pytest.mark.parametrize("raw", [b"", b"k8s", b"k8s\x00\x0a", b"k8s\x00\x0a\x02\x0a\x00", b"k8s\x00\x08\x01"])
def test_a_broken_protobuf_body_is_refused(raw: bytes) -> None:
    with pytest.raises(ApiError) as refused:
        protobuf.decode(raw)
    assert refused.value.status == 400


def test_a_rule_that_cannot_be_evaluated_refuses() -> None:
    schema = {
        "properties": {"spec": {"type": "object", "x-kubernetes-validations": [{"rule": "self.no.way == 1"}]}}
    }
    (cause,) = violations(schema, {"spec": {}}, None)
    assert cause.field == "spec"
    assert "rule evaluation error" in cause.message


def test_a_rule_makes_its_own_message() -> None:
    rule = {"rule": "self.n < 3", "message": "plain", "messageExpression": "'n is ' + string(self.n)"}
    schema = {"properties": {"spec": {"type": "object", "x-kubernetes-validations": [rule]}}}
    (cause,) = violations(schema, {"spec": {"n": 4}}, None)
    assert cause.message == "Invalid value: n is 4"


def test_the_schema_of_a_kind_is_found_by_its_version() -> None:
    assert SchemaBook().of(CONFIG_MAPS) == {"$ref": "api.core.v1.ConfigMap"}
