"""POST /alertmanager: what is let in, what becomes of it, and what is answered."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from sanare.ingest.webhook import create_routes
from sanare.settings import Settings
from tests.unit.ingest.fake_api import ApiServer

TOKEN = "a-token-of-some-length"
NOW = datetime(2026, 1, 2, 4, 0, tzinfo=UTC)
STARTED = "2026-01-02T03:04:05.678Z"


def alert(fingerprint: str = "c0ffee", status: str = "firing", **labels: str) -> dict[str, Any]:
    named = labels or {"namespace": "shop", "deployment": "web"}
    return {
        "status": status,
        "labels": {"alertname": "ShopDown", **named},
        "annotations": {"summary": "the shop is down"},
        "startsAt": STARTED,
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example/graph",
        "fingerprint": fingerprint,
    }


def payload(*alerts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "version": "4",
        "groupKey": "{}:{}",
        "status": "firing",
        "receiver": "sanare",
        "alerts": alerts,
        **fields,
    }


def write(path: Path, content: str) -> None:
    path.write_text(content)


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    write(path, TOKEN + "\n")
    return path


@asynccontextmanager
async def webhook(server: ApiServer, settings: Settings) -> AsyncIterator[TestClient[web.Request, web.Application]]:
    async with server.client() as kube:
        app = web.Application()
        app.add_routes(create_routes(kube, settings, clock=lambda: NOW))
        async with TestClient(TestServer(app)) as client:
            yield client


async def post(
    server: ApiServer, token_file: Path, body: object, *, watched: tuple[str, ...] = (), header: str | None = None
) -> tuple[int, dict[str, Any]]:
    """The status and the answer of one delivery."""
    settings = Settings(webhook_token_file=token_file, watch_namespaces=watched)
    headers = {"Authorization": f"Bearer {TOKEN}" if header is None else header}
    data = io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
    async with webhook(server, settings) as client:
        response = await client.post("/alertmanager", data=data, headers=headers)
        return response.status, await response.json()


async def test_a_firing_alert_becomes_an_incident(token_file: Path) -> None:
    server = ApiServer()
    status, answer = await post(server, token_file, payload(alert()))
    ((name, made),) = server.created.items()
    assert status == 200
    assert answer["alerts"] == [
        {
            "alert": "ShopDown",
            "fingerprint": "c0ffee",
            "result": "Created",
            "incident": name,
            "message": "target Deployment/web",
        }
    ]
    assert made["spec"]["targets"] == [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}]


async def test_the_same_firing_is_taken_once(token_file: Path) -> None:
    server = ApiServer()
    await post(server, token_file, payload(alert()))
    status, answer = await post(server, token_file, payload(alert()))
    assert (status, answer["alerts"][0]["result"], len(server.created)) == (200, "Exists", 1)


async def test_every_alert_of_a_group_has_its_result(token_file: Path) -> None:
    server = ApiServer()
    group = payload(
        alert("01"),
        alert("02", status="resolved"),
        alert("03", namespace="shop"),
        alert("04", namespace="kube-system", pod="dns-1"),
        alert("05", namespace="gone", deployment="web"),
        alert("06", namespace="shop", pod="never-was"),
        truncatedAlerts=7,
    )
    status, answer = await post(server, token_file, group)
    assert [entry["result"] for entry in answer["alerts"]] == [
        "Created",
        "Resolved",
        "NoTarget",
        "OutOfScope",
        "NoTarget",
        "NoTarget",
    ]
    assert (status, answer["truncatedAlerts"], len(server.created)) == (200, 7, 1)
    assert all(entry["message"] for entry in answer["alerts"] if entry["result"] in ("NoTarget", "OutOfScope"))


async def test_only_watched_namespaces_are_in_scope(token_file: Path) -> None:
    server = ApiServer(namespaces=frozenset({"shop", "payments"}))
    group = payload(alert("01"), alert("02", namespace="payments", deployment="api"))
    _, answer = await post(server, token_file, group, watched=("payments",))
    assert [entry["result"] for entry in answer["alerts"]] == ["OutOfScope", "Created"]


def shop() -> ApiServer:
    """A namespace with each kind of owner chain."""
    server = ApiServer()
    root = "/apis/apps/v1/namespaces/shop"
    server.own("/api/v1/namespaces/shop/pods/web-5d59d67564-abcde", "Pod", ("ReplicaSet", "web-5d59d67564"))
    server.own(f"{root}/replicasets/web-5d59d67564", "ReplicaSet", ("Deployment", "web"))
    server.own("/api/v1/namespaces/shop/pods/db-0", "Pod", ("StatefulSet", "db"))
    server.own(f"{root}/statefulsets/db", "StatefulSet")
    server.own("/api/v1/namespaces/shop/pods/report-x", "Pod", ("Job", "report"))
    server.own("/api/v1/namespaces/shop/pods/alone", "Pod")
    server.own("/api/v1/namespaces/shop/pods/canary", "Pod", ("Rollout", "web"))
    hpa = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web"
    server.own(hpa, "HorizontalPodAutoscaler")
    server.objects[hpa]["spec"] = {"scaleTargetRef": {"kind": "Deployment", "name": "web"}}
    return server


OWNERS = {
    "a pod of a deployment": ({"pod": "web-5d59d67564-abcde"}, "Deployment/web"),
    "a pod of a deployment that is gone": ({"pod": "web-5d59d67564-zzzzz"}, "Deployment/web"),
    "a pod of a stateful set": ({"pod": "db-0"}, "StatefulSet/db"),
    "a pod of a stateful set that is gone": ({"pod": "db-7"}, "StatefulSet/db"),
    "a pod of a job": ({"pod": "report-x"}, "Job/report"),
    "a pod that nothing owns": ({"pod": "alone"}, "Pod/alone"),
    "a pod of an unknown owner": ({"pod": "canary"}, "Pod/canary"),
    "a replica set": ({"replicaset": "web-5d59d67564"}, "Deployment/web"),
    "an autoscaler": ({"horizontalpodautoscaler": "web"}, "Deployment/web"),
}


@pytest.mark.parametrize(("labels", "target"), OWNERS.values(), ids=OWNERS.keys())
async def test_the_target_is_what_a_repair_would_change(
    token_file: Path, labels: dict[str, str], target: str
) -> None:
    _, answer = await post(shop(), token_file, payload(alert("01", namespace="shop", **labels)))
    assert answer["alerts"][0]["message"] == f"target {target}"


@pytest.mark.parametrize(
    ("broken", "status", "result"),
    [(500, 503, "Retry"), (429, 503, "Retry"), (403, 200, "Refused"), (422, 200, "Refused")],
)
async def test_alertmanager_sends_again_only_what_may_succeed(
    token_file: Path, broken: int, status: int, result: str
) -> None:
    answered, answer = await post(ApiServer(broken=broken), token_file, payload(alert()))
    assert (answered, answer["alerts"][0]["result"]) == (status, result)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer wrong",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}x",
        "Bearer \N{LATIN SMALL LETTER U WITH DIAERESIS}",
    ],
)
async def test_without_the_token_nothing_is_read(token_file: Path, header: str) -> None:
    server = ApiServer()
    status, _ = await post(server, token_file, payload(alert()), header=header)
    assert (status, server.created) == (401, {})


@pytest.mark.parametrize("content", ["", "\n"])
async def test_an_empty_token_lets_nobody_in(token_file: Path, content: str) -> None:
    write(token_file, content)
    assert (await post(ApiServer(), token_file, payload(), header="Bearer "))[0] == 401


async def test_a_missing_token_file_lets_nobody_in(tmp_path: Path) -> None:
    assert (await post(ApiServer(), tmp_path / "missing", payload()))[0] == 401


async def test_a_changed_token_counts_at_once(token_file: Path) -> None:
    async with webhook(ApiServer(), Settings(webhook_token_file=token_file)) as client:
        write(token_file, "another-token")
        answers = [
            (
                await client.post("/alertmanager", json=payload(), headers={"Authorization": f"Bearer {token}"})
            ).status
            for token in (TOKEN, "another-token")
        ]
    assert answers == [401, 200]


BAD = {
    "no JSON": (b"<html>", 400, "Invalid JSON"),
    "another version": ({"version": "3", "alerts": []}, 400, "version"),
    "no alerts": ({"version": "4"}, 400, "alerts"),
    "an alert without a fingerprint": (
        payload({"status": "firing", "startsAt": STARTED}),
        400,
        "alerts.0.fingerprint",
    ),
    "an alert of an unknown status": (payload({**alert(), "status": "pending"}), 400, "alerts.0.status"),
    "labels that are no texts": (payload({**alert(), "labels": {"a": {"b": 1}}}), 400, "alerts.0.labels.a"),
    "a body that is too large": (b" " * (1024 * 1024 + 1), 413, "max_alerts"),
}


@pytest.mark.parametrize(("body", "status", "message"), BAD.values(), ids=BAD.keys())
async def test_a_bad_body_is_refused(token_file: Path, body: object, status: int, message: str) -> None:
    answered, answer = await post(ApiServer(), token_file, body)
    assert answered == status
    assert message in answer["error"]


async def test_without_a_token_file_there_is_no_webhook() -> None:
    async with ApiServer().client() as kube:
        assert create_routes(kube, Settings(), clock=lambda: NOW) == []


async def firing_then_over(
    server: ApiServer, token_file: Path, *, resolved_at: str | None = None
) -> tuple[int, dict[str, Any]]:
    """An alert that had its Incident, and the notification that it no longer fires."""
    _, answer = await post(server, token_file, payload(alert()))
    name = answer["alerts"][0]["incident"].partition("/")[2]
    made = server.created[f"shop/{name}"]
    metadata = {**made["metadata"], "uid": "u1"}
    status = {"resolvedAt": resolved_at} if resolved_at else {}
    path = f"/apis/sanare.dev/v1alpha1/namespaces/shop/incidents/{name}"
    server.objects[path] = {**made, "metadata": metadata, "status": status}
    over = {**alert(status="resolved"), "endsAt": "2026-01-02T03:30:00Z"}
    return await post(server, token_file, payload(over, alert("02", status="resolved", namespace="kube-system")))


def alert_ends(server: ApiServer) -> list[str]:
    specs = (body["spec"] for body in server.created.values() if body["kind"] == "IncidentRecord")
    return [spec["data"] for spec in specs if spec["type"] == "AlertEnd"]


async def test_the_end_of_an_alert_is_left_for_its_open_incident(token_file: Path) -> None:
    server = ApiServer()
    code, answer = await firing_then_over(server, token_file)
    assert (code, [entry["result"] for entry in answer["alerts"]]) == (200, ["Resolved", "Resolved"])
    assert alert_ends(server) == ['{"endsAt": "2026-01-02T03:30:00Z"}']


async def test_an_incident_that_has_ended_is_told_nothing(token_file: Path) -> None:
    server = ApiServer()
    await firing_then_over(server, token_file, resolved_at="2026-01-02T03:20:00Z")
    assert alert_ends(server) == []


async def test_the_end_of_an_alert_is_sent_again_where_nobody_could_take_it(token_file: Path) -> None:
    server = ApiServer(broken=503)
    code, answer = await post(server, token_file, payload(alert(status="resolved")))
    assert (code, answer["alerts"][0]["result"]) == (503, "Retry")
