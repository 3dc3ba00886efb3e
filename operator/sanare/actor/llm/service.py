"""The one door to the model's service: a prompt goes out, a reply or one of two errors comes back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

from anthropic import AnthropicError, AsyncAnthropic, Omit, Timeout
from anthropic.types import Message, MessageParam, TextBlockParam, ToolParam

from sanare.actor.llm.ends import CAUGHT, translate
from sanare.api.status import Usage
from sanare.errors import ConfigError, ModelUnavailable, ModelUnusable
from sanare.text import one_line

CALL_TIMEOUT = 180.0
"""Seconds for one call, the SDK's retries and their waits included: it obeys `retry-after` however long it is."""

_CONNECT_TIMEOUT = 10.0
_UNSENT = ("Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Async", "Retry-Count")
_UNSENT_HEADERS = [f"X-Stainless-{name}" for name in (*_UNSENT, "Timeout", "Read-Timeout")]

Block = Mapping[str, Any]
"""A content block as the service sent it; it goes back unchanged (thinking blocks are signed)."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request: what is the same in every call of an attempt comes first, so that it is cached."""

    model: str
    system: tuple[TextBlockParam, ...]
    messages: tuple[MessageParam, ...]
    max_tokens: int
    tools: tuple[ToolParam, ...] = ()

    @property
    def size(self) -> int:
        """UTF-8 bytes of everything that the model reads."""
        return len(json.dumps([self.system, self.messages, self.tools], ensure_ascii=False).encode())


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call that a reply asks for, its arguments not looked at yet."""

    id: str
    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model. `usage` counts this call alone and has no cost yet."""

    stop: str
    text: str
    calls: tuple[ToolCall, ...]
    blocks: tuple[Block, ...]
    usage: Usage
    refusal: str = ""


class Service:
    """A client of the Messages API. Keys, base URL, profile and proxies are read as the SDK reads them."""

    def __init__(self, client: AsyncAnthropic, *, call_timeout: float = CALL_TIMEOUT) -> None:
        self._client = client
        self._call_timeout = call_timeout

    @classmethod
    def connect(
        cls,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        retries: int = 2,
        call_timeout: float = CALL_TIMEOUT,
    ) -> Self:
        """Make the client, once, at start-up; nothing is sent. Raises ConfigError when credentials are malformed.

        Traces are off whatever the environment says: a span may hold the prompt.
        """
        unsent = cast("dict[str, str]", dict.fromkeys(_UNSENT_HEADERS, Omit()))
        try:
            client = AsyncAnthropic(
                base_url=base_url,
                api_key=api_key,
                max_retries=retries,
                timeout=Timeout(call_timeout, connect=_CONNECT_TIMEOUT),
                default_headers=unsent,
                open_telemetry=False,
            )
        except (AnthropicError, ValueError) as error:
            raise ConfigError(f"the model's credentials cannot be read: {one_line(str(error), 300)}") from error
        return cls(client, call_timeout=call_timeout)

    @property
    def available(self) -> bool:
        """Whether a key, a token or an identity is configured. Whether it is valid shows at the first call."""
        return bool(self._client.api_key or self._client.auth_token or self._client.credentials)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def send(self, prompt: Prompt) -> Reply:
        """One call. Raises ModelUnavailable (try again later) or ModelUnusable (it will not get better)."""
        try:
            async with asyncio.timeout(self._call_timeout):
                answer: object = await self._create(prompt)
        except TimeoutError as error:
            raise ModelUnavailable(f"the model's service gave no answer in {self._call_timeout:g} s") from error
        except CAUGHT as error:
            raise translate(error) from error
        return read_reply(answer)

    async def _create(self, prompt: Prompt) -> Message:
        if not prompt.tools:
            return await self._client.messages.create(
                model=prompt.model,
                max_tokens=prompt.max_tokens,
                system=list(prompt.system),
                messages=list(prompt.messages),
            )
        return await self._client.messages.create(
            model=prompt.model,
            max_tokens=prompt.max_tokens,
            system=list(prompt.system),
            messages=list(prompt.messages),
            tools=list(prompt.tools),
            tool_choice={"type": "auto", "disable_parallel_tool_use": True},
        )


def read_reply(answer: object) -> Reply:
    """What the SDK returned, which it does not validate, as a reply. Raises ModelUnusable when it is none."""
    content = getattr(answer, "content", None)
    if not isinstance(answer, Message) or not isinstance(content, list):
        kind = "text" if isinstance(answer, str) else type(answer).__name__
        raise ModelUnusable(
            f"the model's service answered with {kind} instead of a message; check ANTHROPIC_BASE_URL and any proxy"
        )
    blocks = tuple(_block(block) for block in content)
    details = answer.stop_details
    return Reply(
        stop=str(answer.stop_reason or ""),
        text="\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text"),
        calls=_calls(blocks),
        blocks=blocks,
        usage=_usage(getattr(answer, "usage", None)),
        refusal=" ".join(part for part in (details.category, details.explanation) if part) if details else "",
    )


def _block(block: object) -> Block:
    """By its `type`, never by its class: the SDK gives a kind that it does not know the class of a text."""
    dump = getattr(block, "to_dict", None)
    value = dump(mode="json") if callable(dump) else block
    return value if isinstance(value, dict) else {}


def _calls(blocks: Sequence[Block]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            id=str(block.get("id", "")),
            name=str(block.get("name", "")),
            arguments=block["input"] if isinstance(block.get("input"), dict) else {},
        )
        for block in blocks
        if block.get("type") == "tool_use"
    )


def _usage(usage: object) -> Usage:
    def count(name: str) -> int:
        value = getattr(usage, name, None)
        return value if isinstance(value, int) else 0

    return Usage(
        calls=1,
        input_tokens=count("input_tokens"),
        output_tokens=count("output_tokens"),
        cache_read_tokens=count("cache_read_input_tokens"),
        cache_write_tokens=count("cache_creation_input_tokens"),
        cost_usd=None,
    )
