"""Who acts on which rung: the model's actor where the rung names a model, else the runbook."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sanare.actor.actor import Actor, Case, KeepUsage, Report
from sanare.actor.llm import LlmActor
from sanare.actor.runbook import Runbook
from sanare.api.policy import PolicySpec, Rung
from sanare.api.status import MemoryEntry
from sanare.decision.budget import check_price
from sanare.decision.pricing import Prices
from sanare.errors import BudgetExceeded, InvalidIncident


class Roster:
    """The actors of one operator."""

    def __init__(self, llm: LlmActor, *, prices: Prices, clock: Callable[[], datetime]) -> None:
        self._llm = llm
        self._prices = prices
        self._runbook = Runbook()
        self._reflector = llm.reflector()
        self._clock = clock

    def for_rung(self, rung: Rung) -> Actor:
        """The actor of a rung."""
        return self._llm if rung.model else self._runbook

    def require(self, policy: PolicySpec) -> None:
        """Raises InvalidIncident where a rung's model cannot be used at all."""
        models = [rung.model for rung in policy.ladder if rung.model]
        if models and not self._llm.available:
            raise InvalidIncident(
                "ModelKeyMissing",
                f"the policy's ladder names the model {models[0]}, but the operator has no key: set "
                f"ANTHROPIC_API_KEY (Helm: model.existingSecret), or use rungs without a model (the runbook)",
            )
        for model in models:
            try:
                check_price(policy.budget, model, self._prices.get(model))
            except BudgetExceeded as error:
                raise InvalidIncident("PriceUnknown", str(error)) from error

    async def reflect(self, case: Case, report: Report, *, keep: KeepUsage) -> MemoryEntry:
        """One reflection on the last attempt, by the rung's model."""
        return await self._reflector.reflect(case, report, keep=keep, now=self._clock())

    async def close(self) -> None:
        """Close what the actors hold open."""
        await self._llm.close()
