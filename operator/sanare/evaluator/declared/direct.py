"""Requests from the operator's own process, to addresses that `destination` vouches for."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

import aiohttp

from sanare.api.checks import HttpCheck, TcpCheck
from sanare.evaluator.declared.destination import Destination, destination
from sanare.evaluator.declared.reply import BODY_BYTES, Reply
from sanare.evaluator.snapshot import Snapshot
from sanare.text import one_line

SECONDS = 5.0


async def ask_http(snapshot: Snapshot, check: HttpCheck) -> Reply:
    """One GET without credentials or cookies, through no proxy; a redirect is an answer. Never raises."""
    where = destination(snapshot, check.service, check.port)
    if isinstance(where, Reply):
        return where
    url = f"{check.scheme.lower()}://{where.authority}{check.path}"
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.get(url, headers={"Host": where.host}, allow_redirects=False, ssl=False) as answer,
        ):
            return Reply(answer.status, await beginning(answer.content, BODY_BYTES))
    except TimeoutError:
        return Reply(failure="timeout")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return Reply(failure=_words(error))


async def ask_tcp(snapshot: Snapshot, check: TcpCheck) -> Reply:
    """Whether a connection is accepted; nothing is sent over it. Never raises."""
    where = destination(snapshot, check.service, check.port)
    return where if isinstance(where, Reply) else await _connect(where)


async def _connect(where: Destination) -> Reply:
    try:
        async with asyncio.timeout(SECONDS):
            _, writer = await asyncio.open_connection(where.address, where.port)
    except TimeoutError:
        return Reply(failure="timeout")
    except OSError as error:
        return Reply(failure=_words(error))
    writer.close()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(1):
            await writer.wait_closed()
    return Reply()


async def beginning(content: aiohttp.StreamReader, limit: int) -> bytes:
    """The first `limit` bytes of an answer; no more than a chunk beyond them is read."""
    body = b""
    async for chunk in content.iter_chunked(65536):
        body += chunk
        if len(body) >= limit:
            break
    return body[:limit]


def _words(error: Exception) -> str:
    """`connection refused` however the layers between put it."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, ConnectionRefusedError):
        return "connection refused"
    if isinstance(cause, socket.gaierror | OSError) and cause.strerror:
        return cause.strerror.lower()
    return one_line(str(error) or type(error).__name__, 200)
