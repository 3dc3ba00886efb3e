"""Every call to the model passes here: reserved before, counted after, kept before anyone acts on the reply."""

from __future__ import annotations

from sanare import telemetry
from sanare.actor.actor import Case, KeepUsage
from sanare.actor.llm.service import Prompt, Reply, Service
from sanare.api.policy import Budget
from sanare.api.status import Usage
from sanare.decision.budget import Need, check_price, estimate_tokens, reserve
from sanare.decision.pricing import Price, Prices, add, cost_of
from sanare.errors import ModelError


class Meter:
    """The budget of one Incident at one model's price.

    Attributes:
        total: the Incident's usage, everything before this turn included.
        own: what this turn has used.
    """

    def __init__(
        self, service: Service, budget: Budget, price: Price | None, *, total: Usage, keep: KeepUsage
    ) -> None:
        self._service = service
        self._budget = budget
        self._price = price
        self._keep = keep
        self.total = total
        self.own = Usage()

    @classmethod
    def for_case(cls, service: Service, case: Case, prices: Prices, *, keep: KeepUsage) -> Meter:
        """The meter of a case. Raises BudgetExceeded when a USD limit meets a model without a price."""
        model, budget = case.rung.model, case.policy.budget
        check_price(budget, model, prices.get(model))
        return cls(service, budget, prices.get(model), total=case.incident.status.usage, keep=keep)

    async def ask(self, prompt: Prompt) -> Reply:
        """One call. Raises BudgetExceeded before anything is sent, or a ModelError."""
        need = Need(estimate_tokens(prompt.size), prompt.max_tokens)
        reserve(self._budget, self.total, need, self._price)
        try:
            reply = await self._service.send(prompt)
        except ModelError as error:
            telemetry.MODEL_CALLS.labels(model=prompt.model, end=type(error).__name__).inc()
            raise
        used = reply.usage.model_copy(update={"cost_usd": cost_of(reply.usage, self._price)})
        self.own = add(self.own, used)
        self.total = add(self.total, used)
        _count(prompt.model, used)
        await self._keep(self.total)
        return reply


def _count(model: str, used: Usage) -> None:
    """Metrics of one answered call."""
    telemetry.MODEL_CALLS.labels(model=model, end="Answered").inc()
    telemetry.MODEL_TOKENS.labels(model=model, kind="input").inc(used.input_tokens)
    telemetry.MODEL_TOKENS.labels(model=model, kind="output").inc(used.output_tokens)
    telemetry.MODEL_TOKENS.labels(model=model, kind="cacheRead").inc(used.cache_read_tokens)
    telemetry.MODEL_TOKENS.labels(model=model, kind="cacheWrite").inc(used.cache_write_tokens)
    telemetry.MODEL_COST.labels(model=model).inc(used.cost_usd or 0)
