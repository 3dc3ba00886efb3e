"""What was asked already: a repeated call is answered from here, and the third time ends the turn. No I/O."""

from __future__ import annotations

from dataclasses import dataclass

from sanare.kubectl.tool import Command, ToolResult

ALLOWED = 2
"""Times that the same call is answered: once by running it, once by saying that it was run."""

NOTE = (
    "Not run again: you ran exactly this command before and nothing has been changed since, so its answer above "
    "still holds. Do something else, or stop. Asking a third time ends this attempt."
)
WROTE_NOTE = (
    "Not run again: exactly this change was made or tried before; its answer stands above. Look at what is "
    "different now, choose another change, or stop. Asking a third time ends this attempt."
)


@dataclass(slots=True)
class _Seen:
    times: int
    wrote: bool


class Repeats:
    """The calls of one turn. A write makes earlier reads worth repeating; a write is never repeated itself."""

    def __init__(self) -> None:
        self._seen: dict[Command, _Seen] = {}

    def count(self, command: Command) -> int:
        """How many times the call has been asked for since the cluster last changed, this time included."""
        seen = self._seen.setdefault(command, _Seen(times=0, wrote=False))
        seen.times += 1
        return seen.times

    def note(self, command: Command) -> str:
        """What a repeated call is answered with."""
        seen = self._seen.get(command)
        return WROTE_NOTE if seen and seen.wrote else NOTE

    def record(self, command: Command, result: ToolResult) -> None:
        """Remember that a call has run, and forget the reads before a write."""
        if not result.mutations:
            return
        self._seen = {asked: seen for asked, seen in self._seen.items() if seen.wrote or asked == command}
        self._seen[command].wrote = True
