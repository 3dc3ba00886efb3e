"""What a model call may still use up, decided before it is made. Pure.

A call is reserved at its worst: every prompt token at the dearest rate, every output token that it may write. What
it then really used is added to the Incident's usage, so that the next reservation starts from the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sanare.api.policy import Budget
from sanare.api.status import Usage
from sanare.decision.pricing import Price, worst_cost
from sanare.errors import BudgetExceeded

# The tokenizers of the models in use take three to four bytes of English and of YAML for a token; two keeps the
# estimate above the truth for dense text such as base64 and digests.
_BYTES_PER_TOKEN = 2


@dataclass(frozen=True, slots=True)
class Need:
    """The most that one call can use, in tokens."""

    prompt_tokens: int
    output_tokens: int

    @property
    def tokens(self) -> int:
        """Both together."""
        return self.prompt_tokens + self.output_tokens


def estimate_tokens(size: int) -> int:
    """An upper estimate of the tokens in a prompt of so many UTF-8 bytes."""
    return -(-size // _BYTES_PER_TOKEN)


def used_tokens(usage: Usage) -> int:
    """Every token that was paid for, cached ones included."""
    return usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens


def check_price(budget: Budget, model: str, price: Price | None) -> None:
    """A limit in USD cannot be kept without a price. Raises BudgetExceeded saying how to give one."""
    if budget.cost_usd is not None and price is None:
        raise BudgetExceeded(
            "costUSD",
            f"budget.costUSD is set and the price of {model} is unknown: name its price in the file of "
            "SANARE_PRICES, choose a model with a known price, or limit budget.tokens instead",
        )


def reserve(budget: Budget, used: Usage, need: Need, price: Price | None) -> None:
    """Let a call through or raise BudgetExceeded naming the limit that its worst case would pass."""
    if budget.tokens is not None and used_tokens(used) + need.tokens > budget.tokens:
        raise BudgetExceeded(
            "tokens",
            f"budget.tokens is {budget.tokens}: {used_tokens(used)} used, the next call may take {need.tokens}",
        )
    if budget.cost_usd is None:
        return
    if price is None or used.cost_usd is None:
        raise BudgetExceeded(
            "costUSD", f"budget.costUSD is {budget.cost_usd:g} and the cost so far or of the next call is unknown"
        )
    worst = worst_cost(need.prompt_tokens, need.output_tokens, price)
    if used.cost_usd + worst > budget.cost_usd:
        raise BudgetExceeded(
            "costUSD",
            f"budget.costUSD is {budget.cost_usd:g}: {used.cost_usd:.4f} used, the next call may cost {worst:.4f}",
        )


def time_left(budget: Budget, *, started_at: datetime | None, now: datetime) -> timedelta:
    """What is left of the wall clock, which runs from the Incident's start; never negative."""
    started = now if started_at is None else started_at
    return max(started + budget.wall_clock - now, timedelta(0))
