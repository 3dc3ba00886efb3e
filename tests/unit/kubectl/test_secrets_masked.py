"""Secret values are masked in every shape, keys stay visible; printed text is masked too."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from sanare.kubectl.redact import MASK, mask_body, mask_output, mask_secrets

SECRET: dict[str, Any] = {
    "kind": "Secret",
    "type": "Opaque",
    "metadata": {"name": "db", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "hunter2"}},
    "data": {"password": "aHVudGVyMg=="},
    "stringData": {"x": "hunter2"},
}
BARE = {k: v for k, v in SECRET.items() if k != "kind"}


@pytest.mark.parametrize(
    "shape",
    [
        SECRET,
        {"kind": "SecretList", "items": [BARE]},
        {"kind": "List", "items": [SECRET, {"kind": "ConfigMap", "data": {"a": "b"}}]},
        {"kind": "Table", "rows": [{"cells": ["db"], "object": SECRET}]},
        {"type": "ADDED", "object": SECRET},
    ],
    ids=["single", "secret list", "mixed list", "table", "watch event"],
)
def test_no_value_is_left_in(shape: dict[str, Any]) -> None:
    told = json.dumps(mask_secrets(shape))
    assert "aHVudGVyMg" not in told
    assert "hunter2" not in told
    assert '"password"' in told


PARTIAL = {"kind": "PartialObjectMetadata", "metadata": SECRET["metadata"], "data": SECRET["data"]}


@pytest.mark.parametrize(
    "shape",
    [
        PARTIAL,
        {"kind": "PartialObjectMetadataList", "items": [PARTIAL, {"metadata": SECRET["metadata"]}]},
        {"kind": "SomethingNew", "items": [{**BARE, "type": None}]},
        {"kind": "Table", "rows": [{"cells": ["db"], "object": PARTIAL}]},
        {"type": "MODIFIED", "object": {"kind": "Table", "rows": [{"cells": ["db"], "object": PARTIAL}]}},
    ],
    ids=["metadata", "metadata list", "a kind not known", "table", "watched table"],
)
def test_every_object_of_an_answer_to_a_question_for_secrets_is_masked(shape: dict[str, Any]) -> None:
    told = mask_body(json.dumps(shape).encode()).decode()
    assert "aHVudGVyMg" not in told
    assert "hunter2" not in told


def test_the_refusal_of_a_question_for_secrets_stays_readable() -> None:
    status = {"kind": "Status", "status": "Failure", "message": "not found", "details": {"name": "db"}}
    assert json.loads(mask_body(json.dumps(status).encode())) == status


def test_a_masked_value_still_decodes() -> None:
    assert base64.b64decode(mask_secrets(SECRET)["data"]["password"]).decode() == MASK


def test_other_objects_are_left_alone() -> None:
    config = {"kind": "ConfigMap", "data": {"password-file": "/x"}}
    assert mask_secrets(config) == config


def test_an_answer_that_is_not_an_object_shows_nothing() -> None:
    assert mask_body(b"k8s\x00\n\x0c\n\x02v1\x12\x06Secret") == b"{}"


@pytest.mark.parametrize(
    "text",
    [
        "- name: DB_PASSWORD\n  value: hunter2 and more",
        '{"name": "API_TOKEN",\n   "value": "hunter2"}',
        '{"name":"SESSION_SECRET","value":"hunter2\\"x"}',
        "DB_PASSWORD:  hunter2",
        "DB_PASSWORD=hunter2",
    ],
    ids=["yaml", "json", "json in one line", "describe", "assignment"],
)
def test_printed_credentials_are_masked(text: str) -> None:
    assert "hunter2" not in mask_output(text)
    assert MASK in mask_output(text)


@pytest.mark.parametrize(
    "text",
    [
        "secretKeyRef:\n  key: password\n  name: db",
        "{secretKeyRef: {key: password, name: db}}",
        "DB_PASSWORD:  <set to the key 'password' in secret 'db'>  Optional: false",
        "secretName: db-creds",
        "automountServiceAccountToken: false",
        "imagePullSecrets:\n- name: registry",
        "- name: MODE\n  value: prod",
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {}",
    ],
)
def test_what_only_names_a_secret_stays_readable(text: str) -> None:
    assert mask_output(text) == text
