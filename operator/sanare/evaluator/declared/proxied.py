"""Requests through the API server's Service proxy: the way that works wherever the operator runs."""

from __future__ import annotations

from sanare import errors
from sanare.api.checks import HttpCheck, TcpCheck
from sanare.api.manifest import number, text
from sanare.evaluator.declared.destination import find_port, no_port, vouched_for
from sanare.evaluator.declared.reply import BODY_BYTES, Reply, unanswered
from sanare.evaluator.kinds import Kind
from sanare.evaluator.reach import address, read_answer
from sanare.evaluator.snapshot import Probe, Snapshot
from sanare.kube.client import KubeClient

SECONDS = 5.0


async def ask_http(kube: KubeClient, snapshot: Snapshot, check: HttpCheck) -> Reply:
    """One GET, its redirect not followed. Never raises."""
    return await _ask(kube, snapshot, check.service, check.port, path=check.path, scheme=check.scheme)


async def ask_tcp(kube: KubeClient, snapshot: Snapshot, check: TcpCheck) -> Reply:
    """Whether the proxy gets a connection, by its own words for one that it did not get. Never raises.

    The proxy speaks HTTP alone. A server that takes its request and says nothing is no closed port, so a silence
    leaves it open.
    """
    reply = await _ask(kube, snapshot, check.service, check.port)
    if reply.failure == "timeout":
        why = "no answer through the API server's proxy, which tells no silent server from a closed port"
        return Reply(failure=f"{why}; ask from Operator or ProbePod", unknown=Kind.TIMEOUT)
    return reply


async def _ask(
    kube: KubeClient, snapshot: Snapshot, service: str, port: str, *, path: str = "/", scheme: str = "HTTP"
) -> Reply:
    probe = _probe(snapshot, service, port, path)
    if isinstance(probe, Reply):
        return probe
    url, query = address(snapshot.namespace, probe)
    if scheme == "HTTPS":
        url = url.replace(f"/services/{service}:", f"/services/https:{service}:", 1)
    try:
        raw = await kube.raw("GET", url, query=query or None, timeout=SECONDS, limit=BODY_BYTES)
    except errors.Unreachable as error:
        if isinstance(error.__cause__, TimeoutError):
            return Reply(failure="timeout")  # the lists were answered a moment ago: this silence is the backend's
        return unanswered(error)
    except errors.KubeError as error:
        return unanswered(error)  # a path that is not sent at all
    answer = read_answer(raw)
    if not answer.known:
        return Reply(failure=answer.failure, unknown=Kind.FORBIDDEN if raw.status in (401, 403) else Kind.UNKNOWN)
    if answer.failure in ("not found", "no such port"):
        return Reply(failure=answer.body, unknown=Kind.NOT_FOUND)
    return Reply(answer.status, raw.body if answer.status else b"", answer.failure)


def _probe(snapshot: Snapshot, service: str, port: str, path: str) -> Probe | Reply:
    """The request, by the name of the port where it has one: the proxy takes both."""
    found = vouched_for(snapshot, service)
    if isinstance(found, Reply):
        return found
    chosen = find_port(found, port)
    if chosen is None:
        return no_port(service, port)
    return Probe("Service", service, text(chosen, "name") or str(number(chosen, "port")), path)
