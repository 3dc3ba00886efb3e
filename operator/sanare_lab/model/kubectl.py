"""A kubectl that answers what it was told and refuses to be asked anything else: the port's fake."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from sanare.api.attempt import Mutation
from sanare.kubectl.tool import Command, ToolResult

_AT = datetime(2026, 1, 1, tzinfo=UTC)


class ScriptedKubectl:
    """Answers by command line (`get pods -o wide`); `commands` records what was run, in order."""

    def __init__(self, answers: Mapping[str, ToolResult | str]) -> None:
        self._answers = answers
        self.commands: list[Command] = []

    async def run(self, command: Command) -> ToolResult:
        """The told answer. Raises AssertionError for a command that nobody spoke of."""
        self.commands.append(command)
        line = " ".join(command.argv)
        if line not in self._answers:
            raise AssertionError(f"unexpected command: kubectl {line}")
        answer = self._answers[line]
        return ToolResult(output=answer) if isinstance(answer, str) else answer


def wrote(output: str, verb: str = "patch", target: str = "Deployment/web") -> ToolResult:
    """An answer to a command that changed one object."""
    return ToolResult(output=output, mutations=(Mutation(at=_AT, verb=verb, object=target),))


def refused(rule: str, message: str) -> ToolResult:
    """An answer of the guard."""
    return ToolResult(output=message, exit_code=126, refused=rule)
