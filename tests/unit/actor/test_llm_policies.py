"""The example policies: the study's five configurations and its tiered one, as data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from anthropic._data import DEPRECATED_MODELS  # the SDK shows this list only by warning at a call

from sanare.api.attempt import Tier
from sanare.api.incident import Severity
from sanare.api.policy import Feedback, PolicySpec, When
from sanare.decision.pricing import PRICES

FOLDER = Path(__file__).parents[3] / "examples" / "policies"
FILES = sorted(FOLDER.glob("*.yaml"))


def read(name: str) -> PolicySpec:
    return PolicySpec.parse(yaml.safe_load((FOLDER / f"{name}.yaml").read_text("utf-8"))["spec"])


def within(small: Any, large: Any) -> bool:
    """Whether everything that `small` says stands in `large`."""
    if isinstance(small, dict):
        return isinstance(large, dict) and all(key in large and within(small[key], large[key]) for key in small)
    if isinstance(small, list):
        return len(small) == len(large) and all(map(within, small, large))
    return bool(small == large)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_is_a_policy_and_nothing_in_it_is_ignored(path: Path) -> None:
    manifest = yaml.safe_load(path.read_text("utf-8"))

    assert manifest["kind"] == "RemediationPolicy"
    assert manifest["metadata"]["name"] == path.stem
    assert within(manifest["spec"], PolicySpec.parse(manifest["spec"]).wire())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_names_models_that_live_and_have_a_price(path: Path) -> None:
    models = {rung.model for rung in read(path.stem).ladder if rung.tier is not Tier.HUMAN}

    assert models
    assert not models & DEPRECATED_MODELS.keys()
    assert models <= PRICES.keys()


@pytest.mark.parametrize(
    ("name", "attempts", "reflects", "feedback", "self_verify"),
    [
        pytest.param("baseline", 1, False, Feedback.NONE, False, id="baseline"),
        pytest.param("two-try", 2, False, Feedback.NONE, False, id="two-try"),
        pytest.param("full-reflexion", 2, True, Feedback.NONE, False, id="full-reflexion"),
        pytest.param("feedback-only", 2, False, Feedback.VERBATIM, False, id="feedback-only"),
        pytest.param("self-verify", 1, False, Feedback.NONE, True, id="self-verify"),
    ],
)
def test_the_study_s_configurations(
    name: str, attempts: int, reflects: bool, feedback: Feedback, self_verify: bool
) -> None:
    policy = read(name)

    assert sum(rung.attempts for rung in policy.ladder) == policy.budget.attempts == attempts
    assert any(rung.tier is Tier.REFLECTION_RETRY for rung in policy.ladder) is reflects
    assert policy.feedback is feedback
    assert policy.self_verify is self_verify


def test_the_tiered_policy_is_algorithm_1() -> None:
    tiers = [(rung.tier, rung.when, rung.min_severity) for rung in read("default-tiered").ladder]

    assert tiers == [
        (Tier.REFLECTION_RETRY, When.PARTIAL_OR_MULTI, None),
        (Tier.PLAIN_RETRY, When.ALWAYS, None),
        (Tier.STRONGER_MODEL, When.ALWAYS, Severity.HIGH),
        (Tier.HUMAN, When.ALWAYS, None),
    ]
