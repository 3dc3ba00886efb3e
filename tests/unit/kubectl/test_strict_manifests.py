"""Manifests and patches that two parsers could read differently are refused."""

from __future__ import annotations

import pytest

from sanare.errors import Refused
from sanare.kubectl.manifest import canonical, documents, fragments, manifests, patch_body, strict_json

CM = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (CM + "kind: Secret\n", "given twice"),
        (CM + "data: &x {a: b}\n", "anchors"),
        (CM + "data:\n  <<: {a: b}\n", "merge keys"),
        (CM + "items: []\n", "items"),
        ("apiVersion: v1\nkind: List\nitems: []\n", "must hold objects"),
        ("apiVersion: v1\nkind: List\nitems: [{kind: List, items: []}]\n", "must hold objects"),
        (CM + "data: {a: '[redacted]'}\n", "hidden from you"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, finalizers: [x]}\n", "not finalizers"),
        ("apiVersion: v1\nkind: ConfigMap\n", "metadata.name"),
        (CM + "data: {1: b}\n", "not text"),
        ("- a\n- b\n", "must be an object"),
        ("{", "not readable"),
        ("# nothing\n", "no manifest"),
        (CM + "data: {a: " + "[" * 60 + "]" * 60 + "}\n", "levels deep"),
        ("---\n".join([CM] * 11), "more than 10"),
        ("a: !!python/object:os.system {}", "not readable"),
        (CM + "data: {a: " + "x" * 300_000 + "}", "larger than"),
    ],
    ids=lambda value: value[:30].replace("\n", " "),
)
def test_a_manifest_with_a_trick_is_refused(raw: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        manifests(raw)


def test_dates_stay_the_text_they_are() -> None:
    assert documents("a: 2026-11-30") == [{"a": "2026-11-30"}]


def test_several_documents_and_a_list_are_taken_apart() -> None:
    assert [m["metadata"]["name"] for m in manifests(CM + "---\n" + CM.replace("name: a", "name: b"))] == ["a", "b"]


@pytest.mark.parametrize("raw", ['{"a": 1, "a": 2}', '{"a": NaN}', "{"], ids=["twice", "nan", "broken"])
def test_json_that_is_not_plain_is_refused(raw: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        strict_json(raw)


def test_canonical_json_has_one_spelling() -> None:
    assert canonical({"b": 1, "a": [True, None, "ä"]}) == '{"a":[true,null,"ä"],"b":1}'


def test_each_json_patch_operation_is_read_as_the_piece_of_the_object_it_writes() -> None:
    body = patch_body(
        '[{"op": "add", "path": "/metadata/annotations/a~1b", "value": "x"},'
        ' {"op": "remove", "path": "/spec/containers/0/command"}, {"op": "test", "path": "/a", "value": 1}]',
        "json",
    )
    assert fragments(body) == [
        {"metadata": {"annotations": {"a/b": "x"}}},
        {"spec": {"containers": [{"command": None}]}},
    ]


@pytest.mark.parametrize(
    ("raw", "kind"),
    [("{}", "json"), ("[]", "merge"), ('[{"op":"add","path":"spec","value":1}]', "json"), ("{}\n---\n{}", "merge")],
    ids=["object for json", "list for merge", "path without slash", "two documents"],
)
def test_a_patch_must_have_the_shape_of_its_type(raw: str, kind: str) -> None:
    with pytest.raises(Refused):
        patch_body(raw, kind)
