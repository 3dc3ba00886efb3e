"""Runs one kubectl process: nothing inherited, its own process group, bounded in time and output."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sanare.errors import ToolError, ToolTimeout

_PIECE = 65536
_REAP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Finished:
    """What a process left: its exit code, the first bytes of each stream, and whether some were cut."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command runs: an empty working directory and a home that holds the kubeconfig, both private."""

    work: Path
    home: Path
    kubeconfig: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """All that the process inherits: no credentials, no proxies, no plugins, no aliases."""
        return {
            "PATH": str(self.work),
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "KUBECONFIG": str(self.kubeconfig),
            "KUBERC": "off",
            "LANG": "C.UTF-8",
        }


async def run(
    argv: tuple[str, ...], place: Place, *, stdin: str = "", timeout: float, limit: int = 4 * 1024 * 1024
) -> Finished:
    """Run a command to its end. Raises ToolTimeout after `timeout` seconds, ToolError where it cannot start.

    `limit` is in bytes per stream; a process that writes more is killed and what it wrote until then is returned.
    Whatever ends the wait, also a cancellation, the whole process group is gone afterwards.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=place.work,
            env=dict(place.environment),
            stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(f"kubectl cannot be started: {error.strerror or error}") from error
    try:
        async with asyncio.timeout(timeout):
            return await _communicate(process, stdin, limit)
    except TimeoutError as error:
        raise ToolTimeout(f"kubectl did not end within {timeout:.0f} s and was stopped") from error
    finally:
        await _end(process)


async def _communicate(process: asyncio.subprocess.Process, stdin: str, limit: int) -> Finished:
    feeding = asyncio.create_task(_feed(process, stdin))
    try:
        (out, out_cut), (err, err_cut) = await asyncio.gather(
            _collect(process, process.stdout, limit), _collect(process, process.stderr, limit)
        )
        return Finished(await process.wait(), out, err, out_cut or err_cut)
    finally:
        feeding.cancel()
        with suppress(asyncio.CancelledError):
            await feeding


async def _feed(process: asyncio.subprocess.Process, stdin: str) -> None:
    if process.stdin is None:
        return
    with suppress(ConnectionError):
        process.stdin.write(stdin.encode())
        await process.stdin.drain()
    process.stdin.close()


async def _collect(
    process: asyncio.subprocess.Process, stream: asyncio.StreamReader | None, limit: int
) -> tuple[bytes, bool]:
    kept = bytearray()
    while stream is not None and (piece := await stream.read(_PIECE)):
        kept += piece
        if len(kept) > limit:
            _kill(process)
            return bytes(kept[:limit]), True
    return bytes(kept), False


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill what is left of the process group, empty its pipes so that they close, and reap the process."""
    _kill(process)
    with suppress(TimeoutError):
        async with asyncio.timeout(_REAP_SECONDS):
            for stream in (process.stdout, process.stderr):
                while stream is not None and await stream.read(_PIECE):
                    pass
            await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
