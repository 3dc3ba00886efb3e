"""Every command of the corpus, as a table: refused, let through, or left to a person."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sanare.errors import Refused
from sanare.kubectl.scope import Scope
from sanare.kubectl.screen import screen
from sanare.kubectl.tool import Command

CORPUS = Path(__file__).parents[2] / "data" / "kubectl_corpus" / "kubectl.jsonl"
CASES = [json.loads(line) for line in CORPUS.read_text().splitlines()]
SCOPE = Scope(
    namespaces=frozenset({"shop", "payments"}),
    default="shop",
    operator_namespace="sanare-system",
    max_replicas=50,
    registries=("nginx", "registry.internal/"),
)


def decide(argv: list[str], stdin: str) -> str:
    try:
        rendered = screen(Command(tuple(argv), stdin), SCOPE)
    except Refused as refusal:
        return "needs-approval" if refusal.rule.startswith("NeedsApproval") else "deny"
    return "allow" if rendered.writes else "allow-read"


@pytest.mark.parametrize("case", CASES, ids=[f"{c['id']}-{c['tag']}" for c in CASES])
def test_a_command_of_the_corpus_is_decided_as_labelled(case: dict[str, object]) -> None:
    argv, stdin = case["argv"], case.get("stdin", "")
    assert isinstance(argv, list)
    assert isinstance(stdin, str)
    decision = decide(argv, stdin)
    expected = case["expect"]
    if expected == "allow" and any(str(word).startswith("--dry-run=") for word in argv):
        expected = "allow-read"
    assert decision == expected, case["why"]


@pytest.mark.parametrize("case", [c for c in CASES if c["expect"].startswith("allow")], ids=lambda c: str(c["id"]))
def test_a_rendered_command_renders_to_itself(case: dict[str, object]) -> None:
    once = screen(Command(tuple(case["argv"]), str(case.get("stdin", ""))), SCOPE)  # type: ignore[arg-type]
    assert screen(once.command, SCOPE) == once
