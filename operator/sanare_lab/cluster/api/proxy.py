"""The proxy subresource of Services and Pods: one HTTP request from the API server to an application."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from aiohttp import web

from sanare_lab.cluster.api.pods import Pods
from sanare_lab.cluster.api.request import Call
from sanare_lab.cluster.errors import ApiError, bad_request, not_found
from sanare_lab.cluster.node import ConnectionRefused, NoRoute
from sanare_lab.cluster.objects import Obj, dig, labels_of
from sanare_lab.cluster.resources import ENDPOINT_SLICES, PODS, SERVICES
from sanare_lab.cluster.store import Store

_SERVICE_LABEL = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class Backend:
    """Where a request goes: an address, and the Pod behind it where that is known."""

    ip: str
    port: int
    namespace: str = ""
    pod: str = ""


def _unavailable(message: str) -> ApiError:
    return ApiError(503, "ServiceUnavailable", message)


def _split(name: str) -> tuple[str, str]:
    """Name and port of `[scheme:]name[:port]`; the scheme makes no difference here."""
    parts = name.split(":")
    if len(parts) == 3:
        return parts[1], parts[2]
    return parts[0], parts[1] if len(parts) == 2 else ""


class Proxy:
    """Finds the backend and passes one request on."""

    def __init__(self, store: Store, pods: Pods) -> None:
        self._store = store
        self._pods = pods
        self._turn = count()

    async def serve(self, call: Call) -> web.StreamResponse:
        """The application's answer. Raises ApiError 503 where there is none, 404 where there is no such Pod."""
        if not call.http.path.rstrip("/").endswith("/proxy") or call.http.path.endswith("/proxy/"):
            return await self._pass_on(call)
        return web.Response(status=301, headers={"Location": f"{call.http.path}/"})

    async def _pass_on(self, call: Call) -> web.StreamResponse:
        name, port = _split(call.target.name)
        find = self._service_backend if call.resource is SERVICES else self._pod_backend
        backend = find(call.target.namespace, name, port)
        query = f"?{call.http.query_string}" if call.http.query_string else ""
        path, body = f"/{call.target.rest}{query}", await call.http.read()
        method = call.http.method
        try:
            if backend.pod:
                answer = await self._pods.http(
                    backend.namespace, backend.pod, backend.port, method, path, body=body
                )
            else:
                answer = await self._pods.http_ip(backend.ip, backend.port, method, path, body=body)
        except (ConnectionRefused, NoRoute) as error:
            raise _unavailable(f"error trying to reach service: {error}") from error
        return web.Response(status=answer.status, headers=answer.headers, body=answer.body)

    def _pod_backend(self, namespace: str, name: str, port: str) -> Backend:
        pod = self._store.get(PODS, namespace, name)
        if pod is None:
            raise not_found(PODS, name)
        ip = dig(pod, "status", "podIP")
        if not ip:
            raise bad_request("address not allowed")
        number = int(port) if port.isdigit() else dig(pod, "spec", "containers", 0, "ports", 0, "containerPort")
        return Backend(ip, number or 80, namespace, name)

    def _service_backend(self, namespace: str, name: str, port: str) -> Backend:
        service = self._store.get(SERVICES, namespace, name)
        none = _unavailable(f'no endpoints available for service "{name}"')
        if service is None:
            raise none
        wanted = port
        if port.isdigit():
            named = [p.get("name", "") for p in dig(service, "spec", "ports") or () if p["port"] == int(port)]
            if not named:
                raise _unavailable(f'no service port {port} found for service "{name}"')
            wanted = named[0]
        found = [b for s in self._slices(namespace, name) for b in _backends(s, wanted)]
        if not found:
            raise none
        # A real API server throws dice; taking turns spreads requests as widely and can be relied on.
        return found[next(self._turn) % len(found)]

    def _slices(self, namespace: str, service: str) -> list[Obj]:
        found = self._store.list(ENDPOINT_SLICES, namespace)
        return [obj for obj in found if labels_of(obj).get(_SERVICE_LABEL) == service]


def _backends(found: Obj, port_name: str) -> list[Backend]:
    """The ready endpoints of one slice, at the port of that name."""
    ports = [p["port"] for p in found.get("ports") or () if (p.get("name") or "") == port_name and p.get("port")]
    backends = []
    for endpoint in found.get("endpoints") or ():
        if dig(endpoint, "conditions", "ready") is False:
            continue
        target = endpoint.get("targetRef") or {}
        pod = target.get("name", "") if target.get("kind") == "Pod" else ""
        for address in endpoint.get("addresses") or ():
            backends += [Backend(address, port, target.get("namespace", ""), pod) for port in ports]
    return backends
