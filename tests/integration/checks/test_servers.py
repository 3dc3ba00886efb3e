"""Requests from the operator's own process, to servers on loopback: what is sent, read, and never followed."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web

from sanare.api.checks import HttpCheck, PromqlCheck, TcpCheck
from sanare.evaluator.declared import direct, program, prometheus
from sanare.evaluator.declared.prometheus import Data, Server, Window
from sanare.evaluator.declared.reply import BODY_BYTES, Reply
from sanare.evaluator.kinds import Kind
from sanare.evaluator.snapshot import Snapshot
from sanare.kube.client import KubeClient


@dataclass
class Backend:
    """A server that remembers what it was asked."""

    port: int = 0
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.path, dict(request.headers)))
        if request.path == "/away":
            raise web.HTTPFound(f"http://127.0.0.1:{self.port}/secret")
        if request.path == "/large":
            return web.Response(body=b"x" * (3 * BODY_BYTES))
        if request.path == "/slow":
            await asyncio.sleep(60)
        return web.Response(text="order-4711")

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    made, app = Backend(), web.Application()
    app.router.add_route("*", "/{path:.*}", made.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.port = runner.addresses[0][1]
    yield made
    await runner.cleanup()


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def leading_to(port: int) -> Snapshot:
    """A Service `web` whose address is the backend's."""
    spec = {"clusterIP": "127.0.0.1", "selector": {"app": "web"}, "ports": [{"port": port}]}
    service = {"kind": "Service", "metadata": {"name": "web"}, "spec": spec}
    listed = {"Service": (service,), "EndpointSlice": (), "Pod": ()}
    return Snapshot("shop", datetime(2026, 11, 1, tzinfo=UTC), listed)


def http(path: str) -> HttpCheck:
    return HttpCheck.parse({"service": "web", "path": path, "from": "Operator"})


async def test_a_request_carries_the_services_name_and_no_credentials(backend: Backend) -> None:
    assert await direct.ask_http(leading_to(backend.port), http("/a?b=c")) == Reply(200, b"order-4711")
    ((path, headers),) = backend.asked
    assert (path, headers["Host"]) == ("/a", "web.shop.svc")
    assert not {"Authorization", "Cookie"} & set(headers)


async def test_a_redirect_is_an_answer(backend: Backend) -> None:
    assert (await direct.ask_http(leading_to(backend.port), http("/away"))).status == 302
    assert backend.paths == ["/away"]


async def test_only_the_beginning_of_a_body_is_read(backend: Backend) -> None:
    assert len((await direct.ask_http(leading_to(backend.port), http("/large"))).body) == BODY_BYTES


async def test_a_refused_connection_says_so() -> None:
    assert (await direct.ask_http(leading_to(closed_port()), http("/"))).failure == "connection refused"


async def test_a_tcp_check_connects_and_sends_nothing(backend: Backend) -> None:
    asked = TcpCheck.parse({"service": "web", "port": str(backend.port), "from": "Operator"})
    assert await direct.ask_tcp(leading_to(backend.port), asked) == Reply()
    assert backend.asked == []


async def test_a_tcp_check_of_a_closed_port_is_refused() -> None:
    port = closed_port()
    asked = TcpCheck.parse({"service": "web", "port": str(port), "from": "Operator"})
    assert await direct.ask_tcp(leading_to(port), asked) == Reply(failure="connection refused")


async def test_the_probe_pods_program_says_what_it_met(backend: Backend) -> None:
    port = str(backend.port)
    answered = await asyncio.to_thread(program.ask, "http", "127.0.0.1", port, "web.shop.svc", "HTTP", "/away")
    assert answered["status"] == 302
    assert await asyncio.to_thread(program.ask, "tcp", "127.0.0.1", port, "web.shop.svc") == {"open": True}
    refused = await asyncio.to_thread(program.ask, "tcp", "127.0.0.1", str(closed_port()), "web.shop.svc")
    assert refused == {"failure": "connection refused"}
    assert backend.paths == ["/away"]


async def test_what_the_api_server_proxies_leads_nowhere_else(backend: Backend, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG.replace("@PORT@", str(backend.port)))
    async with await KubeClient.connect(kubeconfig=str(kubeconfig)) as client:
        assert (await client.raw("GET", "/away")).status == 302
    assert backend.paths == ["/away"]


KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://127.0.0.1:@PORT@"}}]
users: [{name: a, user: {}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
"""
QUERY = PromqlCheck.parse({"query": "up", "op": ">", "value": 0})


async def test_the_token_goes_to_the_operators_prometheus_and_no_further(backend: Backend, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("open-sesame\n")
    await prometheus.ask(Server(f"http://127.0.0.1:{backend.port}", token), QUERY, Window(0))
    await prometheus.ask(Server(f"http://127.0.0.1:{backend.port}/away?", token), QUERY, Window(0))
    assert [headers.get("Authorization") for _, headers in backend.asked] == ["Bearer open-sesame"] * 2
    assert "/secret" not in backend.paths


@pytest.mark.parametrize(
    ("token", "says"), [(None, "Prometheus does not answer"), (Path("/none/token"), "Prometheus does not answer")]
)
async def test_a_prometheus_that_cannot_be_asked_leaves_it_open(token: Path | None, says: str) -> None:
    found = await prometheus.ask(Server(f"http://127.0.0.1:{closed_port()}", token), QUERY, Window(0))
    assert not isinstance(found, Data)
    assert found.unknown is Kind.UNKNOWN
    assert says in found.failure
