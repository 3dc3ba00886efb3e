"""Facts of the tree that would hurt quietly."""

from __future__ import annotations

import operator
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_operator_is_a_source_root_and_never_a_package() -> None:
    assert not (ROOT / "operator" / "__init__.py").exists()
    assert operator.itemgetter(0)([1]) == 1


def test_a_python_started_in_the_repository_still_finds_the_standard_library() -> None:
    code = "import operator, collections; print(operator.add(1, 2))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "3\n"
