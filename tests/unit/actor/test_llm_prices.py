"""The price file of the administrator."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanare.actor.llm.actor import read_prices
from sanare.decision.pricing import PRICES
from sanare.errors import ConfigError


def test_without_a_file_the_table_holds() -> None:
    assert read_prices(None) == PRICES


def test_a_file_adds_a_model(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"mine": {"input": 1, "output": 3}}')

    assert read_prices(path)["mine"].rates.output == 3


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"SANARE_PRICES=.*absent\.json"):
        read_prices(tmp_path / "absent.json")
