"""Network: who answers at an address. Pods by IP, Services by name or cluster IP through their EndpointSlices."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from sanare_lab.cluster.node.run import Listener
from sanare_lab.cluster.objects import Obj, dig, name_of
from sanare_lab.cluster.resources import ENDPOINT_SLICES, SERVICES
from sanare_lab.cluster.store import Store

NODE_IP = "192.0.2.10"
_HOPS = 4  # backends that ask backends; a circle ends as unreachable
_SERVICE_LABEL = "kubernetes.io/service-name"


class ConnectionRefused(Exception):
    """The address answers, and nothing accepts connections at that port; the text is Go's dial error."""


class NoRoute(Exception):
    """Nothing has that address, or the name does not resolve; the text is Go's dial error."""


@dataclass(frozen=True, slots=True)
class PodResponse:
    """What a server in a pod answered."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class Endpoint(Protocol):
    """A pod, as the network sees it."""

    @property
    def ip(self) -> str:
        """Its address, empty while it has none."""
        ...

    @property
    def namespace(self) -> str:
        """Where its short names resolve."""
        ...

    @property
    def asks_cluster_dns(self) -> bool:
        """Whether its names are looked up in the cluster's DNS."""
        ...

    def listener(self, port: int, *, local: bool) -> Listener | None:
        """What accepts connections at a port, from outside or from within."""
        ...


class Network:
    """Every pod on the node, by address. Pods on the host network share the node's."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._by_ip: dict[str, list[Endpoint]] = {}
        self._used: set[int] = set()
        self._next = 2

    def allocate(self) -> str:
        """A free address: 10.244.0.2 and on, used again only after all others."""
        while self._next in self._used:
            self._next = self._next % 65_000 + 1
        number, self._next = self._next, self._next % 65_000 + 1
        self._used.add(number)
        return str(ipaddress.IPv4Address("10.244.0.0") + number)

    def join(self, endpoint: Endpoint) -> None:
        """A pod answers at its address from now on."""
        self._by_ip.setdefault(endpoint.ip, []).append(endpoint)

    def leave(self, endpoint: Endpoint) -> None:
        """A pod is gone, and its address is free; one that never joined is no error."""
        others = [other for other in self._by_ip.pop(endpoint.ip, []) if other is not endpoint]
        if others:
            self._by_ip[endpoint.ip] = others
        elif endpoint.ip and endpoint.ip != NODE_IP:
            self._used.discard(int(ipaddress.IPv4Address(endpoint.ip)) - int(ipaddress.IPv4Address("10.244.0.0")))

    def connect(self, ip: str, port: int, *, source: str = "") -> tuple[Endpoint, Listener]:
        """Who accepts a connection. Raises ConnectionRefused or NoRoute."""
        endpoints = self._by_ip.get(ip)
        if not endpoints and ip != NODE_IP:
            raise NoRoute(f"dial tcp {ip}:{port}: connect: no route to host")
        for endpoint in endpoints or []:
            listener = endpoint.listener(port, local=source == ip)
            if listener is not None:
                return endpoint, listener
        raise ConnectionRefused(f"dial tcp {ip}:{port}: connect: connection refused")

    def request(
        self, ip: str, port: int, method: str, path: str, *, source: str = "", hops: int = _HOPS
    ) -> PodResponse:
        """One HTTP request. Raises ConnectionRefused or NoRoute."""
        endpoint, listener = self.connect(ip, port, source=source)
        if listener.site is None:
            raise ConnectionRefused(f"dial tcp {ip}:{port}: EOF")
        page = listener.site.pages.get(urlsplit(path).path)
        if page is None:
            return _plain(404, b"not found\n", method)
        asks = listener.site.backend if urlsplit(path).path == "/" else ""
        if asks and not 200 <= self.fetch(asks, endpoint, hops - 1) < 400:
            return _plain(502, b"backend unreachable\n", method)
        return _plain(200, page, method)

    def fetch(self, url: str, endpoint: Endpoint, hops: int = _HOPS) -> int:
        """The status that a GET from that pod gets, 0 where nothing answers."""
        if hops <= 0:
            return 0
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            ip, target = self.resolve(parts.hostname or "", parts.port or 80, endpoint)
            return self.request(ip, target, "GET", parts.path or "/", source=endpoint.ip, hops=hops).status
        except (ConnectionRefused, NoRoute, ValueError):
            return 0

    def resolve(self, host: str, port: int, endpoint: Endpoint) -> tuple[str, int]:
        """Address and port that a name and port lead to from that pod. Raises ConnectionRefused or NoRoute."""
        if host in ("localhost", "127.0.0.1"):
            return endpoint.ip, port
        known = endpoint.asks_cluster_dns or _is_address(host)
        service = self._service(host, endpoint.namespace) if known else None
        if service is None:
            address = host if _is_address(host) else self._pod(host, endpoint) if known else ""
            if address:
                return address, port
            raise NoRoute(f"dial tcp: lookup {host}: no such host")
        for ip, target in self._backends(service, port):
            return ip, target
        raise ConnectionRefused(f"dial tcp {dig(service, 'spec', 'clusterIP')}:{port}: connect: connection refused")

    def _service(self, host: str, namespace: str) -> Obj | None:
        if _is_address(host):
            services = self._store.list(SERVICES)
            return next((found for found in services if dig(found, "spec", "clusterIP") == host), None)
        return self._named(host, namespace)

    def _named(self, host: str, namespace: str) -> Obj | None:
        name, _, rest = host.rstrip(".").partition(".")
        space, _, suffix = rest.partition(".")
        if suffix and not "svc.cluster.local".startswith(suffix):
            return None
        return self._store.get(SERVICES, space or namespace, name)

    def _pod(self, host: str, endpoint: Endpoint) -> str:
        """The address of `POD.SERVICE`, which a headless Service gives to pods that name it as their subdomain."""
        hostname, _, rest = host.partition(".")
        service = self._named(rest, endpoint.namespace) if rest else None
        if service is None or dig(service, "spec", "clusterIP") != "None":
            return ""
        for found in self._slices(service):
            for item in found.get("endpoints") or []:
                if item.get("hostname") == hostname:
                    return str(item["addresses"][0])
        return ""

    def _slices(self, service: Obj) -> Iterator[Obj]:
        for found in self._store.list(ENDPOINT_SLICES, service["metadata"]["namespace"]):
            if (found["metadata"].get("labels") or {}).get(_SERVICE_LABEL) == name_of(service):
                yield found

    def _backends(self, service: Obj, port: int) -> Iterator[tuple[str, int]]:
        wanted = next((item for item in dig(service, "spec", "ports") or [] if item.get("port") == port), None)
        headless = dig(service, "spec", "clusterIP") == "None"
        if wanted is None and not headless:
            return
        for found in self._slices(service):
            name = (wanted or {}).get("name") or ""
            ports = [item["port"] for item in found.get("ports") or [] if (item.get("name") or "") == name]
            for item in found.get("endpoints") or []:
                if dig(item, "conditions", "ready") is not False and (ports or headless):
                    yield item["addresses"][0], port if headless else ports[0]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _plain(status: int, body: bytes, method: str) -> PodResponse:
    headers = {"Content-Type": "text/plain", "Content-Length": str(len(body))}
    return PodResponse(status, headers, b"" if method == "HEAD" else body)
