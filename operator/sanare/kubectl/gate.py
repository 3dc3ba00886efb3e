"""The gate: the API server that an agent's kubectl talks to. It knows the caller, decides, records, passes on.

kubectl sends no bearer token over plain HTTP, so an attempt's token is the first segment of its server's path
(`http://127.0.0.1:PORT/TOKEN`). It is looked up by its hash, which tells nothing about it by time, and dies with
the attempt.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final, Protocol

from aiohttp import web

from sanare import errors, telemetry
from sanare.errors import ConfigError, Refused
from sanare.kube.client import KubeClient, RawAnswer
from sanare.kubectl.attempt import AttemptKubectl
from sanare.kubectl.decode import decoded
from sanare.kubectl.forward import pass_on
from sanare.kubectl.grant import Grant
from sanare.kubectl.journal import Journal
from sanare.kubectl.request import ApiRequest, read_request
from sanare.kubectl.rules import check
from sanare.kubectl.session import Clock, Session
from sanare.text import one_line

__all__ = ["Gate", "Grant"]

_BODY_LIMIT = 3 * 1024 * 1024
# The client's time-out of one request (30 s), the look at what became of it (10 s), and the journal.
_SETTLE_SECONDS = 45.0
_REASONS: Final = {401: "Unauthorized", 403: "Forbidden", 413: "RequestEntityTooLarge", 503: "ServiceUnavailable"}


class Address(Protocol):
    """Where the gate listens: part of the settings."""

    @property
    def gate_listen(self) -> tuple[str, int]:
        """Host and port; port 0 takes a free one."""
        ...


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Gate:
    """One server for all attempts of an operator. `start` before the first attempt, `stop` after the last."""

    def __init__(self, client: KubeClient, settings: Address, *, clock: Clock = _utc_now) -> None:
        self._client = client
        self._listen = settings.gate_listen
        self._clock = clock
        self._sessions: dict[str, Session] = {}
        self._runner: web.AppRunner | None = None
        self._url = ""

    async def start(self) -> None:
        """Listen. Raises ConfigError where the address cannot be had."""
        application = web.Application(client_max_size=_BODY_LIMIT)
        application.router.add_route("*", "/{tail:.*}", self._answer)
        # A client that leaves ends its watch; a mutation goes on, see _mutate.
        runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=5.0)
        await runner.setup()
        host, port = self._listen
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            await runner.cleanup()
            raise ConfigError(f"SANARE_GATE_LISTEN={host}:{port}: {one_line(str(error), 200)}") from error
        self._runner = runner
        self._url = f"http://{host}:{runner.addresses[0][1]}"

    async def stop(self) -> None:
        """Stop listening and forget every token."""
        self._sessions.clear()
        if self._runner:
            await self._runner.cleanup()
            self._runner = None

    @asynccontextmanager
    async def attempt(
        self,
        grant: Grant,
        journal: Journal,
        *,
        kubectl_path: str,
        command_timeout: float = 90.0,
        output_limit: int = 32 * 1024,
    ) -> AsyncIterator[AttemptKubectl]:
        """One attempt's kubectl. Token, kubeconfig and running commands end with it.

        `command_timeout` is in seconds per command, `output_limit` in bytes of text per command.
        """
        token = secrets.token_urlsafe(32)
        session = Session(self._client, grant, journal, self._clock)
        self._sessions[_digest(token)] = session
        kubectl = AttemptKubectl(
            session,
            server=f"{self._url}/{token}",
            token=token,
            kubectl_path=kubectl_path,
            command_timeout=command_timeout,
            output_limit=output_limit,
        )
        try:
            yield kubectl
        finally:
            self._sessions.pop(_digest(token), None)
            session.close()
            kubectl.close()
            await session.idle(_SETTLE_SECONDS)

    async def _answer(self, http: web.Request) -> web.StreamResponse:
        token, _, rest = http.rel_url.raw_path.removeprefix("/").partition("/")
        session = self._sessions.get(_digest(token))
        if session is None:
            return refusal(401, "Unauthorized", "this token is not, or no longer, valid")
        try:
            answer = await self._decide(http, session, f"/{rest}")
            telemetry.GATE_DECISIONS.labels(decision="Allowed", rule="").inc()
            return answer
        except Refused as refused:
            telemetry.GATE_DECISIONS.labels(decision="Refused", rule=refused.rule).inc()
            session.refusals.append(refused)
            return refusal(403, refused.rule, str(refused))
        except errors.KubeError as error:
            return refusal(error.status or 503, type(error).__name__, str(error))

    async def _decide(self, http: web.Request, session: Session, path: str) -> web.StreamResponse:
        for header in ("Upgrade", "Content-Encoding", "Sec-WebSocket-Key"):
            if header in http.headers:
                raise Refused("Upgrade", f"{header} is not accepted: connections are not upgraded here")
        request = read_request(
            http.method,
            path,
            http.rel_url.raw_query_string,
            content_type=http.headers.get("Content-Type", ""),
            body=await http.read(),
        )
        check(request, session.grant, session.spent)
        if not request.mutates:
            return await pass_on(http, session, request)
        # Shielded: once begun it is journaled to its end, whatever becomes of kubectl.
        return mutation_answer(await asyncio.shield(session.track(_mutate(session, request))))


async def _mutate(session: Session, request: ApiRequest) -> RawAnswer:
    if request.encoded:
        plain = await decoded(session, request)
        if isinstance(plain, RawAnswer):
            return plain
        request = plain
    return await session.mutate(request)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def mutation_answer(answer: RawAnswer) -> web.Response:
    """The API server's answer to a mutation, as kubectl gets it."""
    if answer.content_type != "application/json":
        return refusal(answer.status, "NoAnswer", one_line(answer.body.decode("utf-8", "replace"), 300))
    return web.Response(status=answer.status, body=answer.body, content_type="application/json")


def refusal(status: int, rule: str, message: str) -> web.Response:
    """A Kubernetes Status object: kubectl prints its message, a model reads the rule in front of it."""
    told = f"[{rule}] {message}"
    return web.Response(
        status=status,
        content_type="application/json",
        text=json.dumps(
            {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Failure",
                "message": told,
                "reason": _REASONS.get(status, "Forbidden"),
                "details": {"causes": [{"reason": rule, "message": message}]},
                "code": status,
            }
        ),
    )
