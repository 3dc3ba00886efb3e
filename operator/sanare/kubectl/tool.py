"""The tool that an actor holds: one kubectl command in, one bounded text out. The port that fakes stand at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sanare.api.attempt import Mutation


@dataclass(frozen=True, slots=True)
class Command:
    """A kubectl command: its arguments without the word kubectl, and what goes to standard input."""

    argv: tuple[str, ...]
    stdin: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came back: cleaned, redacted and capped text, ready for a model or a person.

    Attributes:
        output: standard output, then standard error, as one text.
        exit_code: kubectl's exit code; 126 when the screen refused before anything ran, 124 after a time-out.
        refused: the rule that refused, or an empty string.
        mutations: the writes that the gate let through during this command, in order.
        rendered: the command as it was run, in canonical spelling; None when the screen refused it.
    """

    output: str
    exit_code: int = 0
    refused: str = ""
    mutations: tuple[Mutation, ...] = ()
    rendered: Command | None = None

    @property
    def ok(self) -> bool:
        """Whether the command ran and succeeded."""
        return self.exit_code == 0


class Kubectl(Protocol):
    """One attempt's kubectl. `run` never raises for what a model did wrong: the result says it."""

    async def run(self, command: Command) -> ToolResult:
        """Screen, run and record one command. Raises BudgetExceeded when the attempt's limits are reached."""
        ...
