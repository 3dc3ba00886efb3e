"""Every example of docs/checks.md is a check, and every sort of check has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from sanare.api.checks import MEMBERS, Check

PAGE = (Path(__file__).parents[3] / "docs/checks.md").read_text()
BLOCKS = re.findall(r"(?:^    - name: .*\n(?:(?:    .*)?\n)*)", PAGE, re.MULTILINE)
EXAMPLES = [check for block in BLOCKS for check in yaml.safe_load(block)]


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["name"] for example in EXAMPLES])
def test_an_example_is_one_check(example: dict[str, object]) -> None:
    written = Check.parse(example).wire()
    assert len(written.keys() & set(MEMBERS)) == 1
    assert written.keys() >= example.keys()


def test_every_sort_of_check_has_an_example() -> None:
    assert {member for example in EXAMPLES for member in example} == {"name", *MEMBERS}
