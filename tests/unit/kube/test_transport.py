"""The bytes that are sent, and what is made of answers that are none."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import Configuration

from sanare import errors
from sanare.kube.transport import Transport, encode


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param("echo ok > /work/a", r'"echo ok \u003e /work/a"', id="a redirection"),
        pytest.param("a && b <c", r'"a \u0026\u0026 b \u003cc"', id="a shell line"),
        pytest.param("für 北京", '"für 北京"', id="letters of any script"),
        pytest.param("a\u2028b", r'"a\u2028b"', id="a line separator"),
        pytest.param('"\\\n\t', r'"\"\\\n\t"', id="what every writer escapes"),
        pytest.param({"a": ["<", 1, None]}, r'{"a":["\u003c",1,null]}', id="within an object"),
        pytest.param("\ud800", '"?"', id="half a character"),
    ],
)
def test_a_body_is_written_as_the_api_server_writes_it(value: object, written: str) -> None:
    assert encode([value]) == f"[{written}]".encode()


def test_what_is_encoded_reads_the_same() -> None:
    body = {"text": "<a> & b \u2028 é", "of": [{"n": 1.5}, True]}
    encoded = encode(body)
    assert encoded is not None
    assert json.loads(encoded) == body


def test_bytes_and_nothing_go_as_they_are() -> None:
    assert (encode(b"<raw>"), encode(None)) == (b"<raw>", None)


@pytest_asyncio.fixture
async def transport() -> AsyncIterator[Transport]:
    """To a server that says what it was sent, and that leads `/moved` elsewhere."""

    async def echo(request: web.Request) -> web.Response:
        if request.path == "/moved":
            raise web.HTTPFound("/elsewhere")
        said = [request.method, request.raw_path, request.content_type, (await request.read()).decode()]
        return web.json_response(said)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", echo)
    async with TestServer(app) as server:
        transport = Transport(Configuration(host=str(server.make_url(""))), timeout=5)
        yield transport
        await transport.close()


async def test_method_path_type_and_body_arrive(transport: Transport) -> None:
    headers = {"Content-Type": "application/json-patch+json"}
    async with transport.stream("PATCH", "/a b", query={"x": "1&2"}, body=["<"], headers=headers) as answer:
        said = json.loads(await answer.read())
    assert said == ["PATCH", "/a%20b?x=1%262", "application/json-patch+json", r'["\u003c"]']


async def test_a_parameter_may_have_several_values_or_none(transport: Transport) -> None:
    async with transport.stream("GET", "/a", query={"x": ("1", "2"), "y": ""}) as answer:
        assert json.loads(await answer.read())[1] == "/a?x=1&x=2&y="


async def test_no_cookie_is_kept() -> None:
    kept: list[str] = []

    async def greet(request: web.Request) -> web.Response:
        kept.append(request.headers.get("Cookie", ""))
        return web.Response(headers={"Set-Cookie": "who=you; Path=/"})

    app = web.Application()
    app.router.add_get("/{path:.*}", greet)
    async with TestServer(app) as server:
        transport = Transport(Configuration(host=f"http://localhost:{server.port}"), timeout=5)
        for path in ("/proxied", "/elsewhere"):
            async with transport.stream("GET", path):
                pass
        await transport.close()
    assert kept == ["", ""]


async def test_a_redirect_is_not_followed(transport: Transport) -> None:
    with pytest.raises(errors.Invalid, match="redirect"):
        async with transport.stream("GET", "/moved"):
            pass


async def test_no_answer_is_unreachable() -> None:
    transport = Transport(Configuration(host="http://127.0.0.1:1"), timeout=2)
    with pytest.raises(errors.Unreachable, match="no answer from the API server"):
        async with transport.stream("GET", "/version"):
            pass
    await transport.close()
