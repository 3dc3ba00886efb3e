"""Run: what a process in a container does, as data. Everything is in seconds since its start.

A process here is decided when it starts: what it writes, when it listens, when it ends. Nothing is executed.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Protocol

FOREVER = float("inf")


class Files(Protocol):
    """The files that a container sees."""

    def read(self, path: str) -> bytes | None:
        """The content, or None where there is no such file."""
        ...


class NoFiles:
    """A container without volumes."""

    def read(self, path: str) -> bytes | None:
        """Nothing is there."""
        return None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Site:
    """What an HTTP server answers: pages by path, and the server that it asks before it answers `/`."""

    pages: Mapping[str, bytes]
    backend: str = ""


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening socket, from `at` on. Without a site it accepts and says nothing in HTTP."""

    at: float
    bind: str
    port: int
    site: Site | None = None

    @property
    def is_local(self) -> bool:
        """Whether only the pod itself reaches it."""
        return self.bind.startswith("127.") or self.bind in ("localhost", "::1")


@dataclass(frozen=True, slots=True)
class Write:
    """A file that the process writes as it starts."""

    path: str
    data: bytes
    append: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """One process from start to end.

    Attributes:
        exit_at: when it ends by itself, `FOREVER` where it does not.
        code: its exit code then.
        term_code: its exit code on SIGTERM, None where it ignores it until it is killed.
        memory: bytes that it has touched once it runs.
    """

    lines: tuple[Line, ...] = ()
    exit_at: float = FOREVER
    code: int = 0
    term_code: int | None = None
    listeners: tuple[Listener, ...] = ()
    writes: tuple[Write, ...] = ()
    memory: int = 0

    def log(self, elapsed: float) -> list[str]:
        """What it has written by then."""
        return [line.text for line in self.lines if line.at <= elapsed]

    def listener(self, port: int, elapsed: float, *, local: bool = False) -> Listener | None:
        """The socket that accepts a connection to this port then, from outside the pod or from within (`local`)."""
        for found in self.listeners:
            if found.port == port and found.at <= elapsed and (local or not found.is_local):
                return found
        return None

    def refused(self, taken: Container[int]) -> Run:
        """The same run where some ports are taken already: the first such bind ends it."""
        for listener in self.listeners:
            if listener.port in taken:
                line = Line(listener.at, "httpd: bind: Address already in use")
                return Run((*self.lines, line), listener.at + 0.1, 1, self.term_code, (), self.writes, self.memory)
        return self


@dataclass(frozen=True, slots=True)
class StartError:
    """The runtime could not start the process; the message is runc's."""

    message: str


def not_executable(command: str) -> StartError:
    """As runc words a missing executable, by name or by path."""
    why = f"stat {command}: no such file or directory" if "/" in command else "executable file not found in $PATH"
    return StartError(
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create "
        f'failed: unable to start container process: exec: "{command}": {why}'
    )
