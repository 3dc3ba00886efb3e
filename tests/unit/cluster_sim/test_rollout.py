"""How a Deployment's ReplicaSets grow and shrink: bounds, steps, shares."""

from __future__ import annotations

import pytest

from sanare_lab.cluster.controllers.rollout import (
    MAXIMUM,
    Bounds,
    bounds_of,
    is_same_template,
    next_size_of_new,
    next_sizes_of_old,
    proportional_sizes,
    template_hash,
)
from sanare_lab.cluster.objects import Obj


def replica_set(name: str, size: int, available: int | None = None, maximum: int = 0) -> Obj:
    annotations = {MAXIMUM: str(maximum)} if maximum else {}
    return {
        "metadata": {"name": name, "annotations": annotations, "creationTimestamp": name},
        "spec": {"replicas": size},
        "status": {"availableReplicas": size if available is None else available},
    }


def deployment(replicas: int, **rolling: object) -> Obj:
    return {"spec": {"replicas": replicas, "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}}


@pytest.mark.parametrize(
    ("replicas", "rolling", "surge", "unavailable"),
    [
        pytest.param(4, {"maxSurge": "25%", "maxUnavailable": "25%"}, 1, 1, id="a quarter"),
        pytest.param(3, {"maxSurge": "25%", "maxUnavailable": "25%"}, 1, 0, id="up and down"),
        pytest.param(10, {"maxSurge": 3, "maxUnavailable": 0}, 3, 0, id="numbers"),
        pytest.param(3, {"maxSurge": 0, "maxUnavailable": 0}, 0, 1, id="both none is one"),
        pytest.param(2, {"maxSurge": 0, "maxUnavailable": 5}, 0, 2, id="not more than there are"),
    ],
)
def test_bounds_follow_the_strategy(replicas: int, rolling: Obj, surge: int, unavailable: int) -> None:
    assert bounds_of(deployment(replicas, **rolling)) == Bounds(replicas, surge, unavailable)


@pytest.mark.parametrize(
    ("bounds", "new", "old", "expected"),
    [
        pytest.param(Bounds(4, 1, 1), 0, 4, 1, id="surge first"),
        pytest.param(Bounds(4, 1, 1), 1, 3, 2, id="what the old one gave up"),
        pytest.param(Bounds(4, 0, 1), 0, 4, 0, id="no surge, no room"),
        pytest.param(Bounds(4, 1, 1), 4, 0, 4, id="done"),
        pytest.param(Bounds(2, 1, 0), 4, 0, 2, id="too large"),
    ],
)
def test_the_new_one_grows_within_the_maximum(bounds: Bounds, new: int, old: int, expected: int) -> None:
    fresh = replica_set("new", new)
    assert next_size_of_new(bounds, fresh, [fresh, replica_set("old", old)]) == expected


@pytest.mark.parametrize(
    ("bounds", "new", "old", "expected"),
    [
        pytest.param(Bounds(4, 1, 1), (1, 0), (4, 4), 3, id="down to the minimum"),
        pytest.param(Bounds(3, 1, 0), (1, 0), (3, 3), 3, id="none to spare while the new one is not there"),
        pytest.param(Bounds(3, 1, 0), (1, 1), (3, 3), 2, id="one there, one gone"),
        pytest.param(Bounds(3, 1, 0), (1, 0), (3, 1), 3, id="ill ones stay while nothing may be spared"),
        pytest.param(Bounds(4, 2, 0), (2, 2), (4, 2), 2, id="ill ones first"),
    ],
)
def test_the_old_one_shrinks_to_what_must_stay_available(
    bounds: Bounds, new: tuple[int, int], old: tuple[int, int], expected: int
) -> None:
    sizes = next_sizes_of_old(bounds, replica_set("new", *new), [replica_set("old", *old)])
    assert sizes == {"old": expected}


def test_a_deployment_scaled_in_mid_rollout_shares_by_size() -> None:
    every = [replica_set("old", 8, maximum=13), replica_set("new", 5, maximum=13)]
    sizes = proportional_sizes(Bounds(20, 6, 5), every)
    assert sizes == {"old": 16, "new": 10}


def test_equal_templates_hash_alike_and_compare_alike_whatever_the_controller_added() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "a"}]}}
    labelled = {**template, "metadata": {"labels": {"app": "web", "pod-template-hash": "x"}}}
    other = {**template, "spec": {"containers": [{"name": "c", "image": "b"}]}}
    assert is_same_template(template, labelled)
    assert not is_same_template(template, other)
    assert template_hash(template) == template_hash(dict(template)) != template_hash(other)
