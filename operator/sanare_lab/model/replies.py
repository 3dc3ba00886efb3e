"""What a scripted model can answer: messages, errors, pages of a proxy, and all of them late."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Block: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The usage of one answer, in tokens, as the service reports it."""

    input: int = 1000
    output: int = 100
    cache_read: int = 0
    cache_write: int = 0

    def wire(self) -> dict[str, int]:
        """The API's `usage` object."""
        return {
            "input_tokens": self.input,
            "output_tokens": self.output,
            "cache_read_input_tokens": self.cache_read,
            "cache_creation_input_tokens": self.cache_write,
        }


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the model: content blocks, why it stopped, what it used."""

    blocks: tuple[Block, ...]
    stop_reason: str = "end_turn"
    stop_details: Mapping[str, str] | None = None
    tokens: Tokens = field(default_factory=Tokens)


@dataclass(frozen=True, slots=True)
class Failure:
    """An error of the service with its HTTP status; `kind` is the API's error type."""

    status: int
    kind: str = "api_error"
    message: str = "scripted failure"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    """An answer that is not the API's: what a proxy or a login page says."""

    body: str = "<html><body>Please log in</body></html>"
    content_type: str = "text/html"
    status: int = 200


@dataclass(frozen=True, slots=True)
class Delayed:
    """The same answer, so many seconds later."""

    seconds: float
    reply: Message | Failure | Page


Reply: TypeAlias = Message | Failure | Page | Delayed


def say(text: str, *, stop_reason: str = "end_turn", tokens: Tokens | None = None) -> Message:
    """Plain text, and the end of the turn."""
    return Message(({"type": "text", "text": text},), stop_reason=stop_reason, tokens=tokens or Tokens())


def run(*argv: str, manifest: str = "", text: str = "", tokens: Tokens | None = None) -> Message:
    """A call of the tool `kubectl`; the server gives it its id."""
    arguments = {"argv": list(argv), **({"manifest": manifest} if manifest else {})}
    call = {"type": "tool_use", "id": "", "name": "kubectl", "input": arguments}
    words: tuple[Block, ...] = ({"type": "text", "text": text},) if text else ()
    return Message((*words, call), stop_reason="tool_use", tokens=tokens or Tokens())


def stop(reason: str, *, details: Mapping[str, str] | None = None) -> Message:
    """No words, and this stop reason."""
    return Message((), stop_reason=reason, stop_details=details)


def overloaded(*, retry_after: float | None = None) -> Failure:
    """529, with or without the header that says when to come back (seconds)."""
    headers = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
    return Failure(529, "overloaded_error", "Overloaded", headers)
