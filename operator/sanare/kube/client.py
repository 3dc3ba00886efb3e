"""KubeClient: bounded requests to one API server, errors as our own tree, objects as parsed JSON."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import aiohttp
from kubernetes.aio import client as kubernetes_client
from kubernetes.aio import config as kubernetes_config

from sanare import errors
from sanare.api.manifest import Manifest, items, text
from sanare.kube.contexts import UNREADABLE
from sanare.kube.resources import Resource
from sanare.kube.transport import JsonBody, Method, Query, Redirected, Transport
from sanare.text import one_line

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

_LIST_CHUNK = 500
_BODY_LIMIT = 64 * 1024 * 1024

_BY_STATUS: dict[int, type[errors.KubeError]] = {
    400: errors.Invalid,
    401: errors.Forbidden,
    403: errors.Forbidden,
    404: errors.NotFound,
    409: errors.Conflict,
    410: errors.Gone,
    413: errors.TooLarge,
    422: errors.Invalid,
    429: errors.Unreachable,
}


@dataclass(frozen=True, slots=True)
class ObjectList:
    """One list, whole, and the resourceVersion a watch goes on from."""

    items: tuple[Manifest, ...]
    resource_version: str


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One change. BOOKMARK carries only a resourceVersion."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    object: Manifest


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer as it came, for callers that judge it themselves."""

    status: int
    body: bytes
    content_type: str

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    def manifest(self) -> Manifest:
        """The body as a JSON object, empty where it is not one."""
        try:
            parsed = json.loads(self.body)
        except ValueError:
            return {}
        return parsed if isinstance(parsed, dict) else {}


@dataclass(frozen=True, slots=True)
class Credentials:
    """Where the API server is and as whom to speak to it; paths name PEM files."""

    server: str
    ca_path: str | None
    insecure: bool
    certificate_path: str | None
    key_path: str | None
    token: str | None = field(repr=False)


def kube_error(status: int, body: bytes | str, *, what: str) -> errors.KubeError:
    """The error of our tree for an HTTP answer, worded as the API server words it."""
    raw = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    try:
        answer: object = json.loads(raw)
    except ValueError:
        answer = None
    message = text(answer, "message") or one_line(raw, 300) or f"HTTP {status}"
    kind = _BY_STATUS.get(status, errors.Unreachable if status >= 500 else errors.Invalid)
    return kind(f"{what}: {one_line(message, 600)}", status=status, reason=text(answer, "reason"))


class KubeClient:
    """One connection pool to one API server. Every request has a time-out (seconds); none is retried here."""

    def __init__(self, configuration: Any, *, timeout: float = 30.0) -> None:
        self._configuration = configuration
        self._transport = Transport(configuration, timeout=timeout)

    @classmethod
    async def connect(
        cls, *, timeout: float = 30.0, kubeconfig: str | None = None, context: str | None = None
    ) -> Self:
        """Use the kubeconfig or context named, else the pod's service account, else KUBECONFIG.

        Raises ConfigError.
        """
        configuration = kubernetes_client.Configuration()
        try:
            await _load_config(configuration, kubeconfig, context)
        except UNREADABLE as error:
            raise errors.ConfigError(
                f"no cluster to talk to: set KUBECONFIG to a readable kubeconfig, or run in a pod with a "
                f"service account ({one_line(str(error), 300)})"
            ) from error
        return cls(configuration, timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection pool."""
        await self._transport.close()

    async def credentials(self) -> Credentials:
        """How to reach the same API server as the same identity: for kopf, which has a client of its own."""
        configuration = self._configuration
        key = await configuration.get_api_key_with_prefix("BearerToken") or ""
        return Credentials(
            server=configuration.host,
            ca_path=configuration.ssl_ca_cert,
            insecure=not configuration.verify_ssl,
            certificate_path=configuration.cert_file,
            key_path=configuration.key_file,
            token=key.split(" ", 1)[-1] or None,
        )

    def stream(
        self,
        method: Method,
        path: str,
        *,
        query: Query | None = None,
        body: JsonBody = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """One request whose answer the caller reads; see Transport.stream."""
        return self._transport.stream(method, path, query=query, body=body, headers=headers, timeout=timeout)

    async def raw(
        self,
        method: Method,
        path: str,
        *,
        query: Query | None = None,
        body: JsonBody = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        limit: int = _BODY_LIMIT,
    ) -> RawAnswer:
        """One request, its answer read to at most `limit` bytes. Raises Unreachable; a bad status is an answer."""
        try:
            async with self.stream(
                method, path, query=query, body=body, headers=headers, timeout=timeout
            ) as response:
                chunks, size = [], 0
                async for chunk in response.content.iter_chunked(65536):
                    chunks.append(chunk)
                    size += len(chunk)
                    if size >= limit:
                        break
                return RawAnswer(response.status, b"".join(chunks)[:limit], response.content_type)
        except Redirected as moved:
            return RawAnswer(moved.status, b"", "")

    async def request(
        self,
        method: Method,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: JsonBody = None,
        content_type: str = "application/json",
        timeout: float | None = None,
    ) -> Manifest:
        """One request that must succeed. Raises the KubeError that the status means."""
        headers = {"Content-Type": content_type, "Accept": "application/json"}
        answer = await self.raw(method, path, query=query, body=body, headers=headers, timeout=timeout)
        if not answer.ok:
            raise kube_error(answer.status, answer.body, what=f"{method} {path}")
        return answer.manifest()

    async def get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        """One object. Raises NotFound, Forbidden, Unreachable, Invalid."""
        _refuse_path(name)
        return await self.request("GET", resource.path(namespace, name))

    async def list(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        labels: str = "",
        fields: str = "",
        chunk: int = _LIST_CHUNK,
    ) -> ObjectList:
        """Every object of a kind, page by page; items carry kind and apiVersion. Raises KubeError."""
        query = {"limit": str(chunk)}
        if labels:
            query["labelSelector"] = labels
        if fields:
            query["fieldSelector"] = fields
        found: list[Manifest] = []
        while True:
            page = await self.request("GET", resource.path(namespace), query=query)
            stamp = {"kind": resource.kind, "apiVersion": resource.api_version}
            found.extend({**stamp, **item} for item in items(page, "items"))
            token = text(page, "metadata", "continue")
            if not token:
                return ObjectList(tuple(found), text(page, "metadata", "resourceVersion"))
            query = {**query, "continue": token}

    async def watch(
        self, resource: Resource, namespace: str = "", *, since: str, fields: str = "", seconds: int = 60
    ) -> AsyncIterator[WatchEvent]:
        """Changes since a resourceVersion, for at most `seconds`; ends quietly then. Raises Gone, Unreachable."""
        query = {
            "watch": "true",
            "resourceVersion": since,
            "timeoutSeconds": str(seconds),
            "allowWatchBookmarks": "true",
        }
        if fields:
            query["fieldSelector"] = fields
        path = resource.path(namespace)
        headers = {"Accept": "application/json"}
        async with self.stream("GET", path, query=query, headers=headers, timeout=seconds + 10) as response:
            if response.status != 200:
                raise kube_error(response.status, await response.read(), what=f"watch {path}")
            async for line in _lines(response):
                event = json.loads(line)
                if event["type"] == "ERROR":
                    status = event["object"].get("code") or 500
                    raise kube_error(status, json.dumps(event["object"]), what=f"watch {path}")
                yield WatchEvent(event["type"], event["object"])

    async def create(self, resource: Resource, namespace: str, body: Mapping[str, Any]) -> Manifest:
        """Create. Raises Conflict where the name is taken, Invalid, Forbidden."""
        return await self.request("POST", resource.path(namespace), body=body)

    async def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        body: JsonBody,
        *,
        subresource: str = "",
        content_type: str = MERGE_PATCH,
        dry_run: bool = False,
    ) -> Manifest:
        """Patch; with `dry_run` the API server answers with the result and keeps nothing."""
        query = {"fieldManager": "sanare"} | ({"dryRun": "All"} if dry_run else {})
        path = resource.path(namespace, name, subresource)
        return await self.request("PATCH", path, query=query, body=body, content_type=content_type)

    async def delete(self, resource: Resource, namespace: str, name: str, *, uid: str = "") -> None:
        """Delete, in the background; with a uid only that very object."""
        body: dict[str, Any] = {"propagationPolicy": "Background"}
        if uid:
            body["preconditions"] = {"uid": uid}
        await self.request("DELETE", resource.path(namespace, name), body=body)


def _refuse_path(name: str) -> None:
    """Raise Invalid for a name that Kubernetes gives to nothing, and that would change what a path asks for."""
    if name in ("", ".", "..") or any(sign in name for sign in "/%?#\\"):
        raise errors.Invalid(f"{one_line(name, 100)!r} is no name of an object", status=400)


async def _load_config(configuration: Any, kubeconfig: str | None, context: str | None) -> None:
    if kubeconfig is None and context is None:
        with suppress(kubernetes_config.ConfigException):
            kubernetes_config.load_incluster_config(configuration)
            return
    await kubernetes_config.load_kube_config(kubeconfig, context=context, client_configuration=configuration)


async def _lines(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The lines of a stream, whatever their length."""
    pending = b""
    async for chunk in response.content.iter_any():
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            if line.strip():
                yield line
