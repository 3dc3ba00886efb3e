"""The messages of one turn: the first one, the replies as they came, one result for every tool call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from anthropic.types import ContentBlockParam, MessageParam, TextBlockParam, ToolResultBlockParam

from sanare.actor.llm.briefing import fence
from sanare.actor.llm.service import Block, Prompt, Reply
from sanare.actor.llm.tool import KUBECTL

MAX_TOKENS = 8_192
"""Of one reply, its thinking included. The worst case of every call is reserved with it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The one answer to a tool call. An error is for the model to read, not the end of anything."""

    call_id: str
    output: str
    is_error: bool = False
    status: str = ""

    def block(self) -> ToolResultBlockParam:
        """The answer as a content block, its text fenced: what a cluster says is data."""
        return {
            "type": "tool_result",
            "tool_use_id": self.call_id,
            "content": [{"type": "text", "text": fence("output", self.output, note=self.status)}],
            "is_error": self.is_error,
        }


class Conversation:
    """What one turn has said so far. It is kept in memory alone; after a crash an attempt starts from status."""

    def __init__(self, model: str, system: str, first: str) -> None:
        self._model = model
        self._system: TextBlockParam = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
        self._messages: list[MessageParam] = [{"role": "user", "content": [{"type": "text", "text": first}]}]

    def prompt(self) -> Prompt:
        """The next request: everything so far, with a cache breakpoint at the end of the last user message."""
        return Prompt(
            model=self._model,
            system=(self._system,),
            messages=tuple(_with_breakpoint(self._messages)),
            max_tokens=MAX_TOKENS,
            tools=(KUBECTL,),
        )

    def add_reply(self, reply: Reply) -> None:
        """The reply, unchanged, since its thinking is signed; only blank texts, which the API refuses, go."""
        blocks = [dict(block) for block in reply.blocks if not _is_blank(block)]
        content = cast("list[ContentBlockParam]", blocks)
        self._messages.append({"role": "assistant", "content": content})

    def add_answers(self, answers: Iterable[Answer]) -> None:
        """All results of a reply's calls, in one message, as the API asks."""
        self._messages.append({"role": "user", "content": [answer.block() for answer in answers]})


def _is_blank(block: Block) -> bool:
    return block.get("type") == "text" and not str(block.get("text", "")).strip()


def _with_breakpoint(messages: list[MessageParam]) -> list[MessageParam]:
    """The messages with `cache_control` on the last user message's last block; the originals stay as they are."""
    place = max(index for index, message in enumerate(messages) if message["role"] == "user")
    blocks = [dict(cast("dict[str, object]", block)) for block in messages[place]["content"]]
    blocks[-1]["cache_control"] = {"type": "ephemeral"}
    marked: MessageParam = {"role": "user", "content": cast("list[ContentBlockParam]", blocks)}
    return [*messages[:place], marked, *messages[place + 1 :]]
