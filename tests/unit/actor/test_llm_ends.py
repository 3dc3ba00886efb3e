"""Nothing that the service can answer, and no error of its SDK, is without a defined end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import anthropic
import anthropic._error_classes  # imports every error that a status or an error code can become
import pytest
from anthropic.types import StopReason

from sanare.actor.llm.ends import ERRORS, GOES_ON, STOPS, classify
from sanare.errors import ModelUnavailable, ModelUnusable

# Roots that say nothing about what happened: an error that only these would catch has been given no end.
ROOTS = {anthropic.AnthropicError, anthropic.APIError, anthropic.APIStatusError}


def errors(kind: type[BaseException] = anthropic.AnthropicError) -> Iterator[type[BaseException]]:
    for child in kind.__subclasses__():
        if child.__module__ == "anthropic" or child.__module__.startswith("anthropic.types"):
            yield child
        yield from errors(child)


def test_every_stop_reason_of_the_sdk_is_in_one_table() -> None:
    assert set(get_args(StopReason)) == STOPS.keys() | GOES_ON
    assert not STOPS.keys() & GOES_ON


@pytest.mark.parametrize("kind", sorted(set(errors()) - ROOTS, key=lambda k: k.__name__), ids=lambda k: k.__name__)
def test_every_error_of_the_sdk_has_a_class_in_the_table(kind: type[BaseException]) -> None:
    named = next((parent for parent in kind.__mro__ if parent in ERRORS), None)

    assert named is not None, f"the SDK has an error that the table does not name: {kind.__name__}"
    assert named not in ROOTS


def test_the_walk_finds_the_sdk_s_errors() -> None:
    found = set(errors())

    assert {anthropic.OverloadedError, anthropic.BadRequestError, anthropic.IdentityTokenFileError} <= found
    assert len(found) > 30


@pytest.mark.parametrize(
    ("error", "becomes"),
    [
        pytest.param(anthropic.OverloadedError, ModelUnavailable, id="529 is a 5xx"),
        pytest.param(anthropic.APITimeoutError, ModelUnavailable, id="time-out"),
        pytest.param(anthropic.AuthenticationError, ModelUnusable, id="401"),
        pytest.param(anthropic.APIStatusError, ModelUnusable, id="an unheard-of 4xx"),
        pytest.param(TypeError, ModelUnusable, id="no credentials"),
    ],
)
def test_errors_by_whether_trying_again_helps(error: type[BaseException], becomes: type) -> None:
    assert classify(error.__new__(error)) is becomes
