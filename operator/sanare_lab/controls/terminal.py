"""A person's kubectl: the steps of a repair, run as they would be typed, with the rights of the kubeconfig."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from collections.abc import Mapping

from sanare.errors import ConfigError, ToolError, ToolTimeout
from sanare.text import cap, one_line
from sanare_lab.scenarios.scenario import Step

_OUTPUT_LIMIT = 256 * 1024


def fill(text: str, variables: Mapping[str, str]) -> str:
    """The text with every `@NAME@` of the variables replaced."""
    for name, value in variables.items():
        text = text.replace(f"@{name}@", value)
    return text


class Terminal:
    """kubectl in one namespace. Each command has a time-out in seconds; its process group is ended with it."""

    def __init__(
        self, namespace: str, *, kubectl: str = "kubectl", kubeconfig: str | None = None, timeout: float = 60.0
    ) -> None:
        self._command = [
            kubectl,
            *([f"--kubeconfig={kubeconfig}"] if kubeconfig else []),
            f"--namespace={namespace}",
        ]
        self._timeout = timeout

    async def follow(self, steps: tuple[Step, ...], variables: Mapping[str, str]) -> None:
        """Run the steps in order. Raises ToolError where one fails that should not, or the other way round."""
        known = dict(variables)
        for step in steps:
            argv = [fill(word, known) for word in shlex.split(step.kubectl)]
            code, output = await self.run(argv, stdin=fill(step.stdin, known))
            if (code != 0) is not step.fails:
                raise ToolError(f"kubectl {one_line(step.kubectl, 120)}: exit code {code}: {one_line(output, 400)}")
            if step.save:
                known[step.save] = output

    async def run(self, argv: list[str], *, stdin: str = "") -> tuple[int, str]:
        """Exit code, and standard output or, after a failure, both outputs. Raises ToolTimeout, ConfigError."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise ConfigError(f"no {self._command[0]} on PATH: install kubectl") from error
        try:
            out, err = await asyncio.wait_for(process.communicate(stdin.encode()), self._timeout)
        except TimeoutError as error:
            raise ToolTimeout(f"kubectl {argv[0]}: no end after {self._timeout:g} s") from error
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        said = out if process.returncode == 0 else out + err
        return process.returncode or 0, cap(said.decode("utf-8", "replace"), _OUTPUT_LIMIT)
