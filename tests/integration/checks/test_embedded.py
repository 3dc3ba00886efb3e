"""Declared checks against the embedded cluster: what passes, what fails, and what could not be asked."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from sanare import errors
from sanare.api.model import API_VERSION
from sanare.api.policy import PolicySpec
from sanare.api.verdict import Result
from sanare.evaluator.evaluator import Evaluator
from sanare.kube.resources import BY_KIND
from tests.integration.checks.conftest import SPEC, Shop

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEYS = {"as": "keys", "apiVersion": "v1", "kind": "Secret", "name": "keys"}
GADGET = {"as": "web", "apiVersion": "example.org/v1", "kind": "Gadget", "name": "web"}
UP = {"query": "up", "op": ">", "value": 0}
WEB = {"as": "web", "kind": "Deployment", "name": "web"}
CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("http", {"http": {"service": "web"}}, "Passed", "", "is answered with 200"),
    ("contains", {"http": {"service": "web", "contains": "order-"}}, "Passed", "", "200"),
    ("matches", {"http": {"service": "web", "matches": r"order-\d{4}"}}, "Passed", "", "200"),
    ("matches not", {"http": {"service": "web", "matches": r"^\d+$"}}, "Failed", "DeclaredCheck", "does not match"),
    ("another status", {"http": {"service": "web", "status": 204}}, "Failed", "DeclaredCheck", "200, not 204"),
    ("no route", {"http": {"service": "web", "path": "/none", "status": 404}}, "Passed", "", "404"),
    ("no Service", {"http": {"service": "none"}}, "Unknown", "NotFound", "Service/none does not exist"),
    ("no port", {"http": {"service": "web", "port": "grpc"}}, "Unknown", "NotFound", "no TCP port grpc"),
    ("a port that is closed", {"http": {"service": "side", "port": "81"}}, "Failed", "DeclaredCheck", "refused"),
    ("tcp", {"tcp": {"service": "web", "port": "http"}}, "Passed", "", "accepts a connection"),
    ("tcp by number", {"tcp": {"service": "web", "port": "80"}}, "Passed", "", "accepts a connection"),
    ("tcp closed", {"tcp": {"service": "side", "port": "astray"}}, "Failed", "DeclaredCheck", "connection refused"),
    ("tcp without a Service", {"tcp": {"service": "none", "port": "1"}}, "Unknown", "NotFound", "does not exist"),
    (
        "cel",
        {"cel": {"expression": "web.status.readyReplicas == web.spec.replicas", "objects": [WEB]}},
        "Passed",
        "",
        "is true",
    ),
    (
        "cel is false",
        {"cel": {"expression": "web.spec.replicas > 1", "objects": [WEB]}},
        "Failed",
        "DeclaredCheck",
        "web.spec.replicas > 1 is false",
    ),
    (
        "cel without the field",
        {"cel": {"expression": "web.spec.paused", "objects": [WEB]}},
        "Unknown",
        "Empty",
        "ask has(...) first",
    ),
    (
        "cel without the object",
        {"cel": {"expression": "web.spec.replicas > 0", "objects": [{**WEB, "name": "none"}]}},
        "Unknown",
        "NotFound",
        "none",
    ),
    (
        "cel without the kind",
        {"cel": {"expression": "web.spec.x", "objects": [GADGET]}},
        "Unknown",
        "NotFound",
        "example.org",
    ),
    (
        "cel of a Secret",
        {"cel": {"expression": "keys.data.size() > 0", "objects": [KEYS]}},
        "Unknown",
        "Forbidden",
        "Secrets are not read",
    ),
    (
        "cel of another type",
        {"cel": {"expression": "web.spec.replicas", "objects": [WEB]}},
        "Unknown",
        "Unknown",
        "not a boolean",
    ),
    ("promql without a server", {"promql": UP}, "Unknown", "Unknown", "SANARE_PROM"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("check", "result", "kind", "says"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
async def test_a_declared_check_says_what_it_met(
    shop: Shop, check: dict[str, Any], result: str, kind: str, says: str
) -> None:
    found = await shop.outcome(check)
    assert (found.result, found.kind) == (result, kind)
    assert says in found.message


JOBS: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("passed", {"command": ["sh", "-c", "exit 0"]}, "Passed", "", "exited with 0"),
    ("another code", {"command": ["sh", "-c", "exit 3"]}, "Failed", "DeclaredCheck", "exited with 3, not 0"),
    ("the code asked for", {"command": ["sh", "-c", "exit 3"], "exitCode": 3}, "Passed", "", "exited with 3"),
    ("too long", {"command": ["sleep", "600"], "timeout": "2s"}, "Unknown", "Timeout", "did not end within 2 s"),
    ("no image", {"image": "shop.local/none:1", "timeout": "5s"}, "Unknown", "Timeout", "shop.local/none:1"),
]


@pytest.mark.parametrize(
    ("job", "result", "kind", "says"), [case[1:] for case in JOBS], ids=[case[0] for case in JOBS]
)
async def test_a_jobs_exit_code_decides_and_the_job_is_gone_afterwards(
    shop: Shop, job: dict[str, Any], result: str, kind: str, says: str
) -> None:
    found = await shop.outcome({"job": {"image": "shop.local/tools:3.1", **job}}, allow_pods=True)
    assert (found.result, found.kind) == (result, kind)
    assert says in found.message
    assert await shop.jobs() == 0


async def test_no_job_is_made_where_the_policy_does_not_allow_pods(shop: Shop) -> None:
    found = await shop.outcome({"job": {"image": "shop.local/tools:3.1", "command": ["true"]}})
    assert (found.result, found.kind) == ("Unknown", "Forbidden")
    assert "allowPods" in found.message


async def test_a_job_waits_until_everything_else_is_healthy(shop: Shop) -> None:
    failing = {"name": "status", "http": {"service": "web", "status": 204}}
    job = {"name": "job", "job": {"image": "shop.local/tools:3.1", "command": ["false"]}}
    verdict = await shop.verdict(failing, job, allow_pods=True)
    outcomes = {each.name: each.kind for each in verdict.checks}
    assert (outcomes["declared/status"], outcomes["declared/job"]) == ("DeclaredCheck", "NotAsked")


async def test_a_check_that_could_not_be_asked_leaves_the_verdict_open(shop: Shop) -> None:
    verdict = await shop.verdict({"name": "gone", "http": {"service": "none"}})
    assert verdict.result is Result.UNVERIFIED
    assert "Service/none does not exist" in verdict.reason


async def test_a_verification_runs_a_job_once_for_all_its_looks(shop: Shop) -> None:
    job = {"name": "job", "job": {"image": "shop.local/tools:3.1", "command": ["true"]}}
    policy = PolicySpec.parse({"verify": {"allowPods": True, "hold": "3s", "checks": [job]}})
    evaluator, about = Evaluator(shop.client), shop.incident()
    baseline, _ = await evaluator.capture(about, PolicySpec())
    before = await shop.made()
    verdict, _ = await evaluator.verify(about, policy, baseline, previous=None, since=datetime.now(UTC))
    assert verdict.result is Result.FIXED, verdict.reason
    assert "declared/policy/job" in {each.name for each in verdict.checks}
    assert await shop.made() - before == 1


async def test_the_jobs_of_a_check_are_no_part_of_what_is_looked_at(shop: Shop) -> None:
    evaluator, about = Evaluator(shop.client), shop.incident()
    job = {"name": "job", "job": {"image": "shop.local/tools:3.1", "command": ["sleep", "600"], "timeout": "4s"}}
    policy = PolicySpec.parse({"verify": {"allowPods": True, "checks": [job]}})
    running = asyncio.create_task(evaluator.judge_now(about, policy, None))
    async with asyncio.timeout(4):
        await shop.job()
        seen = await evaluator.snapshot(about)
    assert not [pod for pod in seen.all("Pod") if pod["metadata"]["name"].startswith("sanare-check-")]
    await running


async def test_a_check_that_cannot_be_asked_is_refused_with_its_name(shop: Shop) -> None:
    about = shop.incident({"name": "mine", "cel": {"expression": "web.spec >", "objects": [WEB]}})
    with pytest.raises(errors.InvalidIncident, match="declared/mine: the expression is not usable") as refused:
        await Evaluator(shop.client).refuse_invalid_checks(about, PolicySpec())
    assert refused.value.reason == "InvalidCheck"


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("two members", {"rollout": {"name": "web"}, "tcp": {"service": "web", "port": "80"}}, "exactly one of"),
    ("no member", {}, "exactly one of"),
    ("a policy's name", {"name": "policy/mine", "rollout": {"name": "web"}}, "name"),
    ("a pattern", {"http": {"service": "web", "matches": "("}}, "rule evaluation error"),
    ("a Secret", {"cel": {"expression": "true", "objects": [KEYS]}}, "Secrets are not read"),
    ("a sign", {"promql": {**UP, "op": "~"}}, "op"),
    ("a variable", {"cel": {"expression": "true", "objects": [{**WEB, "as": "W"}]}}, "as"),
    ("an origin", {"http": {"service": "web", "from": "Anywhere"}}, "from"),
    ("a URL for a path", {"http": {"service": "web", "path": "http://x"}}, "path"),
    ("too long a job", {"job": {"image": "x", "timeout": "11m"}}, "from 1s to 10m"),
]


@pytest.mark.parametrize(("check", "says"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
async def test_the_api_server_refuses_a_check_that_says_nothing_sound(
    shop: Shop, check: dict[str, Any], says: str
) -> None:
    spec = {**SPEC, "checks": [{"name": "mine", **check}]}
    body = {"apiVersion": API_VERSION, "kind": "Incident", "metadata": {"name": "two"}, "spec": spec}
    with pytest.raises(errors.Invalid, match=says):
        await shop.client.create(BY_KIND["Incident"], "default", body)
