"""What became of one control, as data that two clusters can be compared by. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from sanare.api.verdict import Result, Verdict
from sanare_lab.scenarios.scenario import Expectation


class Outcome(StrEnum):
    """How a control ended."""

    PASSED = "passed"  # the verdict is the expected one
    FAILED = "failed"  # it is not
    VOID = "void"  # the fault did not show before the clock started: says nothing about the evaluator
    ERROR = "error"  # the control itself could not be carried out


@dataclass(frozen=True, slots=True)
class ControlOutcome:
    """One control on one cluster.

    Attributes:
        result: the evaluator's result, empty where there was no verdict.
        kind: the evaluator's word for the reason.
        why: what differs from the expectation, or what went wrong; empty when passed.
        repaired: sub-faults whose field is right at the end.
        faults: number of sub-faults.
        answered: whether the Service answered with the run's nonce at the end.
        seconds: from the last step of the repair to the verdict.
    """

    scenario: str
    control: str
    outcome: Outcome
    result: str = ""
    kind: str = ""
    reason: str = ""
    why: str = ""
    repaired: int = 0
    faults: int = 0
    answered: bool = False
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        """Scenario and control: the same on every cluster."""
        return self.scenario, self.control


def judge(verdict: Verdict, expect: Expectation, *, answered: bool) -> str:
    """What is wrong about a verdict, or an empty string. Fixed needs the nonce: the function decides."""
    if verdict.result is not expect.result:
        return f"expected {expect.result}, got {verdict.result}: {verdict.reason}"
    if verdict.result is Result.FIXED and not answered:
        return "Fixed, and the Service does not answer with the nonce"
    if expect.kinds and verdict.kind not in expect.kinds:
        return f"expected the kind {' or '.join(expect.kinds)}, got {verdict.kind}: {verdict.reason}"
    if expect.reason not in verdict.reason:
        return f"the reason does not contain {expect.reason!r}: {verdict.reason}"
    return ""


@dataclass(frozen=True, slots=True)
class Difference:
    """One row of the side-by-side table."""

    scenario: str
    control: str
    left: str
    right: str

    @property
    def is_equal(self) -> bool:
        """Whether both clusters gave the same verdict for the same kind of reason."""
        return self.left == self.right


def compare(left: Iterable[ControlOutcome], right: Iterable[ControlOutcome]) -> tuple[Difference, ...]:
    """Every control of either side: verdict and reason kind on both. A control that one side lacks differs."""
    one, other = ({outcome.key: outcome for outcome in side} for side in (left, right))
    keys = dict.fromkeys([*one, *other])
    return tuple(Difference(*key, _said(one.get(key)), _said(other.get(key))) for key in keys)


def _said(outcome: ControlOutcome | None) -> str:
    if outcome is None:
        return "not run"
    if not outcome.result:
        return str(outcome.outcome)
    return f"{outcome.result} {outcome.kind}".strip()


def to_json(outcomes: Sequence[ControlOutcome], *, cluster: str) -> dict[str, Any]:
    """The wire form: what `--json` writes and `from_json` reads."""
    return {"cluster": cluster, "controls": [asdict(outcome) for outcome in outcomes]}


def from_json(document: dict[str, Any]) -> tuple[ControlOutcome, ...]:
    """Read what `to_json` wrote. Raises KeyError, TypeError or ValueError on anything else."""
    return tuple(
        ControlOutcome(**{**entry, "outcome": Outcome(entry["outcome"])}) for entry in document["controls"]
    )
