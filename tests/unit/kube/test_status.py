"""What is sent when a status changes: exactly what changed."""

from __future__ import annotations

from typing import Any

import pytest

from sanare.kube.status import merge_difference


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({}, {}, {}),
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": 1, "b": 2}, {"a": 1}, {"b": None}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"x": 1, "y": 3}}, {"a": {"y": 3}}),
        ({"a": {"x": 1}}, {"a": {}}, {"a": {"x": None}}),
        ({"a": [1, 2]}, {"a": [1, 2, 3]}, {"a": [1, 2, 3]}),
        ({"a": {"x": 1}}, {"a": [1]}, {"a": [1]}),
    ],
)
def test_the_patch_between(old: dict[str, Any], new: dict[str, Any], patch: dict[str, Any]) -> None:
    assert merge_difference(old, new) == patch
