"""Near misses are slips of the pen, nothing wider."""

from __future__ import annotations

import pytest

from sanare.diagnosis.likeness import distance, is_transposed, nearest


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [
        pytest.param("web", "web", 0, id="equal"),
        pytest.param("wbe", "web", 1, id="two letters swapped are one edit"),
        pytest.param("1.4.2-slin", "1.4.2-slim", 1, id="one letter replaced"),
        pytest.param("web-conf", "web-config", 2, id="two letters missing"),
        pytest.param("", "abc", 3, id="everything missing"),
    ],
)
def test_distance_counts_edits(one: str, other: str, edits: int) -> None:
    assert distance(one, other) == distance(other, one) == edits


@pytest.mark.parametrize(
    ("word", "among", "expected"),
    [
        pytest.param("cart-confg", ["cart-config", "web-config"], ("cart-config",), id="the one slip"),
        pytest.param("app-confg", ["app-config", "api-config"], ("app-config",), id="the nearer of two"),
        pytest.param("app-x", ["app-y", "app-z"], ("app-y", "app-z"), id="two equally near are both named"),
        pytest.param("web-config", ["shop-web-config"], ("shop-web-config",), id="a whole part is missing"),
        pytest.param("web", ["worker", "db"], (), id="other words are no slips"),
        pytest.param("api", ["web"], (), id="short names need one edit"),
        pytest.param("web-config", ["cart-config"], (), id="another application's name"),
        pytest.param("web", ["web"], (), id="the word itself is no miss"),
    ],
)
def test_nearest_names_the_slips(word: str, among: list[str], expected: tuple[str, ...]) -> None:
    assert nearest(word, among) == expected


def test_transposed_numbers_have_the_same_digits_in_another_order() -> None:
    assert is_transposed(8008, 8080)
    assert not is_transposed(8080, 8080)
    assert not is_transposed(8080, 9090)
