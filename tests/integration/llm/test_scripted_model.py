"""The scripted model is as strict as the service: what a real server refuses, it refuses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from pydantic import ValidationError

from sanare_lab.model import Script, ScriptedModel, always, load, say, sequence

GOOD: dict[str, Any] = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "hello"}]}
HEADERS = {"authorization": "Bearer k", "anthropic-version": "2026-10-21"}
CALL = {"type": "tool_use", "id": "t1", "name": "kubectl", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
MARKED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}


def talk(*contents: object) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[n % 2], "content": content} for n, content in enumerate(contents)]}


@asynccontextmanager
async def served(script: Script) -> AsyncIterator[ScriptedModel]:
    """A model whose complaints are looked at, not raised."""
    model = ScriptedModel(script)
    with suppress(AssertionError):
        async with model:
            yield model


async def post(model: ScriptedModel, body: object, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"{model.url}/v1/messages", json=body, headers=HEADERS if headers is None else headers
        ) as answer,
    ):
        return answer.status, await answer.json()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        pytest.param({"temperature": 0}, "temperature", id="a field that is gone"),
        pytest.param({"max_tokens": 0}, "max_tokens", id="no tokens"),
        pytest.param({"model": ""}, "model", id="no model"),
        pytest.param({"messages": []}, "at least one message", id="no messages"),
        pytest.param({"messages": [{"role": "assistant", "content": "x"}]}, "user role", id="assistant first"),
        pytest.param(talk(" "), "non-whitespace", id="an empty text"),
        pytest.param(talk("go", [CALL]), "no `tool_result`", id="a call left open"),
        pytest.param(talk("go", [CALL], [RESULT, RESULT]), "exactly one", id="two results for a call"),
        pytest.param(talk("go", [CALL], "never mind"), "exactly one", id="a call without its result"),
        pytest.param(talk([{"type": "video"}]), "unknown content block", id="an unknown block"),
        pytest.param(talk([MARKED] * 5), "maximum of 4", id="five cache breakpoints"),
        pytest.param(
            {"tools": [{"name": "t", "strict": True, "input_schema": {"type": "object"}}]},
            "additionalProperties",
            id="strict without a closed schema",
        ),
    ],
)
async def test_a_request_that_the_service_refuses_is_refused(change: dict[str, Any], complaint: str) -> None:
    async with served(always(say("hi"))) as model:
        status, body = await post(model, {**GOOD, **change})

    assert status == 400
    assert complaint in body["error"]["message"]
    assert complaint in model.complaints[0]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"authorization": "Bearer k"}, 400, id="no version"),
        pytest.param({"anthropic-version": "2026-10-21"}, 401, id="no key"),
    ],
)
async def test_missing_headers_are_refused(headers: dict[str, str], status: int) -> None:
    async with served(always(say("hi"))) as model:
        assert (await post(model, GOOD, headers))[0] == status

    assert "header is required" in model.complaints[0]


async def test_a_request_beyond_the_script_fails_the_test_that_made_it() -> None:
    model = ScriptedModel(sequence(say("hi")))
    statuses = []

    async def ask_twice() -> None:
        async with model:
            statuses.extend([(await post(model, GOOD))[0] for _ in range(2)])

    with pytest.raises(AssertionError, match="no answer is left after 1"):
        await ask_twice()
    assert statuses == [200, 400]


async def test_a_script_file_answers_by_rule(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(
        "- {last: [pods], run: [get, pods]}\n"
        "- {when: [hello], unless: [pods], say: hi, times: 0, tokens: {input: 7}}\n"
        "- {fail: 529}\n"
    )
    async with ScriptedModel(load(script)) as model:
        answers = [
            await post(model, {**GOOD, **talk(text)}) for text in ("hello", "hello", "hello pods", "hello pods")
        ]

    assert [status for status, _ in answers] == [200, 200, 200, 529]
    assert answers[0][1]["content"] == [{"type": "text", "text": "hi"}]
    assert answers[0][1]["usage"]["input_tokens"] == 7
    assert answers[2][1]["content"][0]["input"] == {"argv": ["get", "pods"]}
    assert answers[2][1]["stop_reason"] == "tool_use"


@pytest.mark.parametrize(
    "rule", [pytest.param("- {when: [x]}", id="no answer"), pytest.param("- {say: a, fail: 500}", id="two answers")]
)
def test_a_rule_needs_exactly_one_answer(tmp_path: Path, rule: str) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(rule)
    with pytest.raises(ValidationError, match="exactly one"):
        load(script)
