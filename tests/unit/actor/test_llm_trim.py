"""What of a command's output a model reads: noise out, repeats folded, and a mark for everything left out."""

from __future__ import annotations

import json

import pytest

from sanare.actor.llm.trim import trim

UID = "0b5c1e52-5f2b-4a7e-9a0c-6b7d8e9f0a1b"

POD_YAML = f"""apiVersion: v1
kind: Pod
metadata:
  labels:
    app: web
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:metadata: {{}}
    manager: kubectl
  - apiVersion: v1
    manager: kubelet
  name: web-1
  namespace: shop
  ownerReferences:
  - apiVersion: apps/v1
    kind: ReplicaSet
    name: web
    uid: {UID}
  resourceVersion: "12345"
  uid: {UID}
spec:
  containers:
  - image: nginx:1.255
"""


def test_noise_of_a_yaml_object_goes_and_the_rest_stays() -> None:
    shown = trim(POD_YAML)

    assert UID not in shown
    assert "fieldsV1" not in shown
    assert "kubelet" not in shown
    assert "12345" not in shown
    for kept in ("app: web", "name: web-1", "namespace: shop", "kind: ReplicaSet", "image: nginx:1.255"):
        assert kept in shown
    assert "[trimmed: managedFields, resourceVersion, uid]" in shown


def test_noise_of_a_json_object_goes_and_the_rest_stays() -> None:
    pod = {
        "kind": "List",
        "items": [
            {
                "metadata": {"name": "web-1", "uid": UID, "managedFields": [{"manager": "kubelet"}]},
                "spec": {"port": 1},
            }
        ],
    }
    shown, _, mark = trim(json.dumps(pod)).rpartition("\n")

    assert json.loads(shown) == {"kind": "List", "items": [{"metadata": {"name": "web-1"}, "spec": {"port": 1}}]}
    assert mark == "[trimmed: managedFields, uid]"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "data:\n  uid: www-data\n  resourceVersion: latest\n", id="keys of that name with other values"
        ),
        pytest.param('{\n "data": {\n  "uid": "www-data"\n }\n}', id="the same in JSON"),
        pytest.param("NAME    READY   STATUS\nweb-1   0/1     Pending\n", id="a table"),
        pytest.param("{not json", id="what only starts like JSON"),
        pytest.param("", id="nothing"),
        pytest.param("a\n\n\n\n\nb", id="blank lines"),
    ],
)
def test_what_is_no_noise_stays_as_it_is(text: str) -> None:
    assert trim(text) == text


def test_rows_that_differ_in_numbers_alone_are_folded_with_a_count() -> None:
    rows = [f"pod/web-{n} 0/1 CrashLoopBackOff {n}m" for n in range(40)]
    shown = trim("\n".join(["NAME READY STATUS AGE", *rows, "pod/api-1 1/1 Running 3m"])).split("\n")

    assert shown == [
        "NAME READY STATUS AGE",
        rows[0],
        "[trimmed: 38 lines like this]",
        rows[-1],
        "pod/api-1 1/1 Running 3m",
    ]


def test_three_equal_rows_are_not_worth_a_mark() -> None:
    text = "Back-off 1\nBack-off 2\nBack-off 3"

    assert trim(text) == text


def test_a_long_log_keeps_its_start_and_its_end() -> None:
    lines = [f"{'abcdefghij'[n % 10]} line {n}" for n in range(5000)]
    shown = trim("\n".join(lines), 2000)

    assert len(shown.encode()) <= 2000
    assert shown.startswith("a line 0\n")
    assert shown.endswith("j line 4999")
    assert "bytes cut" in shown


def test_one_endless_line_does_not_crowd_out_the_others() -> None:
    shown = trim("x" * 50_000 + "\nthe error is here")

    assert shown.endswith("the error is here")
    assert len(shown) < 3000


def test_secrets_and_hidden_characters_go_before_anything_else() -> None:
    shown = trim("password: hunter2\n\x1b[8mhidden\x1b[0m \U000e0064\u202etext")

    assert shown == "password: [redacted]\nhidden text"


def test_deeply_nested_json_does_not_break_the_trimming() -> None:
    text = "[" * 100_000

    assert trim(text, 1000).startswith("[[[")
