"""The table of healed scenarios."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from sanare_lab.healing.heal import Healing


def healing_table(healings: Sequence[Healing]) -> Table:
    """One row a scenario: verdict, attempts, mutations, seconds to verified, and the ratio to the cluster's own."""
    healed = sum(healing.is_healed for healing in healings)
    table = Table(title=f"{healed} of {len(healings)} healed", title_justify="left")
    for column in ("scenario", "ended", "attempts", "mutations", "s to verified", "s by itself", "ratio"):
        table.add_column(column, no_wrap=True)
    table.add_column("last verdict", overflow="fold")
    for healing in healings:
        style = "green" if healing.is_healed else "red"
        table.add_row(
            healing.scenario,
            f"[{style}]{healing.phase or 'none'}/{healing.outcome or 'none'}[/]",
            str(healing.attempts),
            str(healing.mutations),
            _number(healing.seconds),
            _number(healing.converged),
            _number(healing.ratio),
            (healing.why or healing.reason).replace("[", r"\["),
        )
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
