"""The page, from the outcomes that controls and healing runs kept. Pure: the same outcomes, the same text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import fill

from sanare.api.verdict import Result
from sanare_lab.controls.outcome import ControlOutcome, Outcome, compare
from sanare_lab.healing import Healing

_WIDTH = 116
_HOW = """\
    sanare-lab controls --json real.json                   # on the cluster of KUBECONFIG
    sanare-lab controls --embedded --json embedded.json
    sanare-lab heal --json healing.json                    # the operator with the runbook, without any model
    sanare-lab evaluation real.json embedded.json --healing healing.json > docs/evaluation.md
"""


@dataclass(frozen=True, slots=True)
class Run:
    """The controls of one cluster; `cluster` is its version, or `embedded`."""

    cluster: str
    outcomes: tuple[ControlOutcome, ...]

    def of(self, *, references: bool) -> tuple[ControlOutcome, ...]:
        """The right repairs, or the false ones."""
        start = "reference" if references else "false-"
        return tuple(each for each in self.outcomes if each.control.startswith(start))


def page(real: Run, embedded: Run, healings: Sequence[Healing] = (), *, note: str = "") -> str:
    """The whole page as Markdown."""
    return "\n".join(
        [
            "# Evaluation",
            "",
            *_prose(
                "What the evaluator says of right repairs, of doing nothing and of false repairs, over all "
                f"scenarios, on Kubernetes {real.cluster} and on the embedded cluster. A control is void where the "
                "fault did not show before the repair began: it counts as neither. Made by:"
            ),
            "",
            _HOW,
            *((*_prose(note), "") if note else ()),
            *_summary(real, embedded),
            *(_runbook(healings) if healings else ()),
            "## Every control",
            "",
            *_controls(real, embedded),
            "",
        ]
    )


def _prose(text: str) -> list[str]:
    return [fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)]


def _summary(real: Run, embedded: Run) -> Iterator[str]:
    rows = compare(real.outcomes, embedded.outcomes)
    yield from ("## In figures", "")
    yield from _table(
        ("", real.cluster, embedded.cluster),
        [
            ("scenarios", *(str(len({each.scenario for each in run.outcomes})) for run in (real, embedded))),
            ("controls", *(str(len(run.outcomes)) for run in (real, embedded))),
            ("right repairs called Fixed", *(_fixed(run, references=True) for run in (real, embedded))),
            ("false repairs called Fixed", *(_fixed(run, references=False) for run in (real, embedded))),
            ("as expected, kind and words of the reason included", *(_passed(run) for run in (real, embedded))),
            ("void", *(_count(run, Outcome.VOID) for run in (real, embedded))),
        ],
    )
    equal = sum(row.is_equal for row in rows)
    yield from ("", f"Result and kind are equal on both clusters for {equal} of {len(rows)} controls.", "")


def _fixed(run: Run, *, references: bool) -> str:
    asked = run.of(references=references)
    return f"{sum(each.result == Result.FIXED for each in asked)} of {len(asked)}"


def _passed(run: Run) -> str:
    return f"{_count(run, Outcome.PASSED)} of {len(run.outcomes)}"


def _count(run: Run, outcome: Outcome) -> str:
    return str(sum(each.outcome is outcome for each in run.outcomes))


def _runbook(healings: Sequence[Healing]) -> Iterator[str]:
    healed = sum(healing.is_healed for healing in healings)
    yield from (
        "## The runbook",
        "",
        *_prose(
            f"The operator with its default policy and no model healed {healed} of {len(healings)} scenarios. "
            "Seconds run from the Incident's creation to the start of the health that lasted; the ratio compares "
            "them with what the cluster needed by itself after the last write."
        ),
        "",
    )
    yield from _table(
        ("scenario", "end", "writes", "seconds", "ratio", "verdict"),
        [
            (
                each.scenario,
                f"{each.phase} {each.outcome}".strip(),
                str(each.mutations),
                _number(each.seconds),
                _number(each.ratio),
                each.why or each.reason,
            )
            for each in healings
        ],
    )
    yield ""


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _controls(real: Run, embedded: Run) -> Iterator[str]:
    reasons = {each.key: each.why or each.reason for each in real.outcomes}
    rows = compare(real.outcomes, embedded.outcomes)
    yield from _table(
        ("scenario", "control", real.cluster, embedded.cluster, f"reason on {real.cluster}"),
        [
            (row.scenario, row.control, row.left, row.right, reasons.get((row.scenario, row.control), ""))
            for row in rows
        ],
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _row(head)
    yield _row(["---"] * len(head))
    yield from (_row(row) for row in rows)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
