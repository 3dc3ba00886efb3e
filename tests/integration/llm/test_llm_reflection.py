"""A failed attempt, a reflection on it and the attempt after it, with a model that repairs one fault first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from sanare.actor.actor import End, Report, Turn
from sanare.actor.llm import LlmActor
from sanare.api.policy import Budget, Feedback
from sanare.api.status import Usage
from sanare.memory.episodic import feedback_entry, remember
from sanare_lab.model import (
    Delayed,
    Failure,
    Page,
    Reply,
    Rule,
    ScriptedModel,
    Tokens,
    first_match,
    run,
    say,
    sequence,
    stop,
)
from sanare_lab.model.case import NOW, REASON, VERDICT, sample_case, sample_incident
from sanare_lab.model.kubectl import ScriptedKubectl, wrote

REFLECTION = "I repaired the image and overlooked the Service. Next I patch targetPort of Service/web to 8080."
FAILED = Report(End.COMPLETE, note="done", trajectory=(Turn("kubectl get pods", "web-1 Pending", 0),))


def counter() -> tuple[list[Usage], Callable[[Usage], Awaitable[None]]]:
    kept: list[Usage] = []

    async def keep(usage: Usage) -> None:
        kept.append(usage)

    return kept, keep


async def test_a_model_that_repairs_one_fault_first_repairs_the_other_after_reflecting() -> None:
    script = first_match(
        Rule(lambda asked: not asked.has_tools, say(REFLECTION)),
        Rule(lambda asked: REFLECTION in asked.first and not asked.results, run("patch", "service", "web")),
        Rule(lambda asked: not asked.results, run("set", "image", "deployment/web", "web=nginx:1.25")),
        Rule(lambda asked: bool(asked.results), say("FIX COMPLETE"), times=0),
    )
    kubectl = ScriptedKubectl(
        {"set image deployment/web web=nginx:1.25": wrote("updated"), "patch service web": wrote("patched")}
    )
    kept, keep = counter()
    async with ScriptedModel(script) as model:
        actor = LlmActor.connect(base_url=model.url, api_key="test")
        first = await actor.act(sample_case(), kubectl, now=NOW, keep=keep)
        judged = sample_case(incident=sample_incident(usage=kept[-1], attempts=1))
        memory = remember((), feedback_entry(1, judged.verdict))
        entry = await actor.reflector().reflect(replace(judged, memory=memory), first, keep=keep, now=NOW)
        again = sample_case(incident=sample_incident(usage=kept[-1], attempts=1), memory=remember(memory, entry))
        second = await actor.act(again, kubectl, now=NOW, keep=keep)
        await actor.close()

    assert (first.end, second.end) == (End.COMPLETE, End.COMPLETE)
    assert [" ".join(command.argv) for command in kubectl.commands][-1] == "patch service web"
    reflection, retry = model.requests[2], model.requests[3]
    assert REASON in reflection.text, "the reflection reads the evaluator's reason"
    assert "set image deployment/web" in reflection.text, "and what was tried"
    assert REASON in retry.first
    assert REFLECTION in retry.first
    assert [usage.calls for usage in kept] == [1, 2, 3, 4, 5]


async def test_a_reflection_offers_no_tools_and_becomes_a_memory() -> None:
    kept, keep = counter()
    async with ScriptedModel(sequence(say(REFLECTION, tokens=Tokens(input=2000, output=500)))) as model:
        actor = LlmActor.connect(base_url=model.url, api_key="test")
        case = sample_case(incident=sample_incident(usage=Usage(calls=7, cost_usd=0.1), attempts=2))
        entry = await actor.reflector().reflect(case, FAILED, keep=keep, now=NOW)
        await actor.close()

    assert (entry.kind, entry.attempt, entry.text) == ("Reflection", 2, REFLECTION)
    assert "tools" not in model.requests[0].body
    assert kept[0].calls == 8
    assert kept[0].cost_usd == pytest.approx(0.1 + 2000 * 0.1e-6 + 500 * 0.5e-6)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Failure(529, "overloaded_error"), id="overloaded"),
        pytest.param(Failure(401, "authentication_error"), id="no key"),
        pytest.param(Page(), id="a login page"),
        pytest.param(stop("refusal"), id="refusal"),
        pytest.param(say(" \n"), id="white space"),
        pytest.param(Delayed(30, say(REFLECTION)), id="too late"),
    ],
)
async def test_a_failed_reflection_leaves_the_evaluator_s_feedback(reply: Reply) -> None:
    _, keep = counter()
    async with ScriptedModel(sequence(reply)) as model:
        actor = LlmActor.connect(base_url=model.url, api_key="test", retries=0)
        case = sample_case(timeout=timedelta(seconds=0.4), incident=sample_incident(attempts=1))
        entry = await asyncio.wait_for(actor.reflector().reflect(case, FAILED, keep=keep, now=NOW), timeout=20)
        await actor.close()

    assert entry == feedback_entry(1, VERDICT)


@pytest.mark.parametrize(
    ("budget", "model_name"),
    [
        pytest.param(Budget(tokens=10), "claude-haiku-5-5", id="no tokens left"),
        pytest.param(Budget(cost_usd=1), "some-model", id="no price for a budget in USD"),
        pytest.param(Budget(wall_clock=timedelta(0)), "claude-haiku-5-5", id="no time left"),
    ],
)
async def test_a_reflection_that_cannot_be_paid_is_not_asked_for(budget: Budget, model_name: str) -> None:
    _, keep = counter()
    async with ScriptedModel(sequence()) as model:
        actor = LlmActor.connect(base_url=model.url, api_key="test")
        case = sample_case(budget=budget, model=model_name, incident=sample_incident(attempts=1))
        entry = await actor.reflector().reflect(case, FAILED, keep=keep, now=NOW)
        await actor.close()

    assert model.requests == []
    assert entry.kind == "Feedback"


async def test_a_policy_without_feedback_keeps_the_sentence_from_a_failed_reflection_too() -> None:
    _, keep = counter()
    async with ScriptedModel(sequence(stop("refusal"))) as model:
        actor = LlmActor.connect(base_url=model.url, api_key="test")
        case = sample_case(feedback=Feedback.NONE, incident=sample_incident(attempts=1))
        entry = await actor.reflector().reflect(case, FAILED, keep=keep, now=NOW)
        await actor.close()

    assert REASON not in model.requests[0].text
    assert REASON not in entry.text
