"""A request of the Messages API, read as strictly as the service reads it: what is not known is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FIELDS = frozenset({
    "cache_control", "container", "diagnostics", "inference_geo", "max_tokens", "messages", "metadata",
    "model", "output_config", "service_tier", "speed", "stop_sequences", "stream", "system", "thinking",
    "tool_choice", "tools",
})  # fmt: skip
BLOCK_TYPES = frozenset({"text", "tool_use", "tool_result", "thinking", "redacted_thinking"})
MAX_BREAKPOINTS = 4


class BadRequest(Exception):
    """The service would answer 400; the message says why."""


@dataclass(frozen=True, slots=True)
class Request:
    """One recorded request."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    raw: str

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body["model"])

    @property
    def system(self) -> str:
        """The system prompt as one text."""
        return _text(self.body.get("system", ""))

    @property
    def text(self) -> str:
        """Every text of the messages, in order: what the model reads besides its system prompt."""
        return "\n".join(_text(message["content"]) for message in self.body["messages"])

    @property
    def first(self) -> str:
        """The first message's text."""
        return _text(self.body["messages"][0]["content"])

    @property
    def results(self) -> tuple[Mapping[str, Any], ...]:
        """The tool results of the last message."""
        content = self.body["messages"][-1]["content"]
        return tuple(b for b in content if b["type"] == "tool_result") if isinstance(content, list) else ()

    @property
    def last(self) -> str:
        """The last message's text, tool results included."""
        return _text(self.body["messages"][-1]["content"])

    @property
    def has_tools(self) -> bool:
        """Whether tools are offered: an attempt, rather than a reflection."""
        return bool(self.body.get("tools"))


def check(body: object) -> None:
    """Raise BadRequest for what the service would refuse."""
    if not isinstance(body, dict):
        raise BadRequest("the body must be an object")
    unknown = sorted(body.keys() - FIELDS)
    if unknown:
        raise BadRequest(f"{unknown[0]}: Extra inputs are not permitted")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise BadRequest("model: Field required")
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        raise BadRequest("max_tokens: a positive integer is required")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("messages: at least one message is required")
    _check_messages(messages)
    for tool in body.get("tools", []):
        _check_tool(tool)
    if sum(1 for _ in _breakpoints(body)) > MAX_BREAKPOINTS:
        raise BadRequest(f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided")


def _check_messages(messages: Sequence[Any]) -> None:
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        if not isinstance(message, dict) or set(message) != {"role", "content"}:
            raise BadRequest(f"messages.{place}: role and content are required, nothing else")
        if message["role"] not in ("user", "assistant") or (place == 0 and message["role"] != "user"):
            raise BadRequest(f"messages.{place}: the first message must use the user role")
        blocks = _blocks(message["content"], place)
        answered = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if sorted(answered) != sorted(open_calls):
            raise BadRequest(f"messages.{place}: `tool_use` ids {open_calls} need exactly one `tool_result` each")
        open_calls = [b["id"] for b in blocks if b["type"] == "tool_use"]
    if open_calls:
        raise BadRequest(f"messages: `tool_use` ids {open_calls} have no `tool_result`")


def _blocks(content: object, place: int) -> list[dict[str, Any]]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list) or not content:
        raise BadRequest(f"messages.{place}: content must not be empty")
    for block in content:
        if not isinstance(block, dict) or block.get("type") not in BLOCK_TYPES:
            raise BadRequest(f"messages.{place}: unknown content block {block!r:.80}")
        if block["type"] == "text" and not str(block.get("text", "")).strip():
            raise BadRequest(f"messages.{place}: text content blocks must contain non-whitespace text")
    return content


def _check_tool(tool: object) -> None:
    if not isinstance(tool, dict) or not {"name", "input_schema"} <= tool.keys():
        raise BadRequest("tools: name and input_schema are required")
    schema = tool["input_schema"]
    if tool.get("strict") and schema.get("additionalProperties") is not False:
        raise BadRequest(f"tools.{tool['name']}: strict needs additionalProperties: false")


def _breakpoints(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        if value.get("cache_control"):
            yield value
        for item in value.values():
            yield from _breakpoints(item)
    elif isinstance(value, list):
        for item in value:
            yield from _breakpoints(item)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(
        _text(block["content"]) if block.get("type") == "tool_result" else str(block.get("text", ""))
        for block in content
        if isinstance(block, dict)
    )
