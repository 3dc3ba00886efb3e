"""How a reply or an error of the model's service ends a turn: two tables, nothing left undefined. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import anthropic

from sanare.actor.actor import End
from sanare.errors import ModelError, ModelUnavailable, ModelUnusable
from sanare.text import one_line

_COMPLETE = re.compile(r"^[^\w\n]*FIX COMPLETE[^\w\n]*$", re.M)
_DETAIL_BYTES = 300

GOES_ON = frozenset({"tool_use", "pause_turn"})
"""Stop reasons after which the turn goes on: run the tools, or send a paused reply back as it is."""

STOPS: Mapping[str, tuple[End, str]] = {
    "end_turn": (End.GAVE_UP, "the model stopped without FIX COMPLETE"),
    "max_tokens": (End.GAVE_UP, "the reply was cut at its token limit"),
    "model_context_window_exceeded": (End.GAVE_UP, "the conversation outgrew the model's context window"),
    "refusal": (End.REFUSED, "the model declined the request"),
    "stop_sequence": (End.UNUSABLE, "the reply ended at a stop sequence that nobody asked for"),
}
"""Stop reasons that end a turn. `end_turn` with FIX COMPLETE is Complete; what is in neither table is unusable."""

ERRORS: Mapping[type[BaseException], type[ModelError]] = {
    anthropic.APIConnectionError: ModelUnavailable,
    anthropic.APITimeoutError: ModelUnavailable,
    anthropic.RequestTimeoutError: ModelUnavailable,  # 408
    anthropic.ConflictError: ModelUnavailable,  # 409
    anthropic.RateLimitError: ModelUnavailable,  # 429
    anthropic.ClientClosedRequestError: ModelUnavailable,  # 499
    anthropic.InternalServerError: ModelUnavailable,  # every 5xx, 529 overloaded among them
    anthropic.RetryableError: ModelUnavailable,
    anthropic.IdentityTokenFileError: ModelUnavailable,  # a projected token that is not there yet
    anthropic.WorkloadIdentityError: ModelUnavailable,  # the token exchange failed
    anthropic.BadRequestError: ModelUnusable,  # 400
    anthropic.AuthenticationError: ModelUnusable,  # 401
    anthropic.PaymentRequiredError: ModelUnusable,  # 402
    anthropic.PermissionDeniedError: ModelUnusable,  # 403
    anthropic.NotFoundError: ModelUnusable,  # 404: no such model, or no such path at the base URL
    anthropic.PreconditionFailedError: ModelUnusable,  # 412
    anthropic.ContentTooLargeError: ModelUnusable,  # 413
    anthropic.UnprocessableEntityError: ModelUnusable,  # 422
    anthropic.RequestHeaderFieldsTooLargeError: ModelUnusable,  # 431
    anthropic.CredentialsError: ModelUnusable,
    anthropic.APIResponseValidationError: ModelUnusable,
    anthropic.APIWebhookValidationError: ModelUnusable,
    TypeError: ModelUnusable,  # the SDK's word for missing credentials
    ValueError: ModelUnusable,  # an answer of 200 that is not JSON
    RuntimeError: ModelUnusable,  # the client is closed
}
"""Errors of the SDK by the nearest class in their ancestry; any other is unusable."""

CAUGHT = (anthropic.AnthropicError, TypeError, ValueError, RuntimeError)

_HINTS: Mapping[type[BaseException], str] = {
    anthropic.AuthenticationError: "check ANTHROPIC_API_KEY",
    anthropic.PermissionDeniedError: "the key has no right to this model",
    anthropic.NotFoundError: "check the rung's model and ANTHROPIC_BASE_URL",
    anthropic.PaymentRequiredError: "the account cannot pay for the request",
    anthropic.CredentialsError: "set ANTHROPIC_API_KEY",
    TypeError: "set ANTHROPIC_API_KEY",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a turn and why, in words."""

    end: End
    note: str


def decide_ending(stop: str, text: str, *, has_calls: bool, refusal: str = "") -> Ending | None:
    """How a reply ends the turn, or None when the turn goes on."""
    if stop == "end_turn" and _COMPLETE.search(text):
        return Ending(End.COMPLETE, one_line(text, _DETAIL_BYTES))
    if stop == "tool_use" and not has_calls:
        return Ending(End.UNUSABLE, "the reply asks for a tool and names none")
    if stop in GOES_ON:
        return None
    end, note = STOPS.get(stop, (End.UNUSABLE, f"unknown stop reason {one_line(stop, 64)!r}"))
    return Ending(end, one_line(": ".join(part for part in (note, refusal or text) if part), _DETAIL_BYTES))


def classify(error: BaseException) -> type[ModelError]:
    """The sanare error that an error of the SDK means."""
    return next((ERRORS[kind] for kind in type(error).__mro__ if kind in ERRORS), ModelUnusable)


def translate(error: BaseException) -> ModelError:
    """The error to raise instead, with what the service said and what to do about it."""
    hint = next((_HINTS[kind] for kind in type(error).__mro__ if kind in _HINTS), "")
    said = str(getattr(error, "api_message", None) or getattr(error, "message", None) or error)
    status = getattr(error, "status_code", "")
    head = f"the model's service: {type(error).__name__}" + (f" {status}" if status else "")
    text = f"{head}: {one_line(said, _DETAIL_BYTES)}" + (f" ({hint})" if hint else "")
    return classify(error)(text)
