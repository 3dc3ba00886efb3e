"""Custom resources: what a CRD brings with it, from defaults to CEL."""

from __future__ import annotations

import atexit
import functools
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.conformance.target import (
    APPLY,
    JSON_PATCH,
    MERGE,
    STRATEGIC,
    TABLE,
    Target,
    connect,
    eventually,
    space,
    target,
)

__all__ = ["gadgets", "space", "target"]

_GROUP = "conformance.sanare.dev"
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_SKIPPED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct "
    "the existing errors to complete validation"
)


@functools.cache
def _install() -> None:
    """Serve the kind, once."""
    definition = yaml.safe_load((Path(__file__).parent / "gadget.yaml").read_text(encoding="utf-8"))
    found = connect()
    path = f"{_CRDS}/{definition['metadata']['name']}?fieldManager=conformance&force=true"
    answer = found.call("PATCH", path, definition, kind=APPLY)
    assert answer.status in (200, 201), answer.text
    atexit.register(found.call, "DELETE", f"{_CRDS}/{definition['metadata']['name']}")
    eventually(lambda: found.call("GET", f"/apis/{_GROUP}/v1/gadgets").status == 200)


@pytest.fixture
def gadgets(space: str) -> str:
    """The path of the collection in the test's namespace."""
    _install()
    return f"/apis/{_GROUP}/v1/namespaces/{space}/gadgets"


def gadget(name: str = "g", **spec: Any) -> dict[str, Any]:
    """A Gadget."""
    kind = {"apiVersion": f"{_GROUP}/v1", "kind": "Gadget"}
    return {**kind, "metadata": {"name": name}, "spec": {"size": "Small", **spec}}


def test_defaults_are_filled_in_and_unknown_fields_dropped(target: Target, gadgets: str) -> None:
    answer = target.call("POST", gadgets, gadget(zzz=1, parts=[{"name": "a"}]))
    assert answer.status == 201
    assert answer.json["spec"] == {"size": "Small", "replicas": 1, "parts": [{"name": "a", "weight": 5}]}
    assert answer.json["metadata"]["generation"] == 1
    strict = target.call("POST", f"{gadgets}?fieldValidation=Strict", gadget("s", zzz=1))
    why = 'Gadget in version "v1" cannot be handled as a Gadget: strict decoding error: unknown field "spec.zzz"'
    assert strict.failure == (400, "BadRequest", why)


def test_open_objects_keep_what_they_hold(target: Target, gadgets: str) -> None:
    answer = target.call("POST", gadgets, gadget(any={"a": {"b": [1, None]}}, port="http", labels={"a": "b"}))
    assert answer.json["spec"]["any"] == {"a": {"b": [1, None]}}
    assert answer.json["spec"]["port"] == "http"
    assert answer.json["spec"]["labels"] == {"a": "b"}


def test_nulls_count_as_missing_where_none_are_allowed(target: Target, gadgets: str) -> None:
    parts = [{"name": "a", "gone": None, "weight": None}]
    answer = target.call("POST", gadgets, gadget(note=None, parts=parts))
    assert "note" not in answer.json["spec"]
    assert answer.json["spec"]["parts"] == [{"name": "a", "gone": None, "weight": 5}]


# (id, spec, what is wrong, whether the rules were left unchecked)
WRONG: list[tuple[str, dict[str, Any], str, bool]] = [
    ("required", {"size": None}, "spec.size: Required value", True),
    ("enum", {"size": "Huge"}, 'spec.size: Unsupported value: "Huge": supported values: "Small", "Large"', True),
    (
        "number-for-bool",
        {"flag": "x"},
        'spec.flag: Invalid value: "string": spec.flag in body must be of type boolean: "string"',
        True,
    ),
    (
        "text-for-number",
        {"ratio": "x"},
        'spec.ratio: Invalid value: "string": spec.ratio in body must be of type number: "string"',
        True,
    ),
    (
        "bool-for-port",
        {"port": True},
        'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
        True,
    ),
    (
        "text-for-map",
        {"labels": "x"},
        'spec.labels: Invalid value: "string": spec.labels in body must be of type object: "string"',
        True,
    ),
    (
        "number-in-map",
        {"labels": {"a": 1}},
        'spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"',
        True,
    ),
    (
        "number-in-list",
        {"tags": [1]},
        'spec.tags[0]: Invalid value: "integer": spec.tags[0] in body must be of type string: "integer"',
        True,
    ),
    ("too-long", {"note": "a" * 11}, "spec.note: Too long: may not be more than 10 bytes", True),
    ("too-many", {"tags": ["a", "b", "c", "d"]}, "spec.tags: Too many: 4: must have at most 3 items", True),
    (
        "too-many-keys",
        {"labels": {"a": "", "b": "", "c": ""}},
        "spec.labels: Too many: 3: must have at most 2 items",
        True,
    ),
    ("item-required", {"parts": [{"weight": 1}]}, "spec.parts[0].name: Required value", True),
    (
        "maximum",
        {"replicas": 11},
        "spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10",
        False,
    ),
    (
        "too-short",
        {"note": "a"},
        'spec.note: Invalid value: "a": spec.note in body should be at least 2 chars long',
        False,
    ),
    (
        "pattern",
        {"note": "AAA"},
        "spec.note: Invalid value: \"AAA\": spec.note in body should match '^[a-z]+$'",
        False,
    ),
    ("too-few", {"tags": []}, "spec.tags: Invalid value: 0: spec.tags in body should have at least 1 items", False),
    ("set", {"tags": ["a", "a"]}, 'spec.tags[1]: Duplicate value: "a"', False),
    ("map-list", {"parts": [{"name": "a"}, {"name": "a"}]}, 'spec.parts[1]: Duplicate value: {"name":"a"}', False),
    ("rule", {"low": 3, "high": 1}, "spec: Invalid value: low must not exceed high", False),
]


@pytest.mark.parametrize(("spec", "wrong", "unchecked"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_wrong_custom_object_is_refused(
    target: Target, gadgets: str, spec: dict[str, Any], wrong: str, unchecked: bool
) -> None:
    answer = target.call("POST", gadgets, gadget(**spec))
    shown = f"[{wrong}, {_SKIPPED}]" if unchecked else wrong
    assert answer.failure == (422, "Invalid", f'Gadget.{_GROUP} "g" is invalid: {shown}')


def test_a_transition_rule_compares_with_what_was(target: Target, gadgets: str) -> None:
    assert target.call("POST", gadgets, gadget(fixed="a")).status == 201
    changed = target.call("PATCH", f"{gadgets}/g", {"spec": {"fixed": "b"}}, kind=MERGE)
    why = 'spec.fixed: Invalid value: "b": fixed is immutable'
    assert changed.failure == (422, "Invalid", f'Gadget.{_GROUP} "g" is invalid: {why}')
    assert target.call("PATCH", f"{gadgets}/g", {"spec": {"note": "fine"}}, kind=MERGE).status == 200


def test_the_kind_and_the_version_must_be_right(target: Target, gadgets: str) -> None:
    other = target.call("POST", gadgets, {**gadget(), "kind": "Gadge"})
    assert other.failure == (
        422,
        "Invalid",
        f'Gadge.{_GROUP} "g" is invalid: kind: Invalid value: "Gadge": must be Gadget',
    )
    assert target.call("POST", gadgets, gadget()).status == 201
    unversioned = target.call("PUT", f"{gadgets}/g", gadget())
    why = "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    assert unversioned.failure == (422, "Invalid", f'gadgets.{_GROUP} "g" is invalid: {why}')


def test_status_is_written_through_its_subresource_alone(target: Target, gadgets: str) -> None:
    made = target.call("POST", gadgets, {**gadget(), "status": {"ready": True}})
    assert "status" not in made.json
    body = {"spec": {"size": "Large"}, "status": {"ready": False}}
    status = target.call("PATCH", f"{gadgets}/g/status", body, kind=MERGE).json
    assert status["status"] == {"ready": False}
    assert status["spec"]["size"] == "Small"
    assert status["metadata"]["generation"] == 1
    plain = target.call("PATCH", f"{gadgets}/g", body, kind=MERGE).json
    assert plain["spec"]["size"] == "Large"
    assert plain["status"] == {"ready": False}
    assert plain["metadata"]["generation"] == 2


def test_a_custom_object_has_a_scale(target: Target, gadgets: str) -> None:
    target.call("POST", gadgets, gadget())
    assert target.call("GET", f"{gadgets}/g/scale").json["spec"] == {"replicas": 1}
    scaled = target.call("PATCH", f"{gadgets}/g/scale", {"spec": {"replicas": 4}}, kind=MERGE)
    assert scaled.json["spec"] == {"replicas": 4}
    assert target.call("GET", f"{gadgets}/g").json["spec"]["replicas"] == 4


def test_custom_objects_take_no_strategic_patch(target: Target, gadgets: str) -> None:
    target.call("POST", gadgets, gadget())
    answer = target.call("PATCH", f"{gadgets}/g", {}, kind=STRATEGIC)
    assert answer.failure == (
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    )
    patched = target.call(
        "PATCH", f"{gadgets}/g", [{"op": "add", "path": "/spec/note", "value": "yes"}], kind=JSON_PATCH
    )
    assert patched.json["spec"]["note"] == "yes"


def test_an_apply_merges_lists_by_their_keys(target: Target, gadgets: str) -> None:
    target.call("POST", gadgets, gadget(parts=[{"name": "p", "weight": 1}]))
    applied = gadget(parts=[{"name": "q"}])
    answer = target.call("PATCH", f"{gadgets}/g?fieldManager=z&force=true", applied, kind=APPLY)
    assert answer.json["spec"]["parts"] == [{"name": "p", "weight": 1}, {"name": "q", "weight": 5}]


def test_a_custom_table_has_the_columns_of_its_crd(target: Target, gadgets: str) -> None:
    target.call("POST", gadgets, gadget(parts=[{"name": "p"}, {"name": "q"}], note="yes"))
    table = target.call("GET", gadgets, accept=TABLE).json
    names = [column["name"] for column in table["columnDefinitions"]]
    assert names == ["Name", "Size", "Count", "Parts", "Ready", "Note", "Age"]
    assert [column["priority"] for column in table["columnDefinitions"]] == [0, 0, 0, 0, 0, 1, 0]
    (row,) = table["rows"]
    assert row["cells"][:6] == ["g", "Small", 1, "p", None, "yes"]
    assert row["cells"][6].endswith("s")


def test_custom_objects_say_their_kind_in_lists(target: Target, gadgets: str) -> None:
    target.call("POST", gadgets, gadget())
    found = target.call("GET", gadgets).json
    assert found["kind"] == "GadgetList"
    assert found["items"][0]["kind"] == "Gadget"
    other = target.call("GET", f"{gadgets}?fieldSelector=spec.size%3DSmall")
    assert other.failure == (400, "BadRequest", "field label not supported: spec.size")


def test_a_crd_is_established_under_the_names_it_asks_for(target: Target, gadgets: str) -> None:
    status = target.call("GET", f"{_CRDS}/gadgets.{_GROUP}").json["status"]
    assert {c["type"]: c["status"] for c in status["conditions"]} == {
        "NamesAccepted": "True",
        "Established": "True",
    }
    assert status["acceptedNames"]["shortNames"] == ["gdt"]
    assert status["acceptedNames"]["listKind"] == "GadgetList"
    assert status["storedVersions"] == ["v1"]
    found = target.call("GET", f"/apis/{_GROUP}/v1").json["resources"]
    assert {item["name"] for item in found} == {"gadgets", "gadgets/status", "gadgets/scale"}


def test_a_deleted_crd_takes_its_objects_along(target: Target, space: str) -> None:
    definition = yaml.safe_load((Path(__file__).parent / "gadget.yaml").read_text(encoding="utf-8"))
    plural = f"widgets{time.time_ns()}"
    definition["metadata"]["name"] = f"{plural}.{_GROUP}"
    definition["spec"]["names"] = {"kind": f"Widget{plural[7:]}", "plural": plural}
    assert target.call("POST", _CRDS, definition).status == 201
    path = f"/apis/{_GROUP}/v1/namespaces/{space}/{plural}"
    body = {**gadget("w"), "kind": definition["spec"]["names"]["kind"]}
    eventually(lambda: target.call("POST", path, body).status == 201)
    assert target.call("DELETE", f"{_CRDS}/{definition['metadata']['name']}").status == 200
    eventually(lambda: target.call("GET", path).status == 404)


def test_a_crd_must_bear_its_own_name(target: Target) -> None:
    definition = yaml.safe_load((Path(__file__).parent / "gadget.yaml").read_text(encoding="utf-8"))
    definition["metadata"]["name"] = "other.conformance.sanare.dev"
    status, reason, message = target.call("POST", f"{_CRDS}?dryRun=All", definition).failure
    assert (status, reason) == (422, "Invalid")
    assert (
        'metadata.name: Invalid value: "other.conformance.sanare.dev": must be spec.names.plural+"."+spec.group'
        in message
    )


__all__ += [name for name in dir() if name.startswith("test_")]
