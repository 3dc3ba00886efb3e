"""Prices, costs and reservations: unknown is not free, and a limit holds before it is passed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sanare.api.policy import Budget
from sanare.api.status import Usage
from sanare.decision.budget import Need, check_price, estimate_tokens, reserve, time_left
from sanare.decision.pricing import PRICES, Price, Rates, add, cost_of, parse_prices, worst_cost
from sanare.errors import BudgetExceeded, ConfigError

FLAT = Price(Rates(input=2.0, output=10.0, cache_write=2.5, cache_read=0.1))
STEPPED = Price(
    Rates(input=1.0, output=5.0, cache_write=1.25, cache_read=0.1),
    long_prompt=100,
    long_rates=Rates(input=5.0, output=25.0, cache_write=6.25, cache_read=0.5),
)
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("usage", "price", "cost"),
    [
        pytest.param(Usage(input_tokens=1_000_000), FLAT, 2.0, id="input"),
        pytest.param(Usage(output_tokens=1_000_000), FLAT, 10.0, id="output"),
        pytest.param(Usage(cache_write_tokens=1_000_000), FLAT, 2.5, id="cache write"),
        pytest.param(Usage(cache_read_tokens=1_000_000), FLAT, 0.1, id="cache read"),
        pytest.param(Usage(input_tokens=100, output_tokens=10), STEPPED, 150e-6, id="a prompt at the step"),
        pytest.param(Usage(input_tokens=101, output_tokens=10), STEPPED, 755e-6, id="a prompt above the step"),
        pytest.param(
            Usage(input_tokens=1, cache_read_tokens=100), STEPPED, 55e-6, id="cached tokens count as prompt"
        ),
        pytest.param(Usage(input_tokens=5), None, None, id="no price"),
    ],
)
def test_a_call_costs_what_its_tokens_cost(usage: Usage, price: Price | None, cost: float | None) -> None:
    assert cost_of(usage, price) == (None if cost is None else pytest.approx(cost))


def test_usages_add_up_and_an_unknown_cost_stays_unknown() -> None:
    known, unknown = Usage(calls=1, input_tokens=5, cost_usd=0.1), Usage(calls=1, cost_usd=None)

    assert add(known, known) == Usage(calls=2, input_tokens=10, cost_usd=0.2)
    assert add(known, unknown).cost_usd is None
    assert add(add(known, unknown), known).cost_usd is None


@pytest.mark.parametrize("prompt", [0, 1, 99, 100, 101, 5_000])
@pytest.mark.parametrize("cached", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("price", [pytest.param(FLAT, id="flat"), pytest.param(STEPPED, id="stepped")])
def test_no_call_costs_more_than_its_worst_case(prompt: int, cached: float, price: Price) -> None:
    written = int(prompt * cached)
    usage = Usage(input_tokens=prompt - written, cache_write_tokens=written, output_tokens=50)

    actual = cost_of(usage, price)
    assert actual is not None
    assert actual <= worst_cost(prompt, 50, price) + 1e-12


@pytest.mark.parametrize(
    ("size", "tokens"),
    [pytest.param(0, 0, id="nothing"), pytest.param(1, 1, id="one"), pytest.param(5, 3, id="odd")],
)
def test_a_prompt_is_estimated_at_two_bytes_a_token(size: int, tokens: int) -> None:
    assert estimate_tokens(size) == tokens


@pytest.mark.parametrize(
    ("budget", "used", "need"),
    [
        pytest.param(Budget(), Usage(input_tokens=10**9), Need(10**6, 10**6), id="no limit"),
        pytest.param(Budget(tokens=100), Usage(input_tokens=40), Need(50, 10), id="exactly the tokens left"),
        pytest.param(Budget(cost_usd=0.1), Usage(cost_usd=0.0), Need(0, 10_000), id="exactly the money left"),
    ],
)
def test_what_fits_the_budget_goes_through(budget: Budget, used: Usage, need: Need) -> None:
    reserve(budget, used, need, FLAT)


@pytest.mark.parametrize(
    ("budget", "used", "need", "price", "limit"),
    [
        pytest.param(Budget(tokens=100), Usage(input_tokens=41), Need(50, 10), FLAT, "tokens", id="tokens"),
        pytest.param(Budget(tokens=100), Usage(cache_read_tokens=41), Need(50, 10), FLAT, "tokens", id="cached"),
        pytest.param(Budget(tokens=0), Usage(), Need(1, 0), FLAT, "tokens", id="a budget of nothing"),
        pytest.param(Budget(cost_usd=0.1), Usage(), Need(0, 10_001), FLAT, "costUSD", id="money"),
        pytest.param(Budget(cost_usd=0), Usage(), Need(1, 1), FLAT, "costUSD", id="no money"),
        pytest.param(
            Budget(cost_usd=9), Usage(cost_usd=None), Need(1, 1), FLAT, "costUSD", id="cost so far unknown"
        ),
        pytest.param(Budget(cost_usd=9), Usage(), Need(1, 1), None, "costUSD", id="price unknown"),
    ],
)
def test_what_could_pass_a_limit_is_refused(
    budget: Budget, used: Usage, need: Need, price: Price | None, limit: str
) -> None:
    with pytest.raises(BudgetExceeded) as caught:
        reserve(budget, used, need, price)

    assert caught.value.limit == limit


def test_a_limit_in_usd_needs_a_price() -> None:
    check_price(Budget(), "unheard-of", None)
    check_price(Budget(cost_usd=1), "flat", FLAT)
    with pytest.raises(BudgetExceeded, match="price of unheard-of is unknown"):
        check_price(Budget(cost_usd=1), "unheard-of", None)


@pytest.mark.parametrize(
    ("started", "minutes"),
    [
        pytest.param(None, 60, id="not started"),
        pytest.param(NOW - timedelta(minutes=20), 40, id="a third over"),
        pytest.param(NOW - timedelta(hours=9), 0, id="long over"),
    ],
)
def test_the_wall_clock_runs_from_the_incident_s_start(started: datetime | None, minutes: int) -> None:
    assert time_left(Budget(), started_at=started, now=NOW) == timedelta(minutes=minutes)


def test_a_price_file_is_laid_over_the_table() -> None:
    prices = parse_prices('{"claude-opus-5-5": {"input": 1, "output": 2}, "mine": {"input": 4, "output": 8}}')

    assert prices["claude-opus-5-5"].rates == Rates(input=1, output=2, cache_write=1.25, cache_read=1)
    assert prices["mine"].rates.output == 8
    assert prices["claude-haiku-5-5"] == PRICES["claude-haiku-5-5"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("{", "not JSON", id="broken"),
        pytest.param("[]", "the file", id="a list"),
        pytest.param('{"m": {"input": 1}}', "m.output", id="half a price"),
        pytest.param('{"m": {"input": -1, "output": 1}}', "m.input", id="negative"),
        pytest.param('{"m": {"input": 1, "output": 1, "discount": 2}}', "m.discount", id="an unknown field"),
    ],
)
def test_a_wrong_price_file_is_refused_by_field(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        parse_prices(text)


def test_no_price_in_the_table_is_free() -> None:
    for price in PRICES.values():
        for rates in filter(None, (price.rates, price.long_rates)):
            assert 0 < rates.cache_read <= rates.input <= rates.cache_write < rates.output
