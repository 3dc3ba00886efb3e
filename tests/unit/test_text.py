"""External text: nothing hidden, no credentials, never longer than asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanare.text import cap, cap_middle, clean, one_line, redact, strip_hidden


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[2K\x1b[1A\x1b[8mapprove: yes\x1b[0m done", "approve: yes done"),
        ("\x1b]0;title\x07text", "text"),
        ("a\x00b\x07c\x7fd\x9be", "abcd"),
        ("keeps\ttabs\nand lines\r\n", "keeps\ttabs\nand lines\n"),
        ("healthy \U000e0064\U000e0065\U000e006c", "healthy "),
        ("left\u202eright\u2066x\u200b", "leftrightx"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("plain äöü 漢字 🔥", "plain äöü 漢字 🔥"),
    ],
)
def test_what_hides_is_removed(raw: str, shown: str) -> None:
    assert strip_hidden(raw) == shown


@pytest.mark.parametrize(
    "secret",
    [
        "password=hunter22",
        "DB_PASSWORD: hunter22",
        '{"apiKey": "hunter22"}',
        "Authorization: Bearer hunter22hunter22",
        "postgres://app:hunter22@db/shop",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiJodW50ZXIyMiJ9.hunter22",
        "sk-ant-hunter22hunter22",
        "-----BEGIN RSA PRIVATE KEY-----\nhunter22\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nhunter22 cut off",
        "?access_token=hunter22&x=1",
    ],
)
def test_credentials_are_masked(secret: str) -> None:
    assert "hunter22" not in redact(f"before {secret} after")


@pytest.mark.parametrize(
    "innocent",
    [
        "Deployment/web: container web cannot pull image shop.local/app:1.4.2",
        "the Secret db-credentials is missing",
        "serviceAccountName: tokens-reader",
        "GET /api/v1/namespaces/shop/pods/web-6d5f: not found",
    ],
)
def test_ordinary_text_is_left_alone(innocent: str) -> None:
    assert redact(innocent) == innocent


@given(st.text(max_size=400), st.integers(min_value=0, max_value=200))
def test_a_cap_is_kept_in_bytes(text: str, limit: int) -> None:
    for cut in (cap(text, limit), cap_middle(text, limit), clean(text, limit), one_line(text, limit)):
        assert len(cut.encode("utf-8", "replace")) <= limit


def test_a_cut_says_how_much_there_was() -> None:
    assert cap("x" * 1000, 100).endswith("…[1000 bytes]")
    assert "900 of 1000 bytes cut" in cap_middle("x" * 1000, 100)


def test_one_line_is_one_line() -> None:
    assert one_line("a\n\n  b\tc ", 100) == "a b c"


@pytest.mark.parametrize(
    "word", ["x", "token", "eyJ-", "sk-ab", "authorization: ", "://a:", "-----BEGIN ", "=", " "]
)
def test_redaction_costs_no_more_than_the_length_of_the_text(word: str) -> None:
    """A pattern that tries every start against every end would not come back from this in the life of a test."""
    long = word * (200_000 // len(word))
    assert redact(long)[:1] in (word[0], "[")


@pytest.mark.parametrize(
    "text", ["password=hunter22", "token: 'abc def', next", "Authorization: Bearer abcdefgh12"]
)
def test_what_is_redacted_stays_as_it_is_when_redacted_again(text: str) -> None:
    assert redact(redact(text)) == redact(text)
