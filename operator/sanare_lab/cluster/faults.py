"""Faults: what can go wrong between a client and the API, at a rate or at chosen requests, the same for a seed."""

from __future__ import annotations

import asyncio
import enum
import random
import re
from dataclasses import dataclass

from aiohttp import web

from sanare_lab.cluster.errors import ApiError

_LONGEST_HANG = 600.0


class FaultKind(enum.Enum):
    """What happens to a request."""

    LATENCY = "latency"  # it is answered `seconds` later
    CONFLICT = "conflict"  # 409, nothing done
    THROTTLED = "throttled"  # 429 with Retry-After of `seconds`, nothing done
    ERROR = "error"  # 500, nothing done
    TIMEOUT = "timeout"  # no answer, nothing done
    DROP = "drop"  # the connection is cut: a watch after `seconds`, another request before its answer
    STALE = "stale"  # a watch stays open and tells nothing
    GONE = "gone"  # a watch is told that its version is too old


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. `match` is searched in `METHOD /path?query`; among the requests that match, every one is hit with
    probability `rate`, and those whose numbers (from 1) are in `requests` for certain.
    """

    kind: FaultKind
    match: str = ""
    rate: float = 0.0
    requests: frozenset[int] = frozenset()
    seconds: float = 0.0

    async def before(self, request: web.Request) -> web.StreamResponse | None:
        """What the client gets instead of its answer, or None where the request goes on. Raises ApiError."""
        if self.kind is FaultKind.LATENCY:
            await asyncio.sleep(self.seconds)
        elif self.kind is FaultKind.CONFLICT:
            message = (
                "Operation cannot be fulfilled: the object has been modified; please apply your changes to the "
            )
            raise ApiError(409, "Conflict", message + "latest version and try again")
        elif self.kind is FaultKind.THROTTLED:
            details = {"retryAfterSeconds": max(1, round(self.seconds))}
            message = "Too many requests, please try again later."
            raise ApiError(429, "TooManyRequests", message, details)
        elif self.kind is FaultKind.ERROR:
            raise ApiError(500, "InternalError", "Internal error occurred: etcdserver: request timed out")
        elif self.kind is FaultKind.TIMEOUT:
            await asyncio.sleep(_LONGEST_HANG)
        elif self.kind is FaultKind.DROP and not _is_watch(request):
            return cut(request)
        return None


def _is_watch(request: web.Request) -> bool:
    return request.query.get("watch", "").lower() in ("true", "1")


def cut(request: web.Request) -> web.StreamResponse:
    """Close the connection without an answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=503)


class Faults:
    """The faults in force. Changing them takes effect at the next request."""

    def __init__(self, *faults: Fault, seed: int = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311 - faults, not secrets
        self._faults = list(faults)
        self._seen: dict[Fault, int] = {}
        self.hits = 0

    def add(self, fault: Fault) -> None:
        """One more; its count of requests starts now."""
        self._faults.append(fault)

    def clear(self) -> None:
        """None any more."""
        self._faults.clear()
        self._seen.clear()

    def next(self, method: str, path: str) -> Fault | None:
        """The first fault that hits this request."""
        chosen = None
        for fault in self._faults:
            if re.search(fault.match, f"{method} {path}") and self._is_hit(fault) and chosen is None:
                chosen = fault
        self.hits += chosen is not None
        return chosen

    def _is_hit(self, fault: Fault) -> bool:
        number = self._seen[fault] = self._seen.get(fault, 0) + 1
        return number in fault.requests or (fault.rate > 0 and self._random.random() < fault.rate)
