"""What asking came to, however it was asked, and how it is judged. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import re2

from sanare import errors
from sanare.api.checks import Check, HttpCheck, TcpCheck
from sanare.evaluator.kinds import Kind
from sanare.evaluator.seen import Seen, failed, passed, unknown
from sanare.text import one_line

BODY_BYTES = 64 * 1024
_PATTERN_BYTES = 8 * 1024 * 1024  # memory that one pattern may take, compiled and while it matches


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request met.

    Attributes:
        status: HTTP status, 0 where there was none.
        body: the first `BODY_BYTES` of the answer, as they came.
        failure: why there was no answer, or why it could not be asked; empty on an answer.
        unknown: set where it could not be asked: then the failure says nothing about the Service.
    """

    status: int = 0
    body: bytes = b""
    failure: str = ""
    unknown: Kind | None = None


def check_name(check: Check) -> str:
    """What a declared check is called in a verdict."""
    return f"declared/{check.name}"


def unanswered(error: errors.KubeError) -> Reply:
    """An error of the API server: nothing is known about what was asked."""
    for kind, word in (
        (errors.Forbidden, Kind.FORBIDDEN),
        (errors.NotFound, Kind.NOT_FOUND),
        (errors.Unreachable, Kind.TIMEOUT),
    ):
        if isinstance(error, kind):
            return Reply(failure=one_line(str(error), 300), unknown=word)
    return Reply(failure=one_line(str(error), 300), unknown=Kind.UNKNOWN)


def judge_http(name: str, check: HttpCheck, reply: Reply) -> Seen:
    """Status first, then what the body must contain and match."""
    object_ = f"Service/{check.service}"
    asked = f"{object_} GET {check.path}"
    if reply.unknown:
        return unknown(name, reply.unknown, object_, f"{asked} could not be asked: {reply.failure}")
    if reply.failure or not reply.status:
        why = reply.failure or "the answer is not HTTP"
        return failed(name, Kind.DECLARED, object_, f"{asked}: {why}")
    if reply.status != check.status:
        return failed(name, Kind.DECLARED, object_, f"{asked} is answered with {reply.status}, not {check.status}")
    body = reply.body.decode("utf-8", "replace")
    if check.contains and check.contains not in body:
        return failed(name, Kind.DECLARED, object_, f'{asked}: the answer does not contain "{check.contains}"')
    if check.matches and not matches(check.matches, body):
        return failed(name, Kind.DECLARED, object_, f'{asked}: the answer does not match "{check.matches}"')
    return passed(name, object_, f"{asked} is answered with {reply.status}")


def judge_tcp(name: str, check: TcpCheck, reply: Reply) -> Seen:
    """Any answer means that the port is open."""
    object_ = f"Service/{check.service}"
    asked = f"{object_} port {check.port}"
    if reply.unknown:
        return unknown(name, reply.unknown, object_, f"{asked} could not be asked: {reply.failure}")
    if reply.failure:
        return failed(name, Kind.DECLARED, object_, f"{asked}: {reply.failure}")
    return passed(name, object_, f"{asked} accepts a connection")


def matches(pattern: str, body: str) -> bool:
    """Whether the RE2 pattern matches anywhere, in linear time and bounded memory. Raises ValueError."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_BYTES
    try:
        return re2.compile(pattern, options=options).search(body) is not None
    except re2.error as error:
        raise ValueError(pattern_fault(error)) from error


def pattern_fault(error: Exception) -> str:
    """RE2's own words for what is wrong with a pattern."""
    said = error.args[0] if error.args else ""
    return one_line(said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said), 200)
