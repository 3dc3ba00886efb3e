"""What a model call costs: list prices as data with a date, and the arithmetic. Pure.

A model without an entry has no price: its cost is None, never zero. Prices change; an administrator gives others
with `parse_prices`, whose entries win over the table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from sanare.api.status import Usage
from sanare.errors import ConfigError

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Rates:
    """USD per million tokens, by kind. `cache_write` is the five-minute kind, the only one that is asked for."""

    input: float
    output: float
    cache_write: float
    cache_read: float

    @property
    def dearest_input(self) -> float:
        """The most that one token of a prompt can cost, whatever the cache makes of it."""
        return max(self.input, self.cache_write, self.cache_read)


@dataclass(frozen=True, slots=True)
class Price:
    """A model's rates; some models charge more for every token of a request with a long prompt.

    Attributes:
        long_prompt: prompt tokens, cached ones included, above which `long_rates` apply.
    """

    rates: Rates
    long_prompt: int = 0
    long_rates: Rates | None = None

    def at(self, prompt_tokens: int) -> Rates:
        """The rates of a request whose prompt has that many tokens."""
        return self.long_rates if self.long_rates and prompt_tokens > self.long_prompt else self.rates


Prices = Mapping[str, Price]

_OPUS_5 = Price(Rates(input=5.0, output=25.0, cache_write=6.25, cache_read=0.5))
_HAIKU_4_5 = Price(Rates(input=1.0, output=5.0, cache_write=1.25, cache_read=0.1))
_FABLE_5_1 = Price(Rates(input=10.0, output=50.0, cache_write=12.5, cache_read=0.25))

# Taken from the vendor's pricing page on 2026-11-30: standard tier, five-minute cache writes.
PRICES: Prices = {
    "claude-haiku-5-5": Price(
        Rates(input=0.1, output=0.5, cache_write=0.125, cache_read=0.01),
        long_prompt=100_000,
        long_rates=Rates(input=0.5, output=2.5, cache_write=0.625, cache_read=0.05),
    ),
    "claude-sonnet-5-5": Price(Rates(input=2.0, output=10.0, cache_write=2.5, cache_read=0.1)),
    "claude-opus-5-5": Price(Rates(input=4.0, output=20.0, cache_write=5.0, cache_read=0.2)),
    "claude-fable-5-1": _FABLE_5_1,
    "claude-opus-5": _OPUS_5,
    "claude-opus-4-8": _OPUS_5,
    "claude-opus-4-7": _OPUS_5,
    "claude-opus-4-6": _OPUS_5,
    "claude-haiku-4-5": _HAIKU_4_5,
    "claude-haiku-4-5-20251001": _HAIKU_4_5,
    "claude-sonnet-4-6": Price(Rates(input=3.0, output=15.0, cache_write=3.75, cache_read=0.3)),
}


def cost_of(usage: Usage, price: Price | None) -> float | None:
    """USD for the tokens of ONE call (a long prompt is priced by call). None where the price is unknown."""
    if price is None:
        return None
    rates = price.at(usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens)
    return (
        usage.input_tokens * rates.input
        + usage.output_tokens * rates.output
        + usage.cache_write_tokens * rates.cache_write
        + usage.cache_read_tokens * rates.cache_read
    ) / _MILLION


def worst_cost(prompt_tokens: int, output_tokens: int, price: Price) -> float:
    """USD that a call of at most so many tokens cannot exceed."""
    rates = price.at(prompt_tokens)
    return (prompt_tokens * rates.dearest_input + output_tokens * rates.output) / _MILLION


def add(total: Usage, call: Usage) -> Usage:
    """The sum of two usages. A cost that is unknown once stays unknown."""
    known = total.cost_usd is not None and call.cost_usd is not None
    return Usage(
        calls=total.calls + call.calls,
        input_tokens=total.input_tokens + call.input_tokens,
        output_tokens=total.output_tokens + call.output_tokens,
        cache_read_tokens=total.cache_read_tokens + call.cache_read_tokens,
        cache_write_tokens=total.cache_write_tokens + call.cache_write_tokens,
        cost_usd=round((total.cost_usd or 0) + (call.cost_usd or 0), 9) if known else None,
    )


class _Entry(BaseModel):
    """One model of a price file. Cache prices default to the input price, the dearest reading of an absent one."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_write: float | None = Field(default=None, ge=0, alias="cacheWrite")
    cache_read: float | None = Field(default=None, ge=0, alias="cacheRead")

    def price(self) -> Price:
        write = self.input * 1.25 if self.cache_write is None else self.cache_write
        read = self.input if self.cache_read is None else self.cache_read
        return Price(Rates(input=self.input, output=self.output, cache_write=write, cache_read=read))


_FILE = TypeAdapter(dict[str, _Entry])


def parse_prices(text: str) -> Prices:
    """The table with the entries of a JSON text laid over it: `{"model": {"input": 2, "output": 10}}`.

    USD per million tokens; `cacheWrite` and `cacheRead` default to 1.25 and 1 times the input price.
    Raises ConfigError naming the field.
    """
    try:
        entries = _FILE.validate_python(json.loads(text))
    except json.JSONDecodeError as error:
        raise ConfigError(f"the price file is not JSON: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "the file"
        raise ConfigError(
            f'price file: {where}: {first["msg"]}; write {{"model": {{"input": 2.0, "output": 10.0}}}}'
        ) from error
    return {**PRICES, **{model: entry.price() for model, entry in entries.items()}}
