"""With a model: the ladder, its memory, and what a model cannot do."""

from __future__ import annotations

import json
from typing import Any

from sanare.api.attempt import Tier
from sanare.api.status import Outcome, Phase
from sanare.api.verdict import Result, Signal
from sanare_lab.model import Delayed, Request, Rule, Script, ScriptedModel, always, first_match, run, say
from tests.journeys.arena import Arena

SMALL, LARGE = "claude-haiku-5-5", "claude-opus-5-5"
PLAIN = {"tier": "PlainRetry", "model": SMALL, "attempts": 2}
REFLECT = {"tier": "ReflectionRetry", "model": SMALL, "when": "PartialOrMulti"}
STRONG = {"tier": "StrongerModel", "model": LARGE, "minSeverity": "High"}
HUMAN = {"tier": "Human"}
TIERED = {"ladder": [REFLECT, PLAIN, STRONG, HUMAN], "budget": {"attempts": 2}}

REFLECTION = "I repaired the image and stopped when the pods ran; next I must also repair the Service's port."
DONE = say("The repair is in place.\nFIX COMPLETE")

FIX_IMAGE = run("set", "image", "deployment/checkout", "checkout=shop.local/app:1.4.2-slim")
FIX_PORT = run(
    "patch",
    "service/checkout",
    "--type=json",
    "-p",
    '[{"op":"replace","path":"/spec/ports/0/targetPort","value":8080}]',
)


def is_reflection(request: Request) -> bool:
    return not request.has_tools


def starts(request: Request) -> bool:
    return request.has_tools and not request.results


def goes_on(request: Request) -> bool:
    return request.has_tools and bool(request.results)


def one_fault_an_attempt(*, delay: float) -> Script:
    """Repairs the image, then, `delay` seconds after that, says so; repairs the port in the next attempt."""
    return first_match(
        Rule(starts, FIX_IMAGE),
        Rule(goes_on, Delayed(delay, DONE)),
        Rule(is_reflection, say(REFLECTION), times=0),
        Rule(starts, FIX_PORT),
        Rule(goes_on, DONE, times=0),
    )


async def test_the_reason_and_a_reflection_reach_the_second_attempt(arena: Arena) -> None:
    script = first_match(
        Rule(is_reflection, say(REFLECTION), times=0),
        Rule(starts, FIX_IMAGE),
        Rule(goes_on, DONE),
        Rule(starts, FIX_PORT),
        Rule(goes_on, DONE),
    )
    async with arena.broken("double-trouble") as journey, ScriptedModel(script) as model:
        async with arena.operator(journey.namespace, model=model):
            await journey.policy(**TIERED)
            ended = await journey.until(await journey.incident(), Phase.RESOLVED, Phase.FAILED, Phase.ESCALATED)
        first, second = ended.status.attempts
        assert (first.result, first.signal, first.undone) == (Result.NOT_FIXED, Signal.PARTIAL, False)
        assert (second.tier, second.result) == (Tier.REFLECTION_RETRY, Result.FIXED)
        assert ended.status.outcome is Outcome.FIXED
        (reflected,) = [request for request in model.requests if is_reflection(request)]
        assert first.reason in reflected.text
        (opening,) = [r for r in model.requests if starts(r) and REFLECTION in r.text]
        assert first.reason in opening.text
        assert len(await journey.journal(ended)) == 2
        await journey.trail(ended)


async def test_high_severity_climbs_to_the_stronger_model(arena: Arena) -> None:
    script = first_match(
        Rule(is_reflection, say(REFLECTION), times=0),
        Rule(lambda r: starts(r) and r.model == LARGE, FIX_IMAGE),
        Rule(
            lambda r: goes_on(r) and r.model == LARGE and len(r.results) == 1 and "image updated" in r.last,
            FIX_PORT,
        ),
        Rule(lambda r: r.has_tools, DONE, times=0),
    )
    async with arena.broken("double-trouble") as journey, ScriptedModel(script) as model:
        async with arena.operator(journey.namespace, model=model):
            await journey.policy(**TIERED)
            name = await journey.incident(severity="High")
            ended = await journey.until(name, Phase.RESOLVED, Phase.FAILED, Phase.ESCALATED)
        assert [a.tier for a in ended.status.attempts][-1] is Tier.STRONGER_MODEL
        assert ended.status.outcome is Outcome.FIXED
        assert {request.model for request in model.requests} == {SMALL, LARGE}


async def test_low_severity_goes_to_a_person_after_its_retries(arena: Arena) -> None:
    script = first_match(Rule(is_reflection, say(REFLECTION), times=0), Rule(lambda r: r.has_tools, DONE, times=0))
    async with arena.broken("misspelling") as journey, ScriptedModel(script) as model:
        async with arena.operator(journey.namespace, model=model):
            await journey.policy(**TIERED)
            ended = await journey.until(await journey.incident(severity="Low"), Phase.ESCALATED, Phase.RESOLVED)
        assert LARGE not in {request.model for request in model.requests}
        assert [(a.result, a.mutation_count) for a in ended.status.attempts] == [(Result.NOT_FIXED, 0)] * 2


async def test_a_model_that_claims_success_and_did_nothing_is_not_believed(arena: Arena) -> None:
    async with arena.broken("misspelling") as journey, ScriptedModel(always(DONE)) as model:
        async with arena.operator(journey.namespace, model=model):
            await journey.policy(ladder=[PLAIN], budget={"attempts": 1})
            ended = await journey.until(await journey.incident(), Phase.FAILED, Phase.RESOLVED)
        assert ended.status.outcome is Outcome.EXHAUSTED
        (only,) = ended.status.attempts
        assert (only.end, only.result) == ("Complete", Result.NOT_FIXED)


async def test_a_model_that_asks_for_a_secret_reads_why_not(arena: Arena) -> None:
    script = first_match(
        Rule(starts, run("get", "secrets", "-o", "yaml")),
        Rule(goes_on, run("create", "secret", "generic", "x", "--from-literal=a=b")),
        Rule(goes_on, DONE, times=0),
    )
    async with arena.broken("misspelling") as journey, ScriptedModel(script) as model:
        await journey.apply(
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "stringData": {"word": "hunter22"}}
        )
        async with arena.operator(journey.namespace, model=model):
            await journey.policy(ladder=[PLAIN], budget={"attempts": 1})
            ended = await journey.until(await journey.incident(), Phase.FAILED, Phase.RESOLVED)
        everything = json.dumps([request.body for request in model.requests])
        assert "hunter22" not in everything
        assert "aHVudGVyMjI" not in everything  # the same, as Secrets keep it
        assert any(result.get("is_error") for request in model.requests for result in request.results)
        assert ended.status.attempts[0].mutation_count == 0


async def test_what_a_failed_attempt_changed_is_put_back(arena: Arena) -> None:
    wrong = run("set", "env", "deployment/web", "SPEED=2")
    script = first_match(Rule(starts, wrong), Rule(goes_on, DONE))
    async with arena.broken("misspelling") as journey, ScriptedModel(script) as model:
        before = await journey.read("Deployment", "web")
        async with arena.operator(journey.namespace, model=model):
            await journey.policy(ladder=[PLAIN], budget={"attempts": 1})
            ended = await journey.until(await journey.incident(), Phase.FAILED, Phase.RESOLVED)
        after = await journey.read("Deployment", "web")
        (only,) = ended.status.attempts
        assert only.undone
        assert only.leftovers == ()
        assert _containers(after) == _containers(before)
        assert {"UndoIntended", "UndoWritten", "Undone"} <= {entry.event for entry in await journey.trail(ended)}


async def test_a_kill_in_the_middle_of_an_attempt_repeats_nothing(arena: Arena) -> None:
    script = one_fault_an_attempt(delay=3600)
    async with arena.broken("double-trouble") as journey, ScriptedModel(script) as model:
        async with arena.operator(journey.namespace, model=model) as operator:
            await journey.policy(**TIERED)
            name = await journey.incident()
            await journey.until(name, holds=lambda _: any(goes_on(request) for request in model.requests))
            await operator.kill()
        async with arena.operator(journey.namespace, model=model):
            ended = await journey.until(name, Phase.RESOLVED, Phase.FAILED, Phase.ESCALATED)
        assert ended.status.outcome is Outcome.FIXED
        assert ended.status.attempts[0].end == "Interrupted"
        events = [entry.event for entry in await journey.trail(ended)]
        assert events.count("Interrupted") == 1
        assert events.count("Mutated") == 2
        writes = [(record.verb, str(record.ref)) for record in await journey.journal(ended)]
        assert writes == [("patch", "Deployment/checkout"), ("patch", "Service/checkout")]
        assert await journey.events("AttemptInterrupted")


async def test_a_stop_in_the_middle_of_an_attempt_lets_its_step_end(arena: Arena) -> None:
    script = one_fault_an_attempt(delay=2)
    async with arena.broken("double-trouble") as journey, ScriptedModel(script) as model:
        async with arena.operator(journey.namespace, model=model) as operator:
            await journey.policy(**TIERED)
            name = await journey.incident()
            await journey.until(name, holds=lambda _: any(goes_on(request) for request in model.requests))
            assert await operator.stop() == 0
        stopped = await journey.until(name)
        assert [(a.end, a.mutation_count) for a in stopped.status.attempts] == [("Complete", 1)]
        async with arena.operator(journey.namespace, model=model):
            ended = await journey.until(name, Phase.RESOLVED, Phase.FAILED, Phase.ESCALATED)
        assert ended.status.outcome is Outcome.FIXED
        assert "Interrupted" not in {entry.event for entry in await journey.trail(ended)}


def _containers(deployment: Any) -> Any:
    return deployment["spec"]["template"]["spec"]["containers"]


__all__ = [name for name in dir() if name.startswith("test_")]
