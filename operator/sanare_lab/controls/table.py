"""Tables for people: the outcomes of one cluster, and two clusters side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.table import Table

from sanare_lab.controls.outcome import ControlOutcome, Difference, Outcome

_STYLE = {Outcome.PASSED: "green", Outcome.FAILED: "red", Outcome.VOID: "yellow", Outcome.ERROR: "red"}


def outcome_table(outcomes: Sequence[ControlOutcome]) -> Table:
    """One row per control, with the evaluator's own sentence; what is wrong about it where something is."""
    count = Counter(outcome.outcome for outcome in outcomes)
    title = ", ".join(f"{count[word]} {word}" for word in Outcome if count[word])
    table = Table(title=f"{len(outcomes)} controls: {title}", title_justify="left")
    for column in ("scenario", "control", "outcome", "verdict", "kind", "faults", "s"):
        table.add_column(column, no_wrap=True)
    table.add_column("reason", overflow="fold")
    for outcome in outcomes:
        table.add_row(
            outcome.scenario,
            outcome.control,
            f"[{_STYLE[outcome.outcome]}]{outcome.outcome}[/]",
            outcome.result,
            outcome.kind,
            f"{outcome.repaired}/{outcome.faults}",
            f"{outcome.seconds:.1f}",
            _plain(outcome.why or outcome.reason),
        )
    return table


def comparison_table(differences: Iterable[Difference], *, left: str, right: str) -> Table:
    """Verdict and kind on both clusters, and how many are equal."""
    rows = tuple(differences)
    equal = sum(row.is_equal for row in rows)
    share = 100 * equal / len(rows) if rows else 0.0
    table = Table(title=f"{equal} of {len(rows)} equal ({share:.1f} %)", title_justify="left")
    for column in ("scenario", "control", left, right, "equal"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        mark = "[green]yes[/]" if row.is_equal else "[red]no[/]"
        table.add_row(row.scenario, row.control, row.left, row.right, mark)
    return table


def _plain(text: str) -> str:
    """Brackets of field paths are no markup."""
    return text.replace("[", r"\[")
