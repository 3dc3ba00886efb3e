"""Passing reads on: content forced to JSON, Secrets masked, size and time bounded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import aiohttp
from aiohttp import web

from sanare.errors import Refused
from sanare.kubectl.redact import mask_body
from sanare.kubectl.request import ApiRequest
from sanare.kubectl.session import Session

_READ_LIMIT = 8 * 1024 * 1024
_LOG_LIMIT = 2 * 1024 * 1024
_WATCH_SECONDS = 120
_LINE_LIMIT = 4 * 1024 * 1024
_CUT = b"\n[cut here: the log is longer than what is passed on]\n"


def accepted(request: ApiRequest, accept: str) -> str:
    """The Accept header that is sent: JSON in the shapes kubectl asks for, never protobuf or CBOR.

    Schemas are passed as they are asked for: kubectl reads some of them as protobuf only, and they hold nothing.
    """
    if request.path.startswith("/openapi/") or request.subresource == "log":
        return accept or "*/*"
    parts = [part.strip() for part in accept.split(",")]
    kept = [part for part in parts if part.split(";")[0].strip() == "application/json"]
    return ",".join(kept) or "application/json"


def bounded_query(request: ApiRequest) -> Mapping[str, str]:
    """The query that is sent: watches end, logs are not followed and have an end."""
    query = dict(request.query)
    if request.verb == "watch":
        wanted = query.get("timeoutSeconds", "")
        query["timeoutSeconds"] = str(min(int(wanted), _WATCH_SECONDS) if wanted.isdigit() else _WATCH_SECONDS)
    if request.subresource == "log":
        if query.get("follow", "false") not in ("false", "0"):
            raise Refused("Follow", "logs are not followed; use --tail")
        wanted = query.get("limitBytes", "")
        query["limitBytes"] = str(min(int(wanted), _LOG_LIMIT) if wanted.isdigit() else _LOG_LIMIT)
    return query


async def pass_on(http: web.Request, session: Session, request: ApiRequest) -> web.StreamResponse:
    """Answer a read (or a question in the form of a write, or kubectl's own dry run)."""
    query = bounded_query(request)
    headers = session.headers(Accept=accepted(request, http.headers.get("Accept", "")))
    body = request.encoded or request.body
    if body is not None:
        headers["Content-Type"] = request.content_type or "application/json"
    timeout = _WATCH_SECONDS + 10 if request.verb == "watch" else None
    async with session.client.stream(
        request.method, request.path, query=query, body=body, headers=headers, timeout=timeout
    ) as answer:
        if request.verb == "watch" and answer.status == 200:
            return await _stream(http, answer, _watch_lines(answer, masked=request.kind == "Secret"))
        if request.subresource == "log" and answer.status == 200:
            return await _stream(http, answer, _log_pieces(answer))
        return await _whole(request, answer)


async def _whole(request: ApiRequest, answer: aiohttp.ClientResponse) -> web.Response:
    pieces, size = [], 0
    async for piece in answer.content.iter_chunked(65536):
        pieces.append(piece)
        size += len(piece)
        if size > _READ_LIMIT:
            raise Refused("TooLarge", "the answer is too large: name one object, or narrow it with a selector")
    body = b"".join(pieces)
    if request.kind == "Secret" and answer.status < 300:
        return web.Response(status=answer.status, body=mask_body(body), content_type="application/json")
    response = web.Response(status=answer.status, body=body)
    response.headers["Content-Type"] = answer.headers.get("Content-Type", "application/json")
    for warning in answer.headers.getall("Warning", []):
        response.headers.add("Warning", warning)
    return response


async def _stream(
    http: web.Request, answer: aiohttp.ClientResponse, pieces: AsyncIterator[bytes]
) -> web.StreamResponse:
    response = web.StreamResponse(status=answer.status)
    response.headers["Content-Type"] = answer.headers.get("Content-Type", "application/json")
    await response.prepare(http)
    try:
        async for piece in pieces:
            await response.write(piece)
        await response.write_eof()
    except ConnectionError:
        return response  # kubectl has seen enough and left
    return response


async def _watch_lines(answer: aiohttp.ClientResponse, *, masked: bool) -> AsyncIterator[bytes]:
    pending = b""
    async for chunk in answer.content.iter_any():
        *lines, pending = (pending + chunk).split(b"\n")
        if len(pending) > _LINE_LIMIT:
            return
        for line in lines:
            if line.strip():
                yield (mask_body(line) if masked else line) + b"\n"


async def _log_pieces(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    left = _LOG_LIMIT
    async for chunk in answer.content.iter_any():
        yield chunk[:left]
        left -= len(chunk)
        if left <= 0:
            yield _CUT
            return
