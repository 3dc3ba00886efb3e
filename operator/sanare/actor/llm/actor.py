"""The actor with a model in it: ask, run what it asks for, answer, until one of the defined ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Self

from sanare.actor.actor import Case, End, KeepUsage, Report, Turn
from sanare.actor.llm.briefing import brief, system_prompt
from sanare.actor.llm.conversation import Answer, Conversation
from sanare.actor.llm.ends import Ending, decide_ending
from sanare.actor.llm.meter import Meter
from sanare.actor.llm.reflector import Reflector
from sanare.actor.llm.repeats import ALLOWED, Repeats
from sanare.actor.llm.service import CALL_TIMEOUT, Service, ToolCall
from sanare.actor.llm.tool import read_command, show
from sanare.actor.llm.trim import trim
from sanare.api.status import Usage
from sanare.decision.budget import time_left
from sanare.decision.pricing import PRICES, Prices, parse_prices
from sanare.errors import BudgetExceeded, ConfigError, ModelUnavailable, ModelUnusable, ToolError
from sanare.kubectl.tool import Command, Kubectl, ToolResult
from sanare.text import one_line

MAX_STEPS = 40
"""Calls to the model in one attempt."""

_NOTE_BYTES = 300
_TURN_BYTES = 4_000


class LlmActor:
    """Repairs with a model of the Messages API; which one is the rung's to say."""

    def __init__(self, service: Service, *, prices: Prices = PRICES, max_steps: int = MAX_STEPS) -> None:
        self._service = service
        self._prices = prices
        self._max_steps = max_steps

    @classmethod
    def connect(
        cls,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        prices: Path | None = None,
        retries: int = 2,
        call_timeout: float = CALL_TIMEOUT,
    ) -> Self:
        """Make the actor once, at start-up. What is not given is read from the environment as the SDK reads it.

        `prices` is a JSON file of prices that are laid over the built-in table. Raises ConfigError.
        """
        service = Service.connect(base_url=base_url, api_key=api_key, retries=retries, call_timeout=call_timeout)
        return cls(service, prices=read_prices(prices))

    @property
    def available(self) -> bool:
        """Whether a key is configured; whether it is valid shows at the first call."""
        return self._service.available

    def reflector(self) -> Reflector:
        """Reflections through the same service, at the same prices."""
        return Reflector(self._service, prices=self._prices)

    async def close(self) -> None:
        """Close the connections to the service."""
        await self._service.close()

    def lacks_evidence(self, case: Case) -> bool:
        """Never: a model looks for itself."""
        return False

    async def act(self, case: Case, kubectl: Kubectl, *, now: datetime, keep: KeepUsage) -> Report:
        """Diagnose and repair. Every fault of the model, the service or a budget is an `End`, not an exception.

        The report's usage is this turn's own; `keep` gets the Incident's whole usage after every call.
        """
        try:
            meter = Meter.for_case(self._service, case, self._prices, keep=keep)
        except BudgetExceeded as error:
            return Report(End.BUDGET, note=one_line(str(error), _NOTE_BYTES), usage=Usage())
        attempt = _Attempt(case, kubectl, meter, self._max_steps)
        ending = await _within(case, attempt, now)
        note = one_line(ending.note, _NOTE_BYTES)
        return Report(ending.end, note=note, trajectory=tuple(attempt.trajectory), usage=meter.own)


def read_prices(path: Path | None) -> Prices:
    """The price table, with a file's entries over it. Raises ConfigError naming the file."""
    if path is None:
        return PRICES
    try:
        return parse_prices(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"SANARE_PRICES={path}: {error.strerror}; name a readable JSON file") from error


async def _within(case: Case, attempt: _Attempt, now: datetime) -> Ending:
    """Run the attempt inside the rung's time-out and what is left of the Incident's wall clock."""
    left = time_left(case.policy.budget, started_at=case.incident.status.started_at, now=now)
    limit = min(case.rung.timeout, left)
    try:
        async with asyncio.timeout(limit.total_seconds()) as scope:
            return await attempt.run()
    except BudgetExceeded as error:
        return Ending(End.BUDGET, str(error))
    except ModelUnavailable as error:
        return Ending(End.UNAVAILABLE, str(error))
    except ModelUnusable as error:
        return Ending(End.UNUSABLE, str(error))
    except TimeoutError:
        if not scope.expired():
            raise
    if left < case.rung.timeout:
        return Ending(End.BUDGET, "budget.wallClock of the incident is used up")
    return Ending(End.TIMEOUT, f"the rung's timeout of {limit.total_seconds():g} s is over")


class _Attempt:
    """One turn: the conversation, the calls made, and what they answered."""

    def __init__(self, case: Case, kubectl: Kubectl, meter: Meter, max_steps: int) -> None:
        self._kubectl = kubectl
        self._meter = meter
        self._max_steps = max_steps
        self._repeats = Repeats()
        system = system_prompt(self_verify=case.policy.self_verify)
        self._conversation = Conversation(case.rung.model, system, brief(case))
        self.trajectory: list[Turn] = []

    async def run(self) -> Ending:
        """The loop. Raises BudgetExceeded and ModelError; whatever was done until then stands in `trajectory`."""
        for _ in range(self._max_steps):
            reply = await self._meter.ask(self._conversation.prompt())
            ending = decide_ending(reply.stop, reply.text, has_calls=bool(reply.calls), refusal=reply.refusal)
            if ending:
                return ending
            self._conversation.add_reply(reply)
            if reply.calls:
                ending = await self._answer(reply.calls)
            if ending:
                return ending
        return Ending(End.STEPS, f"{self._max_steps} calls to the model without an end")

    async def _answer(self, calls: Sequence[ToolCall]) -> Ending | None:
        """Give every call exactly one result; end the turn at the third asking of the same thing."""
        answers: list[Answer] = []
        for call in calls:
            try:
                command = read_command(call.name, call.arguments)
            except ToolError as error:
                answers.append(Answer(call.id, str(error), is_error=True, status='error="malformed"'))
                continue
            asked = self._repeats.count(command)
            if asked > ALLOWED:
                return Ending(End.LOOP, f"asked a third time for: {show(command)}")
            answers.append(await self._run(call.id, command) if asked == 1 else self._repeated(call.id, command))
        self._conversation.add_answers(answers)
        return None

    async def _run(self, call_id: str, command: Command) -> Answer:
        try:
            result = await self._kubectl.run(command)
        except ToolError as error:
            result = ToolResult(output=str(error), exit_code=126)
        self._repeats.record(command, result)
        output = trim(result.output)
        self.trajectory.append(Turn(show(command), trim(output, _TURN_BYTES), result.exit_code))
        status = f'refused="{result.refused}"' if result.refused else f'exit="{result.exit_code}"'
        return Answer(call_id, output, is_error=not result.ok, status=status)

    def _repeated(self, call_id: str, command: Command) -> Answer:
        return Answer(call_id, self._repeats.note(command), is_error=True, status='error="repeated"')
