"""Patches, by the examples of their specifications and of the Kubernetes docs."""

from __future__ import annotations

from typing import Any

import pytest

from sanare_lab.cluster import patch
from sanare_lab.cluster.errors import ApiError
from sanare_lab.cluster.schemas import Schema

# RFC 7396, appendix A
MERGES: list[tuple[Any, Any, Any]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("target", "change", "expected"), MERGES)
def test_a_merge_patch_follows_the_rfc(target: Any, change: Any, expected: Any) -> None:
    assert patch.merge(target, change) == expected


# RFC 6902, appendix A
OPERATIONS: list[tuple[str, Any, list[Any], Any]] = [
    ("add", {"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"foo": "bar", "baz": "qux"}),
    ("insert", {"foo": [1, 3]}, [{"op": "add", "path": "/foo/1", "value": 2}], {"foo": [1, 2, 3]}),
    ("append", {"foo": [1]}, [{"op": "add", "path": "/foo/-", "value": 2}], {"foo": [1, 2]}),
    ("remove", {"foo": [1, 2]}, [{"op": "remove", "path": "/foo/0"}], {"foo": [2]}),
    ("replace", {"foo": "bar"}, [{"op": "replace", "path": "/foo", "value": "boo"}], {"foo": "boo"}),
    ("move", {"a": {"b": 1}, "c": {}}, [{"op": "move", "from": "/a/b", "path": "/c/d"}], {"a": {}, "c": {"d": 1}}),
    ("move-item", {"a": [1, 2, 3]}, [{"op": "move", "from": "/a/0", "path": "/a/2"}], {"a": [2, 3, 1]}),
    ("copy", {"a": [1]}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": [1], "b": [1]}),
    ("escape", {"a/b": 1, "m~n": 2}, [{"op": "remove", "path": "/a~1b"}, {"op": "remove", "path": "/m~0n"}], {}),
    ("whole", {"a": 1}, [{"op": "replace", "path": "", "value": {"b": 2}}], {"b": 2}),
]


@pytest.mark.parametrize(
    ("target", "operations", "expected"), [row[1:] for row in OPERATIONS], ids=[row[0] for row in OPERATIONS]
)
def test_a_json_patch_follows_the_rfc(target: Any, operations: list[Any], expected: Any) -> None:
    assert patch.json_patch(target, operations) == expected


UNFIT: list[tuple[str, Any]] = [
    ("test", {"op": "test", "path": "/a", "value": 2}),
    ("remove", {"op": "remove", "path": "/b"}),
    ("index", {"op": "add", "path": "/l/9", "value": 1}),
    ("parent", {"op": "add", "path": "/x/y", "value": 1}),
    ("pointer", {"op": "add", "path": "a", "value": 1}),
    ("operation", {"op": "zap", "path": "/a"}),
]


@pytest.mark.parametrize("operation", [row[1] for row in UNFIT], ids=[row[0] for row in UNFIT])
def test_a_json_patch_that_does_not_fit_is_refused_and_changes_nothing(operation: Any) -> None:
    target = {"a": 1, "l": [1]}
    with pytest.raises(ApiError) as refused:
        patch.json_patch(target, [{"op": "add", "path": "/c", "value": 1}, operation])
    assert refused.value.status == 422
    assert target == {"a": 1, "l": [1]}


POD_SPEC: Schema = {"$ref": "api.core.v1.PodSpec"}


def _names(spec: Any) -> list[str]:
    return [item["name"] for item in spec["containers"]]


def test_a_strategic_patch_keeps_the_order_it_is_given() -> None:
    spec = {"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}
    order = [{"name": "c"}, {"name": "a"}]
    change = {"$setElementOrder/containers": order, "containers": [{"name": "a", "image": "x"}]}
    result = patch.strategic(spec, change, POD_SPEC)
    assert _names(result) == ["b", "c", "a"]
    assert _names(patch.strategic(spec, {"$setElementOrder/containers": order}, POD_SPEC)) == ["b", "c", "a"]


def test_a_strategic_patch_shares_nothing_with_the_patch() -> None:
    change = {"containers": [{"name": "a", "env": [{"name": "X", "value": "1"}]}]}
    result = patch.strategic({}, change, POD_SPEC)
    result["containers"][0]["env"][0]["value"] = "2"
    assert change["containers"][0]["env"][0]["value"] == "1"


def test_a_strategic_patch_without_the_merge_key_is_refused() -> None:
    with pytest.raises(ApiError, match="does not contain declared merge key: name"):
        patch.strategic({"containers": [{"name": "a"}]}, {"containers": [{"image": "x"}]}, POD_SPEC)


def test_a_strategic_patch_replaces_a_list_that_says_so() -> None:
    spec = {"containers": [{"name": "a"}, {"name": "b"}]}
    change = {"containers": [{"$patch": "replace"}, {"name": "c"}]}
    assert patch.strategic(spec, change, POD_SPEC) == {"containers": [{"name": "c"}]}


def test_an_apply_pairs_ports_by_number_and_protocol() -> None:
    ports = {"containers": [{"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP", "name": "http"}]}]}
    applied = {
        "containers": [{"name": "a", "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]}]
    }
    (container,) = patch.apply(ports, applied, POD_SPEC)["containers"]
    assert container["ports"] == [
        {"containerPort": 80, "protocol": "TCP", "name": "http"},
        {"containerPort": 80, "protocol": "UDP"},
    ]


def test_an_apply_replaces_what_is_atomic() -> None:
    spec = {"nodeSelector": {"a": "b"}, "containers": [{"name": "a", "command": ["x", "y"]}]}
    applied = {"nodeSelector": {"c": "d"}, "containers": [{"name": "a", "command": ["z"]}]}
    assert patch.apply(spec, applied, POD_SPEC) == {
        "nodeSelector": {"c": "d"},
        "containers": [{"name": "a", "command": ["z"]}],
    }
