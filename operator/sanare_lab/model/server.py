"""The server: POST /v1/messages, every request recorded, every breach of the protocol remembered."""

from __future__ import annotations

import asyncio
import json
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from sanare_lab.model.replies import Delayed, Failure, Message, Page, Reply
from sanare_lab.model.request import BadRequest, Request, check
from sanare_lab.model.script import Exhausted, Script

MAX_BODY = 32 * 2**20
"""Bytes, as the service's own limit."""


class ScriptedModel:
    """Serves a script on loopback while the context is open.

    Attributes:
        requests: every well-formed request, in order.
        complaints: what the real service would have refused, and requests that the script has no answer to.
            Leaving the context with any of them raises AssertionError, unless another error is on its way.
    """

    def __init__(self, script: Script, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self._script = script
        self._host = host
        self._port = port
        self._runner: web.AppRunner | None = None
        self._calls = 0
        self.requests: list[Request] = []
        self.complaints: list[str] = []

    @property
    def url(self) -> str:
        """The base URL for the SDK."""
        return f"http://{self._host}:{self._port}"

    async def __aenter__(self) -> Self:
        """Start listening."""
        app = web.Application(client_max_size=MAX_BODY)
        app.router.add_post("/v1/messages", self._serve)
        app.router.add_route("*", "/{path:.*}", self._unknown)
        self._runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()
        if error is None and self.complaints:
            raise AssertionError("; ".join(self.complaints))

    async def _unknown(self, request: web.Request) -> web.Response:
        return self._complain(404, "not_found_error", f"{request.method} {request.path} is not served")

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        try:
            asked = await self._read(request)
            check(asked.body)
        except (BadRequest, ValueError) as error:
            return self._complain(400, "invalid_request_error", str(error))
        if not request.headers.get("authorization") and not request.headers.get("x-api-key"):
            return self._complain(401, "authentication_error", "x-api-key header is required")
        self.requests.append(asked)
        try:
            reply = self._script(asked)
        except Exhausted as error:
            return self._complain(400, "invalid_request_error", f"script: {error}")
        return await self._answer(asked, reply)

    async def _read(self, request: web.Request) -> Request:
        if not request.headers.get("anthropic-version"):
            raise BadRequest("anthropic-version: header is required")
        if request.content_type != "application/json":
            raise BadRequest("content-type must be application/json")
        raw = await request.text()
        return Request(body=json.loads(raw), headers=dict(request.headers), raw=raw)

    async def _answer(self, asked: Request, reply: Reply) -> web.StreamResponse:
        if isinstance(reply, Delayed):
            await asyncio.sleep(reply.seconds)
            reply = reply.reply
        if isinstance(reply, Page):
            return web.Response(text=reply.body, content_type=reply.content_type, status=reply.status)
        if isinstance(reply, Failure):
            return _error(reply)
        self._calls += 1
        return web.json_response(_wire(reply, asked.model, self._calls))

    def _complain(self, status: int, kind: str, message: str) -> web.Response:
        self.complaints.append(message)
        return _error(Failure(status, kind, message))


def _error(failure: Failure) -> web.Response:
    body = {"type": "error", "error": {"type": failure.kind, "message": failure.message}}
    return web.json_response(body, status=failure.status, headers=dict(failure.headers))


def _wire(message: Message, model: str, number: int) -> dict[str, Any]:
    calls = iter(range(1, len(message.blocks) + 1))
    content = [
        {**block, "id": f"toolu_{number:04}_{next(calls)}"} if block.get("id") == "" else dict(block)
        for block in message.blocks
    ]
    return {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": message.stop_reason,
        "stop_sequence": None,
        "stop_details": dict(message.stop_details) if message.stop_details else None,
        "usage": message.tokens.wire(),
    }
