"""POST /alertmanager: authenticated, bounded, and answered so that Alertmanager sends again only what may succeed.

200  every alert is settled: durable in an Incident, or named in the answer with why it is not
400  not a version 4 payload        401  no or a wrong bearer token
408  the body came too slowly       413  the body is larger than 1 MiB
503  the API server did not answer for at least one alert; sending again is safe, names follow from the alert
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from aiohttp import web
from pydantic import ValidationError

from sanare.ingest.payload import Payload
from sanare.ingest.receiver import Result, receive
from sanare.ingest.scope import Scope
from sanare.kube.client import KubeClient
from sanare.settings import Settings
from sanare.telemetry import logger
from sanare.text import one_line

_BODY_BYTES = 1024 * 1024
_BODY_SECONDS = 10.0
_LOG = logger(__name__)

Clock = Callable[[], datetime]


def create_routes(kube: KubeClient, settings: Settings, *, clock: Clock) -> list[web.RouteDef]:
    """The webhook's routes for the operator's HTTP server; none where no token file is configured."""
    if settings.webhook_token_file is None:
        return []
    webhook = Webhook(kube, Scope.of(settings), token_file=settings.webhook_token_file, clock=clock)
    return [web.post("/alertmanager", webhook.handle)]


class Webhook:
    """One receiver. The token file is read for each request, so that a changed Secret counts at once."""

    def __init__(self, kube: KubeClient, scope: Scope, *, token_file: Path, clock: Clock) -> None:
        self._kube = kube
        self._scope = scope
        self._token_file = token_file
        self._clock = clock

    async def handle(self, request: web.Request) -> web.Response:
        """Answer one notification; the statuses are those of the module's docstring."""
        if not await self._is_authentic(request.headers.get("Authorization", "")):
            return _refusal(401, "send the receiver's token as: Authorization: Bearer TOKEN")
        try:
            body = await _read(request)
        except TimeoutError:
            return _refusal(408, f"the body did not arrive within {_BODY_SECONDS:g} s")
        if body is None:
            return _refusal(413, f"the body is larger than {_BODY_BYTES} bytes: set max_alerts on the receiver")
        try:
            payload = Payload.model_validate_json(body)
        except ValidationError as error:
            return _refusal(400, _first_problem(error))
        return await self._answer(payload)

    async def _answer(self, payload: Payload) -> web.Response:
        if payload.truncated_alerts:
            _LOG.warning("alerts truncated by Alertmanager", count=payload.truncated_alerts)
        entries = await receive(self._kube, self._scope, payload, now=self._clock())
        is_settled = all(entry.result is not Result.RETRY for entry in entries)
        answer = {"alerts": [entry.wire() for entry in entries], "truncatedAlerts": payload.truncated_alerts}
        return web.json_response(answer, status=200 if is_settled else 503)

    async def _is_authentic(self, header: str) -> bool:
        scheme, _, sent = header.partition(" ")
        try:
            expected = (await asyncio.to_thread(self._token_file.read_bytes)).strip()
        except OSError as error:
            _LOG.error("the webhook's token cannot be read", error=one_line(str(error), 300))
            return False
        matches = hmac.compare_digest(sent.strip().encode("utf-8", "surrogateescape"), expected)
        return matches and bool(expected) and scheme.lower() == "bearer"


async def _read(request: web.Request) -> bytes | None:
    """The body, or None where it is too large. Raises TimeoutError."""
    body = bytearray()
    async with asyncio.timeout(_BODY_SECONDS):
        async for chunk in request.content.iter_chunked(65536):
            body += chunk
            if len(body) > _BODY_BYTES:
                return None
    return bytes(body)


def _refusal(status: int, message: str) -> web.Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return web.json_response({"error": message}, status=status, headers=headers)


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(step) for step in first["loc"]) or "body"
    return one_line(f"not an Alertmanager payload of version 4: {where}: {first['msg']}", 300)
