"""The runbook applies what has exactly one candidate, in order, and tells what it left and why."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from sanare.actor.actor import Case, End, Report
from sanare.actor.runbook import Runbook, plan_repairs
from sanare.api.attempt import Tier
from sanare.api.incident import Incident
from sanare.api.manifest import Ref
from sanare.api.policy import PolicySpec, Rung
from sanare.api.status import Usage
from sanare.api.verdict import Result, Verdict
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.evaluator.snapshot import Snapshot
from sanare.kubectl.tool import Command, ToolResult

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RESTART = Command(("rollout", "restart", "deployment/web"))


class FakeKubectl:
    """Answers in the order told; success where nothing is told."""

    def __init__(self, *answers: ToolResult) -> None:
        self.answers = list(answers)
        self.commands: list[Command] = []

    async def run(self, command: Command) -> ToolResult:
        self.commands.append(command)
        return self.answers.pop(0) if self.answers else ToolResult("patched")


async def keep(usage: Usage) -> None:
    raise AssertionError("the runbook uses no model")


def command(word: str) -> Command:
    return Command(("patch", "deployment/web", "-p", word))


def finding(
    field: str = "image",
    value: str = "new",
    *,
    kind: str = "ImageNotPullable",
    confidence: Confidence = Confidence.HIGH,
    commands: tuple[Command, ...] = (),
    missing: str = "",
) -> Finding:
    candidates = () if missing else (Candidate(value, "it stands there", commands or (command(value),)),)
    ref = Ref("Deployment", "shop", "web")
    return Finding(kind, ref, f"spec.{field}", "old", "something", confidence, candidates, missing)


def case(*findings: Finding, attempts: Any = ()) -> Case:
    incident = Incident.parse(
        {
            "metadata": {"name": "i", "namespace": "shop"},
            "spec": {"targets": [{"kind": "Deployment", "name": "web"}]},
            "status": {"attempts": attempts},
        }
    )
    return Case(
        incident=incident,
        policy=PolicySpec(),
        rung=Rung(tier=Tier.PLAIN_RETRY),
        snapshot=Snapshot("shop", NOW),
        verdict=Verdict(result=Result.NOT_FIXED, reason="down", evaluated_at=NOW),
        findings=findings,
    )


async def act(kubectl: FakeKubectl, *findings: Finding, attempts: Any = ()) -> Report:
    return await Runbook().act(case(*findings, attempts=attempts), kubectl, now=NOW, keep=keep)


async def test_every_decided_finding_is_applied_in_order() -> None:
    kubectl = FakeKubectl()
    report = await act(kubectl, finding("image", "a"), finding("env", "b", confidence=Confidence.MEDIUM))
    assert kubectl.commands == [command("a"), command("b")]
    assert report.end is End.COMPLETE
    assert [(turn.exit_code, turn.output) for turn in report.trajectory] == [(0, "patched"), (0, "patched")]
    assert report.trajectory[0].command == "kubectl patch deployment/web -p a"


async def test_restarts_come_last_and_once() -> None:
    kubectl = FakeKubectl()
    first = finding("data.BIND", "a", commands=(command("a"), RESTART))
    second = finding("data.MODE", "b", commands=(command("b"), RESTART))
    await act(kubectl, first, second)
    assert kubectl.commands == [command("a"), command("b"), RESTART]


@pytest.mark.parametrize(
    ("findings", "reason"),
    [
        pytest.param((), "nothing to apply", id="no finding"),
        pytest.param((finding(missing="two tags fit"),), "two tags fit", id="no single candidate"),
        pytest.param((finding(confidence=Confidence.LOW),), "evidence is weak", id="weak evidence"),
        pytest.param((finding(value="a"), finding(value="b")), "disagree: a, b", id="two values for one field"),
    ],
)
async def test_nothing_is_done_without_a_decision(findings: tuple[Finding, ...], reason: str) -> None:
    kubectl = FakeKubectl()
    report = await act(kubectl, *findings)
    assert kubectl.commands == []
    assert report.end is End.NO_CANDIDATE
    assert reason in report.note


async def test_what_is_decided_is_done_beside_what_is_not() -> None:
    kubectl = FakeKubectl()
    report = await act(kubectl, finding("image", "a"), finding("port", kind="TargetPortWrong", missing="no answer"))
    assert kubectl.commands == [command("a")]
    assert report.end is End.COMPLETE
    assert "ImageNotPullable Deployment/web image -> a" in report.note
    assert "left TargetPortWrong Deployment/web: no answer" in report.note


@pytest.mark.parametrize(
    ("answers", "end", "count"),
    [
        pytest.param((ToolResult("no", 126, "Scope"),), End.NO_CANDIDATE, "0 of 2", id="refused at once"),
        pytest.param(
            (ToolResult("ok"), ToolResult("test failed", 1)), End.COMPLETE, "1 of 2", id="failed half-way"
        ),
    ],
)
async def test_it_stops_at_the_first_command_that_does_not_work(
    answers: tuple[ToolResult, ...], end: End, count: str
) -> None:
    kubectl = FakeKubectl(*answers)
    report = await act(kubectl, finding("image", "a"), finding("env", "b"))
    assert len(kubectl.commands) == len(answers)
    assert report.end is end
    assert f"stopped after {count} commands" in report.note


async def test_the_rule_that_refused_is_told() -> None:
    report = await act(FakeKubectl(ToolResult("another namespace", 126, "Scope")), finding())
    assert "refused by Scope: another namespace" in report.note


def attempt(result: str, note: str) -> dict[str, Any]:
    return {
        "number": 1,
        "tier": "PlainRetry",
        "state": "Acted",
        "startedAt": "2026-01-01T00:00:00Z",
        "result": result,
        "note": note,
    }


async def test_a_plan_that_was_applied_in_vain_is_not_applied_again() -> None:
    first = await act(FakeKubectl(), finding())
    kubectl = FakeKubectl()
    again = await act(kubectl, finding(), attempts=[attempt("NotFixed", first.note)])
    assert kubectl.commands == []
    assert again.end is End.NO_CANDIDATE
    assert "attempt 1" in again.note


async def test_a_plan_with_anything_new_in_it_is_applied() -> None:
    first = await act(FakeKubectl(), finding())
    kubectl = FakeKubectl()
    await act(kubectl, finding(), finding("port", "8080"), attempts=[attempt("NotFixed", first.note)])
    assert len(kubectl.commands) == 2


async def test_a_plan_that_could_not_be_judged_may_be_applied_again() -> None:
    first = await act(FakeKubectl(), finding())
    kubectl = FakeKubectl()
    await act(kubectl, finding(), attempts=[attempt("Unverified", first.note)])
    assert len(kubectl.commands) == 1


def test_the_digest_covers_standard_input() -> None:
    plans = [plan_repairs([finding(commands=(Command(("apply", "-f", "-"), stdin=text),))]) for text in ("a", "b")]
    assert plans[0].digest != plans[1].digest


async def test_the_note_fits_into_an_attempt() -> None:
    many = [finding(f"field{n}", f"value{n}") for n in range(40)]
    report = await act(FakeKubectl(), *many)
    assert len(report.note.encode()) <= 300


@pytest.mark.parametrize(
    ("findings", "lacks"),
    [
        pytest.param((), True, id="nothing found"),
        pytest.param((finding(missing="no neighbour runs it"),), True, id="nothing that fits"),
        pytest.param((finding(confidence=Confidence.LOW),), True, id="a weak guess"),
        pytest.param((finding(),), False, id="one candidate"),
        pytest.param((finding(), finding("port", missing="which?")), False, id="one candidate, one riddle"),
    ],
)
def test_it_is_better_looked_again_while_nothing_may_be_applied(findings: tuple[Finding, ...], lacks: bool) -> None:
    assert Runbook().lacks_evidence(case(*findings)) is lacks


def test_what_was_applied_in_vain_is_no_evidence() -> None:
    note = f"plan {plan_repairs([finding()]).digest}: image -> new"
    assert Runbook().lacks_evidence(case(finding(), attempts=[attempt("NotFixed", note)]))
    assert not Runbook().lacks_evidence(case(finding(), attempts=[attempt("Unverified", note)]))
