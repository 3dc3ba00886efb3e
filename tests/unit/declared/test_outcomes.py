"""What each sort of declared check comes to: passed, failed, and the ways in which it could not be asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from sanare import errors
from sanare.api.checks import CelCheck, CelObject, HttpCheck, JobCheck, TcpCheck
from sanare.api.verdict import CheckResult
from sanare.evaluator.declared import expression, proxied
from sanare.evaluator.declared.asker import judge_job
from sanare.evaluator.declared.expression import Value
from sanare.evaluator.declared.jobs import Ended
from sanare.evaluator.declared.reply import Reply
from sanare.evaluator.kinds import Kind
from sanare.evaluator.snapshot import Snapshot
from sanare.kube.client import KubeClient, RawAnswer
from sanare.kube.resources import Resource
from tests.unit.evaluator.namespace import incident, service, shop, verdict

UNKNOWN: list[tuple[Kind, Reply]] = [
    (kind, Reply(failure="the reason", unknown=kind))
    for kind in (Kind.FORBIDDEN, Kind.TIMEOUT, Kind.NOT_FOUND, Kind.EMPTY, Kind.UNKNOWN)
]
CEL = CelCheck.parse(
    {"expression": "web.spec.replicas > 1", "objects": [{"as": "web", "kind": "Deployment", "name": "web"}]}
)
JOB = JobCheck.parse({"image": "tools:1", "exitCode": 2})


@pytest.mark.parametrize(("holds", "result"), [(True, "Passed"), (False, "Failed")])
def test_an_expression_decides(holds: bool, result: str) -> None:
    seen = expression.judge("declared/mine", CEL, Value(holds))
    assert (seen.result, seen.kind) == (result, None if holds else Kind.DECLARED)
    assert "web.spec.replicas > 1 is" in seen.message


@pytest.mark.parametrize(("code", "result"), [(2, "Passed"), (0, "Failed"), (137, "Failed")])
def test_an_exit_code_decides(code: int, result: str) -> None:
    seen = judge_job("declared/mine", JOB, Ended(code))
    assert seen.result == result
    assert f"exited with {code}" in seen.message


@pytest.mark.parametrize(("kind", "reply"), UNKNOWN, ids=[kind.value for kind, _ in UNKNOWN])
def test_what_could_not_be_asked_keeps_its_reason(kind: Kind, reply: Reply) -> None:
    for seen in (expression.judge("declared/mine", CEL, reply), judge_job("declared/mine", JOB, reply)):
        assert (seen.result, seen.kind) == (CheckResult.UNKNOWN, kind)
        assert "the reason" in seen.message


LISTED: list[tuple[str, dict[str, Any], dict[str, str], str, str]] = [
    ("rollout", {"rollout": {"name": "api"}}, {}, "Passed", ""),
    ("a rollout under way", {"rollout": {"name": "late"}}, {}, "Failed", "DeclaredCheck"),
    ("no such workload", {"rollout": {"name": "none"}}, {}, "Unknown", "NotFound"),
    ("forbidden", {"rollout": {"name": "api"}}, {"Deployment": "Forbidden: no right"}, "Unknown", "Forbidden"),
    ("late", {"rollout": {"name": "api"}}, {"Deployment": "Timeout: 20 s"}, "Unknown", "Timeout"),
    ("endpoints", {"endpoints": {"service": "api"}}, {}, "Passed", ""),
    ("more endpoints", {"endpoints": {"service": "api", "minReady": 2}}, {}, "Failed", "DeclaredCheck"),
    ("no such Service", {"endpoints": {"service": "none"}}, {}, "Unknown", "NotFound"),
    ("no list", {"endpoints": {"service": "api"}}, {"EndpointSlice": "Forbidden: no"}, "Unknown", "Forbidden"),
]


@pytest.mark.parametrize(
    ("check", "unseen", "result", "kind"), [case[1:] for case in LISTED], ids=[case[0] for case in LISTED]
)
def test_what_the_lists_say_decides_rollouts_and_endpoints(
    check: dict[str, Any], unseen: dict[str, str], result: str, kind: str
) -> None:
    namespace = shop()
    namespace.add(*late())
    namespace.unseen.update(unseen)
    for gone in unseen:
        namespace.objects.pop(gone, None)
    found = verdict(namespace, about=incident("Service/web", checks=({"name": "mine", **check},)))
    (seen,) = (each for each in found.checks if each.name == "declared/mine")
    assert (seen.result, seen.kind) == (result, kind)


def late() -> tuple[dict[str, Any], ...]:
    """A Deployment whose controller has not made anything yet."""
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "late"}}, "template": {"metadata": {}, "spec": {}}}
    return (
        {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "late", "uid": "u"}, "spec": spec},
    )


@dataclass
class Door:
    """An API server that gives one answer and remembers what it was asked."""

    answer: RawAnswer | errors.KubeError
    asked: list[str] = field(default_factory=list)

    async def raw(self, method: str, path: str, **_: Any) -> RawAnswer:
        self.asked.append(path)
        return self._given()

    async def get(self, resource: Resource, namespace: str, name: str) -> Mapping[str, Any]:
        self.asked.append(resource.path(namespace, name))
        return self._given().manifest()

    def _given(self) -> RawAnswer:
        if isinstance(self.answer, errors.KubeError):
            raise self.answer
        return self.answer


def status(code: int, message: str, reason: str = "") -> RawAnswer:
    """An answer of the API server itself."""
    body = {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": message}
    return RawAnswer(code, json.dumps(body).encode(), "application/json")


def silence() -> errors.KubeError:
    error = errors.Unreachable("no answer")
    error.__cause__ = TimeoutError()
    return error


Build = Callable[[], RawAnswer | errors.KubeError]
PROXIED: list[tuple[str, Build, Reply]] = [
    ("an answer", lambda: RawAnswer(200, b"ok", "text/plain"), Reply(200, b"ok")),
    ("the backend's 403", lambda: RawAnswer(403, b"no", "text/plain"), Reply(403, b"no")),
    ("refused", lambda: status(503, "dial tcp: connect: connection refused"), Reply(failure="connection refused")),
    ("no endpoints", lambda: status(503, 'no endpoints available for "web"'), Reply(failure="no endpoints")),
    ("another protocol", lambda: status(502, "net/http: malformed HTTP response"), Reply()),
    ("Timeout", silence, Reply(failure="timeout")),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "reply"), [case[1:] for case in PROXIED], ids=[case[0] for case in PROXIED])
async def test_the_proxys_words_tell_what_was_met(answer: Build, reply: Reply) -> None:
    door = Door(answer())
    asked = HttpCheck.parse({"service": "web", "path": "/a?b=c"})
    assert await proxied.ask_http(cast(KubeClient, door), before_web(), asked) == reply
    assert door.asked == ["/api/v1/namespaces/shop/services/web:80/proxy/a"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        pytest.param(lambda: status(403, "services/proxy is forbidden"), Kind.FORBIDDEN, id="Forbidden"),
        pytest.param(lambda: status(404, 'services "web" not found', "NotFound"), Kind.NOT_FOUND, id="NotFound"),
        pytest.param(lambda: errors.Unreachable("connection reset"), Kind.TIMEOUT, id="no API server"),
    ],
)
async def test_a_proxy_that_cannot_be_asked_tells_nothing(answer: Build, kind: Kind) -> None:
    door = Door(answer())
    http, tcp = HttpCheck.parse({"service": "web"}), TcpCheck.parse({"service": "web", "port": "80"})
    assert (await proxied.ask_http(cast(KubeClient, door), before_web(), http)).unknown is kind
    assert (await proxied.ask_tcp(cast(KubeClient, door), before_web(), tcp)).unknown is kind


async def test_a_silent_server_is_no_closed_port() -> None:
    asked = TcpCheck.parse({"service": "web", "port": "80"})
    reply = await proxied.ask_tcp(cast(KubeClient, Door(silence())), before_web(), asked)
    assert reply.unknown is Kind.TIMEOUT
    assert "ask from Operator or ProbePod" in reply.failure


async def test_https_is_asked_of_the_proxy_as_such() -> None:
    door = Door(RawAnswer(200, b"", ""))
    await proxied.ask_http(
        cast(KubeClient, door), before_web(), HttpCheck.parse({"service": "web", "scheme": "HTTPS"})
    )
    assert door.asked == ["/api/v1/namespaces/shop/services/https:web:80/proxy/"]


def before_web() -> Snapshot:
    listed = {"Service": (service("web"),), "EndpointSlice": (), "Pod": ()}
    return Snapshot("shop", datetime(2026, 11, 1, tzinfo=UTC), listed)


FETCHED: list[tuple[str, dict[str, str], Build, Kind]] = [
    ("Forbidden", {}, lambda: errors.Forbidden("no right"), Kind.FORBIDDEN),
    ("NotFound", {}, lambda: errors.NotFound("gone"), Kind.NOT_FOUND),
    ("Timeout", {}, lambda: errors.Unreachable("late"), Kind.TIMEOUT),
    ("a Secret", {"kind": "Secret", "apiVersion": "v1"}, lambda: status(200, ""), Kind.FORBIDDEN),
    ("another way to write it", {"kind": "SECRET", "apiVersion": "v1"}, lambda: status(200, ""), Kind.FORBIDDEN),
    ("no namespace", {"kind": "Node", "apiVersion": "v1"}, lambda: status(200, ""), Kind.FORBIDDEN),
    ("no version", {"apiVersion": "../../v1"}, lambda: status(200, ""), Kind.NOT_FOUND),
    ("too large", {}, lambda: RawAnswer(200, json.dumps({"a": "x" * 300_000}).encode(), ""), Kind.UNKNOWN),
]


@pytest.mark.parametrize(
    ("wanted", "answer", "kind"), [case[1:] for case in FETCHED], ids=[case[0] for case in FETCHED]
)
async def test_an_object_that_an_expression_cannot_read_says_why(
    wanted: dict[str, str], answer: Build, kind: Kind
) -> None:
    named = CelObject.parse({"as": "x", "kind": "Deployment", "name": "web", **wanted})
    found = await expression.fetch(cast(KubeClient, Door(answer())), "shop", named)
    assert isinstance(found, Reply)
    assert found.unknown is kind


async def test_an_object_is_read_without_its_managed_fields() -> None:
    body = {"metadata": {"name": "web", "managedFields": [{}]}, "spec": {"replicas": 2}}
    door = Door(RawAnswer(200, json.dumps(body).encode(), ""))
    found = await expression.fetch(cast(KubeClient, door), "shop", CEL.objects[0])
    assert found == {"metadata": {"name": "web"}, "spec": {"replicas": 2}}
    assert door.asked == ["/apis/apps/v1/namespaces/shop/deployments/web"]
