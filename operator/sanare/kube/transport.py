"""The way to one API server: its connections, and the exact bytes that are sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, TypeAlias
from urllib.parse import quote, unquote, urlencode

import aiohttp
from kubernetes.aio.client import ApiClient

from sanare import errors
from sanare.text import one_line

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Query: TypeAlias = Mapping[str, str | tuple[str, ...]]
JsonBody: TypeAlias = Mapping[str, Any] | list[Any] | bytes | None

_CONNECTIONS = 100
_CONNECT_SECONDS = 10.0
_AS_GO_WRITES = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"})


class Transport:
    """One connection pool. Every request has a time-out (seconds), none is retried, no redirect is followed."""

    def __init__(self, configuration: Any, *, timeout: float) -> None:
        self._configuration = configuration
        self._api = ApiClient(configuration)  # for its credentials and certificates alone
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close the connection pool."""
        if self._session is not None:
            await self._session.close()
        await self._api.close()

    @asynccontextmanager
    async def stream(
        self,
        method: Method,
        path: str,
        *,
        query: Query | None = None,
        body: JsonBody = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """One request whose answer the caller reads.

        Raises Unreachable when there is none in time, Redirected, and Invalid for a path that leads out of what its
        beginning names.
        """
        _refuse_detours(path)
        sent = {"Content-Type": "application/json", **(headers or {})}
        await self._api.update_params_for_auth(sent, [], ["BearerToken"], path, method, body)
        limit = self._timeout if timeout is None else timeout
        within = aiohttp.ClientTimeout(total=limit, connect=_CONNECT_SECONDS)
        url = self._url(path, query)
        response = await self._send(method, path, url, data=encode(body), headers=sent, timeout=within)
        try:
            if 300 <= response.status < 400:
                raise Redirected("the answer is a redirect, which is not followed", status=response.status)
            yield response
        except (aiohttp.ClientError, TimeoutError) as error:
            raise errors.Unreachable(f"{method} {path}: the answer broke off ({_cause(error)})") from error
        finally:
            response.close()

    async def _send(self, method: Method, path: str, url: str, **what: Any) -> aiohttp.ClientResponse:
        try:
            return await self._pool().request(
                method,
                url,
                allow_redirects=False,
                server_hostname=self._configuration.tls_server_name or None,
                proxy=self._configuration.proxy,
                proxy_headers=self._configuration.proxy_headers,
                **what,
            )
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise errors.Unreachable(f"{method} {path}: no answer from the API server ({_cause(error)})") from error

    def _pool(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=_CONNECTIONS, ssl=self._api.rest_client.ssl_context)
            # What the API server proxies may set cookies in its name: none is kept for the requests after it.
            jar = aiohttp.DummyCookieJar()
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=jar, trust_env=True)
        return self._session

    def _url(self, path: str, query: Query | None) -> str:
        host = str(self._configuration.host).rstrip("/")
        return host + quote(path, safe="/%:@!$&'()*+,;=~") + (f"?{urlencode(query, doseq=True)}" if query else "")


class Redirected(errors.Invalid):
    """The answer is a redirect: the API server sends none, but what it proxies may name any address at all."""


def encode(body: JsonBody) -> bytes | None:
    r"""The body as Go writes JSON: `<`, `>` and `&` escaped, letters of any script not.

    The API server compares the `test` of a JSON patch with its own encoding of the object byte by byte, so that
    another spelling of the same text makes the patch fail.
    """
    if body is None or isinstance(body, bytes):
        return body
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_AS_GO_WRITES).encode("utf-8", "replace")


def _refuse_detours(path: str) -> None:
    """Raise Invalid for a path with `.` or `..` as a segment: URLs are shortened by them before they are sent, so
    that a request through a proxy would ask the API server itself, as the operator.
    """
    plain = unquote(unquote(path)).replace("\\", "/")
    if any(segment in (".", "..") for segment in plain.split("/")):
        raise errors.Invalid(f"{one_line(path, 200)}: a path may not contain . or .. as a segment", status=400)


def _cause(error: BaseException) -> str:
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return "time-out"
    return one_line(str(error) or type(error).__name__, 200)
