"""Label selectors and quantities."""

from __future__ import annotations

import pytest

from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.quantity import quantity, show
from sanare_lab.cluster.selectors import selects

LABELS = {"app": "web", "tier": "front"}


@pytest.mark.parametrize(
    ("selector", "taken"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "shop"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "shop"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "zone", "operator": "DoesNotExist"}]}, True),
        ({"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "zone", "operator": "Exists"}]}, False),
    ],
)
def test_a_selector_takes_what_meets_all_of_it(selector: Obj | None, *, taken: bool) -> None:
    assert selects(selector, LABELS) is taken


@pytest.mark.parametrize(
    ("text", "number"),
    [("500m", 0.5), ("2", 2), ("64Mi", 64 * 2**20), ("1Gi", 2**30), ("1G", 1e9), ("1e3", 1000), ("x", 0)],
)
def test_a_quantity_is_a_number(text: str, number: float) -> None:
    assert quantity(text) == pytest.approx(number)


@pytest.mark.parametrize(
    ("number", "unit", "text"), [(0.5, "m", "500m"), (2, "m", "2"), (64 * 2**20, "Mi", "64Mi"), (3, "", "3")]
)
def test_a_number_is_shown_as_a_quantity(number: float, unit: str, text: str) -> None:
    assert show(number, unit) == text
