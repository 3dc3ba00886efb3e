"""Whether traffic gets there: selectors, endpoints and whose they are, answers from outside, declared checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sanare.api.verdict import CheckResult, Result
from sanare.evaluator.judge import judge, look_at
from sanare.evaluator.kinds import Kind
from sanare.evaluator.reach import plan
from sanare.evaluator.snapshot import Answer, Probe
from tests.unit.evaluator.namespace import (
    NOW,
    POLICY,
    Namespace,
    endpoints,
    incident,
    service,
    shop,
    verdict,
    workload,
)

Change = Callable[[Namespace], object]


def selects(**labels: str) -> Change:
    return lambda ns: ns.get("Service", "web")["spec"].update(selector=labels)


def silent(failure: str, **more: Any) -> Change:
    return lambda ns: ns.silent.update(web=Answer(failure=failure, **more))


def no_endpoints(ns: Namespace) -> None:
    ns.get("EndpointSlice", "web-abc")["endpoints"] = []


def port_name(ns: Namespace) -> None:
    ns.container()["ports"] = [{"name": "http", "containerPort": 8080}]
    ns.get("Service", "web")["spec"]["ports"][0]["targetPort"] = "htp"
    ns.get("EndpointSlice", "web-abc")["ports"] = []
    ns.roll_out()


def sent_away(ns: Namespace) -> None:
    ns.get("Service", "web")["spec"].update(type="ExternalName", externalName="web.example.org")
    ns.drop("EndpointSlice", "web-abc")


def overlap(ns: Namespace) -> None:
    for name in ("web", "api"):
        ns.template(name)["metadata"]["labels"]["tier"] = "shop"
        ns.pod(name)["metadata"]["labels"]["tier"] = "shop"
    selects(tier="shop")(ns)


CASES: list[tuple[str, tuple[Change, ...], Kind, str]] = [
    (
        "selector",
        (selects(app="weeb"), no_endpoints, silent("no endpoints")),
        Kind.SELECTOR_MATCHES_NOTHING,
        "Service/web selector app=weeb matches no pod; the pods of Deployment/web carry app=web",
    ),
    (
        "port name",
        (port_name, silent("no endpoints")),
        Kind.PORT_NAME_UNKNOWN,
        'Service/web port 80 targetPort "htp" is declared by no container of Deployment/web, which declares '
        '"http" (8080)',
    ),
    (
        "another app's pods",
        (selects(app="api"),),
        Kind.FOREIGN_ENDPOINTS,
        "Service/web selector app=api takes pods of Deployment/api, it is meant for Deployment/web",
    ),
    (
        "an alias instead of pods",
        (sent_away,),
        Kind.NO_ENDPOINTS,
        "Service/web is of type ExternalName: its clients are sent to web.example.org and none to the pods of "
        "Deployment/web, which it selects",
    ),
    (
        "a shared label",
        (overlap,),
        Kind.FOREIGN_ENDPOINTS,
        "Service/web selector tier=shop takes pods of Deployment/api, it is meant for Deployment/web",
    ),
    (
        "refused",
        (silent("connection refused"),),
        Kind.UNREACHABLE,
        "Service/web port 80 -> 8080: connection refused from outside the pod although 1 endpoint is ready",
    ),
    (
        "no endpoints",
        (no_endpoints, silent("no endpoints")),
        Kind.NO_ENDPOINTS,
        "Service/web port 80 -> 8080: no endpoint to send a request to",
    ),
]


@pytest.mark.parametrize(
    ("changes", "kind", "reason"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_traffic_that_does_not_arrive_is_named(changes: tuple[Change, ...], kind: Kind, reason: str) -> None:
    namespace, before = shop(), shop()
    for change in changes:
        change(namespace)
    found = verdict(namespace, about=incident("Deployment/web", "Service/web"))
    assert (found.result, found.kind, found.reason) == (Result.NOT_FIXED, kind, reason)
    assert verdict(namespace, before, incident("Service/web")).result is Result.NOT_FIXED


def test_one_silent_endpoint_of_two_is_a_failure_however_lucky_the_request_was() -> None:
    namespace = Namespace().add(
        *workload("web", replicas=2), service("web"), endpoints("web", "web-1-0", "web-1-1")
    )
    namespace.answers[Probe("Pod", "web-1-0", "8080")] = Answer(status=200)
    namespace.answers[Probe("Pod", "web-1-1", "8080")] = Answer(failure="connection refused")
    found = verdict(namespace)
    assert found.reason == "Service/web port 80 -> 8080: 1 of 2 endpoints do not answer (connection refused)"


@pytest.mark.parametrize("status", [200, 204, 301, 401, 404, 500, 503])
def test_any_answer_of_the_backend_means_reached(status: int) -> None:
    namespace = shop()
    namespace.silent["web"] = Answer(status=status)
    assert verdict(namespace).result is Result.FIXED


PROBED = {"livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}}}


@pytest.mark.parametrize(
    ("status", "result"),
    [(200, Result.FIXED), (404, Result.FIXED), (500, Result.NOT_FIXED), (503, Result.NOT_FIXED)],
)
def test_a_server_error_where_a_probe_asks_is_a_failure(status: int, result: Result) -> None:
    namespace = shop(**PROBED)
    namespace.silent["web"] = Answer(status=status)
    assert verdict(namespace).result is result


def test_a_server_error_where_no_probe_asks_is_told() -> None:
    namespace = shop()
    namespace.silent["web"] = Answer(status=503)
    assert "answered with the server error 503 on /, which no probe declares" in verdict(namespace).reason


@pytest.mark.parametrize(("ports", "result"), [(24, Result.FIXED), (30, Result.UNVERIFIED)])
def test_a_port_that_was_not_asked_is_not_called_reached(ports: int, result: Result) -> None:
    namespace = shop()
    listed = [{"name": f"p{number}", "port": number, "targetPort": 8080} for number in range(ports)]
    namespace.get("Service", "web")["spec"]["ports"] = listed
    namespace.get("EndpointSlice", "web-abc")["ports"] = [{"name": each["name"], "port": 8080} for each in listed]
    look = look_at(namespace.snapshot(), incident(), POLICY, now=NOW)
    probes = plan(look.snapshot, look.scope, look.owned).within(10, thrifty=False)
    asked = dict.fromkeys(probes, Answer(status=200))
    found = judge(replace(look.snapshot, answers=asked), None, incident(), POLICY, now=NOW)
    assert (found.result, found.kind) == (result, "" if result is Result.FIXED else Kind.NOT_ASKED)


def test_not_being_allowed_to_ask_is_unverified() -> None:
    namespace = shop()
    namespace.silent["web"] = Answer(failure='services "web:80" is forbidden', known=False)
    found = verdict(namespace)
    assert (found.result, found.kind) == (Result.UNVERIFIED, Kind.FORBIDDEN)
    assert "could not be asked" in found.reason


def written_by_hand(*, ready: bool = True, selector: bool = False) -> Namespace:
    """A Service whose one endpoint is an address without a pod; the proxy says that it has none."""
    namespace = shop()
    web = namespace.get("EndpointSlice", "web-abc")
    del web["endpoints"][0]["targetRef"]
    web["endpoints"][0]["conditions"] = {"ready": ready}
    if not selector:
        del namespace.get("Service", "web")["spec"]["selector"]
    silent("no endpoints")(namespace)
    return namespace


@pytest.mark.parametrize(
    ("namespace", "results"),
    [
        (written_by_hand(), {CheckResult.UNKNOWN}),
        (written_by_hand(ready=False), {CheckResult.FAILED}),
        (written_by_hand(selector=True), {CheckResult.FAILED}),
    ],
    ids=["a ready address", "an address that is not ready", "an address behind a Service that selects pods"],
)
def test_addresses_without_a_pod_are_out_of_reach_of_the_proxy(
    namespace: Namespace, results: set[CheckResult]
) -> None:
    checks = verdict(namespace, about=incident("Service/web")).checks
    assert {each.result for each in checks if each.name == "reachability"} == results


def test_addresses_that_nobody_listed_may_be_there() -> None:
    namespace = written_by_hand()
    namespace.unseen["EndpointSlice"] = "Forbidden: no such right"
    assert verdict(namespace, about=incident("Service/web")).result is Result.UNVERIFIED


def test_a_service_that_does_not_answer_while_its_pods_crash_is_no_second_fault() -> None:
    namespace = shop()
    namespace.silent["web"] = Answer(failure="connection refused")
    status = namespace.pod()["status"]["containerStatuses"][0]
    status.update(ready=False, state={"waiting": {"reason": "CrashLoopBackOff"}})
    status["lastState"] = {"terminated": {"exitCode": 1, "reason": "Error"}}
    found = verdict(namespace)
    assert (found.kind, found.signal) == (Kind.CRASH, "Single")
    assert "also" not in found.reason


def test_a_canary_beside_its_service_is_meant() -> None:
    namespace = shop()
    namespace.add(*workload("web-canary"))
    for name in ("web", "web-canary"):
        namespace.template(name)["metadata"]["labels"]["site"] = "main"
    for pod in namespace.objects["Pod"]:
        if pod["metadata"]["name"].startswith("web"):
            pod["metadata"]["labels"]["site"] = "main"
    selects(site="main")(namespace)
    assert verdict(namespace, about=incident("Service/web")).result is Result.FIXED


def test_a_service_that_selects_nothing_belongs_to_the_workload_it_resembles() -> None:
    namespace = shop()
    namespace.add(service("web-public", {"app": "wbe"}))
    found = verdict(namespace, about=incident("Deployment/web"))
    assert found.reason.startswith("Service/web-public selector app=wbe matches no pod")


def test_a_workload_without_a_service_needs_none() -> None:
    assert verdict(Namespace().add(*workload("worker")), about=incident("Deployment/worker")).result is Result.FIXED


DECLARED: list[tuple[str, dict[str, Any], CheckResult]] = [
    ("rollout", {"rollout": {"name": "api"}}, CheckResult.PASSED),
    ("rollout of nothing", {"rollout": {"name": "none"}}, CheckResult.UNKNOWN),
    ("endpoints", {"endpoints": {"service": "api"}}, CheckResult.PASSED),
    ("more endpoints", {"endpoints": {"service": "api", "minReady": 2}}, CheckResult.FAILED),
    ("not asked", {"http": {"service": "nowhere"}}, CheckResult.UNKNOWN),
    ("empty", {}, CheckResult.UNKNOWN),
]


@pytest.mark.parametrize(("check", "result"), [case[1:] for case in DECLARED], ids=[case[0] for case in DECLARED])
def test_declared_checks_count(check: dict[str, Any], result: CheckResult) -> None:
    found = verdict(shop(), about=incident(checks=({"name": "mine", **check},)))
    assert [each.result for each in found.checks if each.name == "declared/mine"] == [result]
    expected = {
        CheckResult.PASSED: Result.FIXED,
        CheckResult.FAILED: Result.NOT_FIXED,
        CheckResult.UNKNOWN: Result.UNVERIFIED,
    }
    assert found.result is expected[result]
