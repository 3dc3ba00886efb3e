"""How alike two names are: whether one is a slip of the pen of the other. Pure, and deliberately strict."""

from __future__ import annotations

from collections.abc import Iterable

_PART_DISTANCE = 3  # a name that only lacks or adds whole parts is less alike than any misspelling


def distance(one: str, other: str) -> int:
    """Edits from one to the other: insert, delete, replace, or swap two neighbours (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, right in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == other[j - 2] and one[i - 2] == right:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


def nearness(word: str, other: str) -> int | None:
    """The distance where `other` may be what `word` was meant to be, else None. Equal words are not near misses.

    One edit in names of up to four characters, two in longer ones; or the same parts between `-`, `_` and `.` with
    whole parts missing on one side, where at least two parts agree.
    """
    if word == other or not word or not other:
        return None
    found = distance(word, other)
    if found <= (1 if min(len(word), len(other)) <= 4 else 2):
        return found
    mine, its = _parts(word), _parts(other)
    shared = mine & its
    return _PART_DISTANCE if len(shared) >= 2 and shared in (mine, its) else None


def nearest(word: str, among: Iterable[str]) -> tuple[str, ...]:
    """The near misses of a word at the least distance, sorted: one is an answer, several are a doubt."""
    near = [(found, other) for other in set(among) if (found := nearness(word, other)) is not None]
    least = min((found for found, _ in near), default=0)
    return tuple(sorted(other for found, other in near if found == least))


def is_transposed(one: int, other: int) -> bool:
    """Whether two numbers have the same digits in another order: 8008 and 8080."""
    return one != other and sorted(str(one)) == sorted(str(other))


def _parts(name: str) -> frozenset[str]:
    return frozenset(part for part in name.replace("_", "-").replace(".", "-").split("-") if part)
