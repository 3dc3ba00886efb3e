"""Reflection: one call after a failed attempt, so that the next one does not repeat it (the study's section 3)."""

from __future__ import annotations

import asyncio
from datetime import datetime

from anthropic.types import TextBlockParam

from sanare.actor.actor import Case, KeepUsage, Report
from sanare.actor.llm.briefing import brief_reflection, read_prompt
from sanare.actor.llm.meter import Meter
from sanare.actor.llm.service import Prompt, Service
from sanare.api.status import MemoryEntry
from sanare.decision.budget import time_left
from sanare.decision.pricing import PRICES, Prices
from sanare.errors import BudgetExceeded, ModelError
from sanare.memory.episodic import feedback_entry, reflection_entry

MAX_TOKENS = 4_096
"""Of a reflection: 400 words take about 600, the rest is room for thinking."""


class Reflector:
    """Turns a failed attempt into a memory."""

    def __init__(self, service: Service, *, prices: Prices = PRICES) -> None:
        self._service = service
        self._prices = prices

    async def reflect(self, case: Case, report: Report, *, keep: KeepUsage, now: datetime) -> MemoryEntry:
        """Reflect on the last attempt with the rung's model.

        The case holds the verdict on that attempt, the memory before it, and an Incident whose `status.usage` is up
        to date. When the call fails, for whatever reason, the evaluator's feedback takes the reflection's place:
        the ladder never waits for a reflection.
        """
        attempts = case.incident.status.attempts
        number = attempts[-1].number if attempts else 1
        left = time_left(case.policy.budget, started_at=case.incident.status.started_at, now=now)
        try:
            async with asyncio.timeout(min(case.rung.timeout, left).total_seconds()):
                text = await self._ask(case, report, keep)
        except (ModelError, BudgetExceeded, TimeoutError):
            text = ""
        if not text.strip():
            return feedback_entry(number, case.verdict, feedback=case.policy.feedback)
        return reflection_entry(number, text)

    async def _ask(self, case: Case, report: Report, keep: KeepUsage) -> str:
        meter = Meter.for_case(self._service, case, self._prices, keep=keep)
        system: TextBlockParam = {"type": "text", "text": read_prompt("reflection")}
        prompt = Prompt(
            model=case.rung.model,
            system=(system,),
            messages=({"role": "user", "content": brief_reflection(case, report)},),
            max_tokens=MAX_TOKENS,
        )
        reply = await meter.ask(prompt)
        return reply.text if reply.stop in ("end_turn", "max_tokens") else ""
