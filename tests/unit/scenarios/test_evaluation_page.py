"""The evaluation page counts what happened, whoever it embarrasses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sanare_lab.cli import main
from sanare_lab.controls.outcome import ControlOutcome, Outcome, to_json
from sanare_lab.evaluation.page import Run, page
from sanare_lab.healing import Healing

REFERENCE = ControlOutcome("shop", "reference", Outcome.PASSED, result="Fixed", reason="a|b", answered=True)
FALSE = ControlOutcome("shop", "false-scaled", Outcome.PASSED, result="NotFixed", kind="ScaledDown")


def _page(*real: ControlOutcome, healings: tuple[Healing, ...] = ()) -> str:
    return page(Run("v1.37.0", real), Run("embedded", (REFERENCE, FALSE)), healings)


def test_a_sound_run_has_no_false_repair_called_fixed() -> None:
    text = _page(REFERENCE, FALSE)
    assert "| right repairs called Fixed | 1 of 1 | 1 of 1 |" in text
    assert "| false repairs called Fixed | 0 of 1 | 0 of 1 |" in text
    assert "equal on both clusters for 2 of 2 controls" in text


def test_a_wrong_success_is_counted_and_shown_as_a_difference() -> None:
    text = _page(REFERENCE, replace(FALSE, outcome=Outcome.FAILED, result="Fixed", kind=""))
    assert "| false repairs called Fixed | 1 of 1 | 0 of 1 |" in text
    assert "equal on both clusters for 1 of 2 controls" in text
    assert "| shop | false-scaled | Fixed | NotFixed ScaledDown |" in text


def test_a_void_control_is_counted_apart() -> None:
    text = _page(REFERENCE, replace(FALSE, outcome=Outcome.VOID, result="", kind="", why="not proved broken"))
    assert "| void | 1 | 0 |" in text
    assert "| shop | false-scaled | void | NotFixed ScaledDown | not proved broken |" in text


def test_a_cell_cannot_break_its_row() -> None:
    assert "| Fixed | a\\|b |" in _page(REFERENCE, FALSE)


def test_the_runbook_is_counted_by_what_was_verified() -> None:
    ended = Healing("shop", "Resolved", "Fixed", 1, 1, seconds=6.0, converged=3.0)
    text = _page(REFERENCE, healings=(ended, Healing("store", "Escalated", why="no candidate")))
    assert "healed 1 of 2 scenarios" in " ".join(text.split())
    assert "| shop | Resolved Fixed | 1 | 6.0 | 2.0 |" in text
    assert "| store | Escalated | 0 |  |  | no candidate |" in text


def test_the_command_reads_what_the_others_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "real.json"
    kept.write_text(json.dumps(to_json([REFERENCE, FALSE], cluster="v1.37.0")))
    assert main(["evaluation", str(kept), str(kept)]) == 0
    assert "on Kubernetes v1.37.0" in " ".join(capsys.readouterr().out.split())


def test_another_file_is_refused_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.json"
    other.write_text("[]")
    assert main(["evaluation", str(other), str(other)]) == 1
    assert f"{other} is no file of outcomes" in capsys.readouterr().err
