"""The version of the object that was judged goes with every write, whatever the write says by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sanare.kube.client import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from sanare.kubectl.precondition import conditioned
from sanare.kubectl.request import read_request

PATH = "/apis/apps/v1/namespaces/shop/deployments/web"
JUDGED = {"kind": "Deployment", "metadata": {"name": "web", "uid": "u1", "resourceVersion": "7"}}
ADDED = {"op": "add", "path": "/metadata/resourceVersion", "value": "7"}
PAUSE = {"op": "add", "path": "/spec/paused", "value": True}


def version(op: str, value: str | None = None) -> dict[str, Any]:
    valued = {} if value is None else {"value": value}
    return {"op": op, "path": "/metadata/resourceVersion", **valued}


def sent(method: str, body: Any, media: str = "application/json") -> Any:
    request = read_request(method, PATH, "", content_type=media, body=json.dumps(body).encode())
    return conditioned(request, JUDGED)


@pytest.mark.parametrize(
    "body",
    [
        [PAUSE],
        [],
        [version("test", "7"), PAUSE],
        [version("remove"), PAUSE],
        [version("add", "7"), version("remove")],
        [version("add", "7"), {"op": "replace", "path": "/metadata", "value": {"name": "web"}}],
        [PAUSE, version("add", "")],
        [PAUSE, version("test", "3")],
    ],
    ids=[
        "nothing said",
        "nothing at all",
        "tested",
        "removed",
        "added and removed",
        "added and replaced with what is around it",
        "no version",
        "tested at the end",
    ],
)
def test_a_json_patch_ends_with_the_judged_version(body: list[dict[str, Any]]) -> None:
    assert sent("PATCH", body, JSON_PATCH) == [*body, ADDED]


def test_a_json_patch_may_end_with_a_version_of_its_own() -> None:
    body = [PAUSE, version("replace", "3")]
    assert sent("PATCH", body, JSON_PATCH) == body


@pytest.mark.parametrize("media", [APPLY_PATCH, MERGE_PATCH, STRATEGIC_PATCH])
@pytest.mark.parametrize(
    "said", [{}, {"resourceVersion": None}, {"resourceVersion": ""}], ids=["none", "null", "empty"]
)
def test_any_other_patch_carries_it(media: str, said: dict[str, Any]) -> None:
    assert sent("PATCH", {"metadata": {"name": "web", **said}}, media)["metadata"]["resourceVersion"] == "7"


def test_a_version_of_its_own_is_left() -> None:
    assert sent("PUT", {"metadata": {"resourceVersion": "3"}})["metadata"]["resourceVersion"] == "3"


def test_a_deletion_is_of_the_very_object() -> None:
    assert sent("DELETE", {"preconditions": {"uid": "other"}}) == {"preconditions": {"uid": "u1"}}
