"""ApiServer: the HTTP door of the embedded cluster on loopback."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from aiohttp import web

from sanare_lab.cluster.api import discovery, openapi, openapi_v2, reviews
from sanare_lab.cluster.api.logs import serve_logs
from sanare_lab.cluster.api.pods import Pods, bind, evict
from sanare_lab.cluster.api.proxy import Proxy
from sanare_lab.cluster.api.reading import get, list_objects
from sanare_lab.cluster.api.rendering import error_answer, json_answer
from sanare_lab.cluster.api.request import Call, find_target
from sanare_lab.cluster.api.watching import Watch
from sanare_lab.cluster.api.writing import Writer
from sanare_lab.cluster.errors import ApiError, method_not_allowed, no_such_path
from sanare_lab.cluster.faults import Fault, Faults
from sanare_lab.cluster.resources import ENDPOINTS
from sanare_lab.cluster.schemas import SchemaBook
from sanare_lab.cluster.store import Store
from sanare_lab.cluster.tables import TableBook

_LOG = logging.getLogger(__name__)
_ENDPOINTS_WARNING = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
_BODY_LIMIT = 3 * 1024 * 1024
_SHUTDOWN_SECONDS = 0.2


class ApiServer:
    """Routes requests to what answers them. Faults come before everything else."""

    def __init__(self, store: Store, book: SchemaBook, tables: TableBook, pods: Pods, faults: Faults) -> None:
        self._store = store
        self._book = book
        self._tables = tables
        self._pods = pods
        self._faults = faults
        self._writer = Writer(store, book, tables)
        self._proxy = Proxy(store, pods)
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def start(self, port: int = 0) -> None:
        """Listen on loopback; port 0 takes a free one. Raises OSError where the port is taken."""
        app = web.Application(client_max_size=_BODY_LIMIT)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUTDOWN_SECONDS)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Close every connection."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def restart(self) -> None:
        """Close every connection and listen again on the same port."""
        await self.stop()
        await self.start(self.port)

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        try:
            fault = self._faults.next(request.method, request.path_qs)
            answer = await fault.before(request) if fault else None
            if answer is not None:
                return answer
            return await self._route(request, fault)
        except ApiError as error:
            return error_answer(error)
        except (asyncio.CancelledError, ConnectionError, web.HTTPException):
            raise
        except Exception as error:
            _LOG.exception("%s %s failed", request.method, request.path_qs)
            return error_answer(ApiError(500, "InternalError", f"Internal error occurred: {error}"))

    async def _route(self, request: web.Request, fault: Fault | None) -> web.StreamResponse:
        path = request.path.strip("/")
        head = path.split("/", 1)[0]
        if head in ("api", "apis"):
            found = self._discovery(request, path)
            return found if found is not None else await self._serve_resource(request, fault)
        if head in ("healthz", "livez", "readyz"):
            return web.Response(text="ok")
        if path == "version":
            return json_answer(discovery.VERSION)
        if head == "openapi":
            return self._openapi(path)
        return web.Response(text="404 page not found\n", status=404)

    def _discovery(self, request: web.Request, path: str) -> web.Response | None:
        registry = self._store.registry
        if path in ("api", "apis") and "v=v2;as=APIGroupDiscoveryList" in request.headers.get("Accept", ""):
            answer = json_answer(discovery.aggregated(registry, core=path == "api"))
            answer.headers["Content-Type"] = discovery.AGGREGATED
            return answer
        found = discovery.legacy(registry, path)
        return json_answer(found) if found else None

    def _openapi(self, path: str) -> web.Response:
        registry = self._store.registry
        if path == "openapi/v2":
            return web.Response(body=openapi_v2.document(), content_type=openapi_v2.MEDIA_TYPE)
        inner = path.removeprefix("openapi/v3").strip("/")
        if path == "openapi/v3":
            return json_answer(openapi.index(registry, self._book))
        found = openapi.document(registry, self._book, inner) if path.startswith("openapi/v3/") else None
        return json_answer(found) if found else web.Response(text="404 page not found\n", status=404)

    async def _serve_resource(self, request: web.Request, fault: Fault | None) -> web.StreamResponse:
        review = await reviews.answer(request)
        if review is not None:
            return review
        target = find_target(self._store.registry, request.path)
        call = Call(request, target)
        answer = await self._serve_target(call, fault)
        if target.resource is ENDPOINTS and not answer.prepared:
            answer.headers.add("Warning", _ENDPOINTS_WARNING)
        return answer

    async def _serve_target(self, call: Call, fault: Fault | None) -> web.StreamResponse:
        target = call.target
        if target.subresource and target.subresource not in ("status", "finalize"):
            return await self._serve_subresource(call)
        if target.name and not call.flag("watch"):
            return await self._serve_object(call)
        return await self._serve_collection(call, fault)

    async def _serve_object(self, call: Call) -> web.StreamResponse:
        method = call.http.method
        if method == "GET":
            return get(self._store, self._tables, call)
        served: dict[str, Callable[[Call], Awaitable[web.StreamResponse]]] = {
            "PUT": self._writer.update,
            "PATCH": self._writer.patch,
            "DELETE": self._writer.delete,
        }
        if method not in served:
            raise method_not_allowed()
        return await served[method](call)

    async def _serve_collection(self, call: Call, fault: Fault | None) -> web.StreamResponse:
        method = call.http.method
        if method == "GET" and call.flag("watch"):
            return await Watch(self._store, self._tables, call, fault).serve()
        if method == "GET":
            return list_objects(self._store, self._tables, call)
        if method == "POST":
            return await self._writer.create(call)
        if method == "DELETE":
            return await self._writer.delete_collection(call)
        raise method_not_allowed()

    async def _serve_subresource(self, call: Call) -> web.StreamResponse:
        match call.target.subresource:
            case "scale":
                return await self._writer.scale(call)
            case "log":
                return await serve_logs(self._store, self._pods, call)
            case "proxy":
                return await self._proxy.serve(call)
            case "binding":
                return await bind(self._store, call)
            case "eviction":
                return await evict(self._store, call)
            case _:
                raise no_such_path()
