"""The operator as a process of its own: started with an environment, waited for, stopped or killed."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from sanare.errors import ConfigError
from sanare.text import one_line

_STOP_SECONDS = 30.0
_READY_SECONDS = 60.0
_PASSED_ON = ("HOME", "LANG", "KUBECONFIG", "PATH", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "SSL_CERT_FILE")


@dataclass(slots=True)
class OperatorProcess:
    """A running operator. `log` is its standard error, one JSON object a line."""

    process: asyncio.subprocess.Process
    url: str
    log: Path

    async def stop(self) -> int:
        """Ask it to end, as Kubernetes does, and return its exit code."""
        return await self._end(signal.SIGTERM)

    async def kill(self) -> int:
        """End it at once, as a node failure does."""
        return await self._end(signal.SIGKILL)

    async def _end(self, with_signal: signal.Signals) -> int:
        if self.process.returncode is None:
            self.process.send_signal(with_signal)
        try:
            return await asyncio.wait_for(self.process.wait(), _STOP_SECONDS)
        except TimeoutError:
            self.process.kill()
            return await self.process.wait()

    async def ready(self) -> None:
        """Wait until it serves. Raises ConfigError with its last words where it ended or never does."""
        try:
            async with asyncio.timeout(_READY_SECONDS), aiohttp.ClientSession() as session:
                while self.process.returncode is None:
                    if await _answers(session, f"{self.url}/readyz"):
                        return
                    await asyncio.sleep(0.1)
        except TimeoutError:
            await self.kill()
        raise ConfigError(f"the operator did not start: {self.last_words()}")

    def last_words(self) -> str:
        """The end of its log."""
        return one_line(self.log.read_text(errors="replace")[-1500:], 1500)


async def _answers(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as response:
            return response.status == 200
    except aiohttp.ClientError:
        return False


def free_port() -> int:
    """A loopback port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def operator_process(
    *, log: Path, namespaces: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> AsyncIterator[OperatorProcess]:
    """`python -m sanare run` against the cluster of KUBECONFIG, ready to work; stopped at the end."""
    port = free_port()
    settings = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {
        "SANARE_LISTEN": f"127.0.0.1:{port}",
        "SANARE_WATCH_NAMESPACES": ",".join(namespaces),
        **(environment or {}),
    }
    with log.open("ab") as sink:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "sanare", "run", stdout=sink, stderr=sink, env=settings
        )
    operator = OperatorProcess(process, f"http://127.0.0.1:{port}", log)
    try:
        await operator.ready()
        yield operator
    finally:
        await operator.stop()
