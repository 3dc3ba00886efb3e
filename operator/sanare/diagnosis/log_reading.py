"""What may be taken from a container's log: a port, an address, a path, the name of a variable or of a file.

A log is written by whoever talks to the program, so nothing else is read from it, every pattern is strict, and what
is read is a hint that a probe or the spec must confirm. Pure.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass

_START_WORDS = r"(?:listen(?:ing|s)?|serving|bound|started|running|accepting connections)"
_LISTENING = re.compile(
    rf"\b{_START_WORDS}\b[^\n]{{0,60}}?(?<![\w.])(?:https?://|tcp://)?"
    r"(?P<address>\[[0-9a-fA-F:.]{2,45}\]|\d{1,3}(?:\.\d{1,3}){3}|localhost|\*)?:(?P<port>\d{2,5})\b(?![.:\d])",
    re.I,
)
_ON_PORT = re.compile(rf"\b{_START_WORDS}\b[^\n:]{{0,40}}?\bport[ =:]{{1,3}}(\d{{2,5}})\b", re.I)

# Names are upper case although the words around them may be of any case.
_NAME = r"[\"'`$({]{0,3}(?P<name>[A-Z][A-Z0-9_]{1,63})[\"'`)}]{0,2}"
_THING = r"(?i:env(?:ironment)?(?: var(?:iable)?)?|variable|setting|key)s?"
_ABSENT = (
    r"(?i:not (?:set|defined|provided|found)|unset|undefined|missing|required|must be set|empty|unbound variable)"
)
_LACKS = r"(?i:missing|required?|needs?|set|no|undefined|unset|expected|without)"
_VARIABLE = (
    re.compile(rf"\b{_LACKS}\b[^\n]{{0,40}}?\b{_THING}:? {_NAME}(?![\w])"),
    re.compile(rf"\b{_THING}:? {_NAME}(?![\w])[^\n]{{0,30}}?\b{_ABSENT}\b"),
    re.compile(
        rf"(?<![\w]){_NAME}:? (?i:(?:environment variable |env var )?(?:is |was |are |must be |: )*)"
        rf"(?:{_ABSENT}|(?i:parameter (?:null or )?not set))\b"
    ),
    re.compile(rf"\b(?i:missing|required)(?i: required)?(?i: env| config)?: {_NAME}(?![\w])"),
    re.compile(r"\bKeyError: ['\"](?P<name>[A-Z][A-Z0-9_]{1,63})['\"]"),
)
_NOT_NAMES = frozenset({"ERROR", "FATAL", "WARN", "WARNING", "INFO", "DEBUG", "PANIC", "CRITICAL", "HTTP", "ENV"})
_REFUSED = r"(?i:not accepted|invalid|not valid|(?:unknown|unexpected|bad) value|rejected|mismatch)"
_REJECTED = re.compile(rf"\b{_THING}:? {_NAME}(?![\w])[^\n]{{0,40}}?\b{_REFUSED}\b")

_FILE_PATH = r"[\"'`]?(?P<path>/[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+){1,12})[\"'`]?"
_CANNOT = r"(?i:missing|required|no such|(?:cannot|can't|could not|failed to) (?:open|read|load))"
_FILE = (
    re.compile(rf"\b{_CANNOT}\b[^\n/]{{0,40}}?{_FILE_PATH}"),
    re.compile(rf"{_FILE_PATH}:? ?[^\n/]{{0,30}}?\b(?i:no such file|not found|does not exist|missing)\b"),
)

_ROUTE_LINE = re.compile(
    r"\b(?:serv(?:ing|es)|routes?|endpoints?|paths?|handl(?:ers?|ing)|mapped|registered|mounted|available|probes?)\b",
    re.I,
)
_ACCESS_LINE = re.compile(r"\b(?:GET|HEAD|POST|PUT|DELETE)\b.*\b[1-5]\d\d\b|\b404\b|not found", re.I)
_ROUTE = re.compile(r"(?<![\w/:.])(/[A-Za-z0-9._~-]*(?:/[A-Za-z0-9._~-]+){0,5})(?=$|[\s,;\"'`\])])")
_STARTUP = re.compile(
    r"\b(?:ready|start(?:ed|ing|up)?|warm(?:ing|ed)?[ -]?up|boot(?:ing)?|init(?:ializ\w+)?)\b[^\n\d]{0,40}?"
    r"\b(?:in|takes?|for|after|about)\b[^\n\d]{0,12}(\d{1,4})\s?(?:s|sec|seconds)\b",
    re.I,
)


# What a node answers in the place of a log that it no longer has.
_NO_LOG = re.compile(
    r"\s*(?:unable to retrieve container logs|failed to (?:try resolving symlinks|open log file))\b"
)


@dataclass(frozen=True, slots=True)
class Listener:
    """Where a process says that it listens. An address that is not stated is empty."""

    address: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether nobody outside the pod can reach it."""
        return is_loopback(self.address)


def is_log(text: str) -> bool:
    """Whether a text is a container's log, and not the node's word that there is none."""
    return _NO_LOG.match(text) is None


def is_loopback(address: str) -> bool:
    """Whether an address or host name means the machine itself."""
    bare = address.strip("[]").lower()
    if bare == "localhost":
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def listeners(log: str) -> tuple[Listener, ...]:
    """Where the log says that the process listens; ports 1-65535, each pair once, in order."""
    found = [Listener(m["address"] or "", int(m["port"])) for m in _LISTENING.finditer(log)]
    found += [Listener("", int(m[1])) for m in _ON_PORT.finditer(log)]
    return tuple(dict.fromkeys(item for item in found if 0 < item.port < 65536))


def missing_variables(log: str) -> tuple[str, ...]:
    """Names of environment variables that the process says it lacks."""
    return _names(log, _VARIABLE)


def rejected_variables(log: str) -> tuple[str, ...]:
    """Names of environment variables whose value the process says it does not take."""
    return _names(log, (_REJECTED,))


def missing_files(log: str) -> tuple[str, ...]:
    """Absolute paths of files that the process says it lacks."""
    found = (match["path"] for pattern in _FILE for match in pattern.finditer(log))
    return tuple(dict.fromkeys(path for path in found if ".." not in path))


def routes(log: str) -> tuple[str, ...]:
    """Paths that the process says it serves. A line of an access log says only what was asked for."""
    return tuple(dict.fromkeys(_routes(log)))


def startup_seconds(log: str) -> int | None:
    """How long the process says that its start takes: the longest time named."""
    return max((int(match[1]) for match in _STARTUP.finditer(log)), default=None)


def _routes(log: str) -> Iterator[str]:
    for line in log.splitlines():
        if _ROUTE_LINE.search(line) and not _ACCESS_LINE.search(line):
            yield from (match[1] for match in _ROUTE.finditer(line))


def _names(log: str, patterns: tuple[re.Pattern[str], ...]) -> tuple[str, ...]:
    found = (match["name"] for pattern in patterns for match in pattern.finditer(log))
    return tuple(dict.fromkeys(name for name in found if name not in _NOT_NAMES))
