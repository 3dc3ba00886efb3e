"""Image references and what the registry's answer becomes."""

from __future__ import annotations

import pytest

from sanare_lab.cluster.node import images
from sanare_lab.cluster.node.images import Catalogue, Image, Refusal


@pytest.mark.parametrize(
    ("policy", "reference", "expected"),
    [
        ("", "shop.local/app:1", "IfNotPresent"),
        ("", "shop.local/app", "Always"),
        ("", "shop.local/app:latest", "Always"),
        ("", "registry:5000/app", "Always"),
        ("Never", "shop.local/app", "Never"),
    ],
)
def test_an_unset_pull_policy_depends_on_the_tag(policy: str, reference: str, expected: str) -> None:
    assert images.pull_policy(policy, reference) == expected


@pytest.mark.parametrize(
    ("reference", "valid"),
    [
        ("shop.local/app:1", True),
        ("app", True),
        ("registry:5000/team/app:v1.2-rc", True),
        ("shop.local/APP:1", False),
        ("shop.local/app:1:2", False),
        ("", False),
    ],
)
def test_a_reference_is_valid_or_not(reference: str, *, valid: bool) -> None:
    assert images.is_valid(reference) is valid


def test_an_upper_case_name_is_refused_for_its_case() -> None:
    assert images.invalid_name("shop.local/APP:1").message == (
        'Failed to apply default image tag "shop.local/APP:1": couldn\'t parse image name "shop.local/APP:1": '
        "invalid reference format: repository name (APP) must be lowercase"
    )


def test_an_unknown_image_is_refused_in_containerds_words() -> None:
    answer = Catalogue([Image("shop.local/app:1")]).pull("shop.local/ap:1")
    assert isinstance(answer, Refusal)
    assert answer.message == (
        'rpc error: code = NotFound desc = failed to pull and unpack image "shop.local/ap:1": '
        "failed to resolve image: shop.local/ap:1: not found"
    )


def test_a_pulled_image_is_present_from_then_on() -> None:
    catalogue = Catalogue([Image("shop.local/app:1")], present=())
    assert "shop.local/app:1" not in catalogue.present
    catalogue.pull("shop.local/app:1")
    assert "shop.local/app:1" in catalogue.present
