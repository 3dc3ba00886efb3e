"""How close two spellings are: a slip may be corrected, another name is another thing. Pure."""

from __future__ import annotations

_DISTANCE = 2


def is_misspelling(one: str, other: str) -> bool:
    """Whether two names differ by a slip: at most two edits, one in a short name, in one path segment."""
    ours, theirs = one.split("/"), other.split("/")
    if len(ours) != len(theirs):
        return False
    differing = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    return len(differing) == 1 and all(
        edits(a, b) <= (_DISTANCE if min(len(a), len(b)) >= 5 else 1) for a, b in differing
    )


def edits(one: str, other: str) -> int:
    """Edit distance with transpositions (optimal string alignment)."""
    rows: list[list[int]] = [list(range(len(other) + 1))]
    for i, a in enumerate(one, start=1):
        row = [i]
        for j, b in enumerate(other, start=1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]
