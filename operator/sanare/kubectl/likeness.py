"""Likeness: whether one name or command is another with its spelling corrected. Pure."""

from __future__ import annotations

import difflib
import json
import re

_SIMILAR_COMMAND = 0.75
_SHORTEST = 5
_LONG = 12
_SHELL = re.compile(r"[;&|`$<>\n]")


def is_near_miss(old: str, new: str) -> bool:
    """Whether `NAME` or `NAME/KEY` differs by a slip of the hand in one part of some length.

    That is one letter, in a long part two. A digit is no slip: `db-1` and `db-2` are two things.
    """
    before, after = re.split(r"[/.]", old), re.split(r"[/.]", new)
    differing = [(a, b) for a, b in zip(before, after, strict=False) if a != b]
    if len(before) != len(after) or len(differing) != 1:
        return False
    a, b = differing[0]
    most = 2 if min(len(a), len(b)) >= _LONG else 1
    same_digits = re.findall(r"\d", a) == re.findall(r"\d", b)
    return min(len(a), len(b)) >= _SHORTEST and same_digits and edit_distance(a, b) <= most


def edit_distance(one: str, other: str) -> int:
    """How many letters are to be added, removed, replaced or swapped with their neighbour."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, start=1):
        row = [i]
        for j, b in enumerate(other, start=1):
            row.append(min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b)))
            if i > 1 and j > 1 and (a, b) == (other[j - 2], one[i - 2]):
                row[-1] = min(row[-1], rows[-2][j - 2] + 1)
        rows.append(row)
    return rows[-1][-1]


def is_small_correction(old: str, new: str) -> bool:
    """Whether a command (JSON list of words) differs from the old one by spelling only: as many words, alike."""
    try:
        before, after = json.loads(old), json.loads(new)
    except ValueError:
        return False
    if not (isinstance(before, list) and isinstance(after, list) and len(before) == len(after)):
        return False
    pairs = [(str(a), str(b)) for a, b in zip(before, after, strict=True)]
    same_shell = all(sorted(_SHELL.findall(a)) == sorted(_SHELL.findall(b)) for a, b in pairs)
    return same_shell and _ratio(" ".join(a for a, _ in pairs), " ".join(b for _, b in pairs)) >= _SIMILAR_COMMAND


def _ratio(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()
