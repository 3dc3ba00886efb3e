"""What a workload writes reaches the reader without what hides, and without what it must not know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sanare.kubectl.output import readable
from sanare.kubectl.runner import Finished
from sanare.text import strip_hidden

CORPUS = Path(__file__).parents[2] / "data" / "kubectl_corpus" / "injection.jsonl"
CASES = [json.loads(line) for line in CORPUS.read_text().splitlines()]


def told(stdout: str, stderr: str = "", *, cut: bool = False, limit: int = 4096) -> str:
    streams = [text.encode("utf-8", "surrogatepass") for text in (stdout, stderr)]
    return readable(Finished(0, *streams, cut=cut), token="T0KEN-of-the-gate", limit=limit)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_planted_text_arrives_without_hidden_characters(case: dict[str, str]) -> None:
    text = told(case["text"])
    assert text == strip_hidden(text)
    assert "\x1b" not in text


def test_the_gates_token_is_taken_out_wherever_it_stands() -> None:
    text = told("", 'Get "http://127.0.0.1:9/T0KEN-of-the-gate/api/v1": refused; T0KEN-of-the-gate')
    assert "T0KEN" not in text
    assert "http://127.0.0.1:9/api/v1" in text


def test_long_output_keeps_start_and_end_and_says_what_is_missing() -> None:
    text = told("start " + "x" * 9000 + " end", limit=1000)
    assert len(text.encode()) <= 1000
    assert text.startswith("start")
    assert text.endswith("end")
    assert "bytes cut" in text


def test_a_stopped_command_says_so() -> None:
    assert told("a", "b", cut=True) == "a\nb\n[the output was longer and kubectl was stopped]"
