"""The policy of an Incident that names none."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanare import errors
from sanare.api.incident import Mode
from sanare.api.policy import PolicySpec
from sanare.reconcile.admission import default_policy
from sanare.settings import Settings


def test_without_a_file_it_is_the_built_in_one() -> None:
    assert default_policy(Settings()) == PolicySpec()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("mode: Observe\n", PolicySpec(mode=Mode.OBSERVE)), ("", PolicySpec())],
    ids=["a mode", "nothing"],
)
def test_a_file_says_what_it_is(tmp_path: Path, text: str, expected: PolicySpec) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    assert default_policy(Settings(default_policy=file)) == expected


@pytest.mark.parametrize("text", ["mode: Wild\n", "mode: [\n", None], ids=["no mode", "no YAML", "no file"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "policy.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(errors.ConfigError, match=r"SANARE_DEFAULT_POLICY=.*policy\.yaml"):
        default_policy(Settings(default_policy=file))
