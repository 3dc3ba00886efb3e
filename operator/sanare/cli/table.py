"""Plain text for a terminal: columns as wide as their longest cell, fitted to its width, colours only where seen.

Where the output is no terminal nothing is wrapped, cut or coloured, so that one line stays one line for grep.
"""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TextIO

GAP = "  "
_LEAST = 30  # columns for the wrapped cell; with less room every cell gets a line of its own
_CUT = "…"
_LEAST_CUT = 8  # columns that a cut cell keeps while another one still has more
_COLOURS = {"red": 31, "green": 32, "yellow": 33}


@dataclass(frozen=True, slots=True)
class Screen:
    """Where text goes: how many columns it has (None: as many as needed) and whether colours show."""

    width: int | None = None
    has_colour: bool = False

    @classmethod
    def of(cls, stream: TextIO, environment: Mapping[str, str] = os.environ) -> Self:
        """What a stream is; NO_COLOR and TERM=dumb turn colours off."""
        if not stream.isatty():
            return cls()
        plain = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
        return cls(shutil.get_terminal_size().columns, not plain)

    def paint(self, text: str, colour: str) -> str:
        """The text in a colour, where colours show."""
        code = _COLOURS.get(colour)
        return f"\x1b[{code}m{text}\x1b[0m" if self.has_colour and code else text


def cells(text: str) -> int:
    """How many columns a text takes: none for a combining mark, two for a wide character."""
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in text
    )


def wrapped(text: str, width: int | None) -> list[str]:
    """The text in lines of at most `width` columns, broken at blanks, and within a word that is longer."""
    if width is None:
        return [text]
    lines, line = [], ""
    for word in text.split(" "):
        if line and cells(line) + 1 + cells(word) <= width:
            line = f"{line} {word}"
            continue
        if line:
            lines.append(line)
        *full, line = _broken(word, max(width, 1))
        lines += full
    return [*lines, line]


def _broken(word: str, width: int) -> list[str]:
    pieces, piece = [], ""
    for each in word:
        if piece and cells(piece) + cells(each) > width:
            pieces.append(piece)
            piece = ""
        piece += each
    return [*pieces, piece]


def table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], screen: Screen, colours: Mapping[str, str]
) -> Iterator[str]:
    """Lines of a table. `colours` paints first cells by their word."""
    widths = [max(cells(row[place]) for row in (headers, *rows)) for place in range(len(headers) - 1)]
    taken = sum(widths) + len(GAP) * len(widths)
    room = None if screen.width is None else screen.width - taken
    if room is not None and room < _LEAST:
        yield from _stacked(headers, rows, screen, colours)
        return
    for row in (headers, *rows):
        first, *more = wrapped(row[-1], room)
        padded = [cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=False)]
        padded[0] = screen.paint(padded[0], colours.get(row[0], ""))
        yield GAP.join([*padded, first]).rstrip()
        yield from (" " * taken + line for line in more)


def summary(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    screen: Screen,
    colours: Mapping[str, str],
    *,
    tails: Collection[str] = (),
) -> Iterator[str]:
    """Lines of a table with one line for each row: what does not fit is cut.

    Columns named in `tails` give way first, the widest before the others, and keep their end, which is what tells
    paths and values apart. `colours` paints first cells by their word.
    """
    natural = [max(cells(row[place]) for row in (headers, *rows)) for place in range(len(headers))]
    giving = [place for place, name in enumerate(headers) if name in tails]
    widths = natural
    if screen.width is not None:
        room = screen.width - len(GAP) * (len(headers) - 1)
        widths = _narrowed(_narrowed(natural, giving, room), range(len(headers)), room)
    for row in (headers, *rows):
        fitted = [_cut(cell, widths[place], end=place in giving) for place, cell in enumerate(row)]
        padded = [cell + " " * (width - cells(cell)) for cell, width in zip(fitted, widths, strict=True)]
        padded[0] = screen.paint(padded[0], colours.get(row[0], ""))
        yield GAP.join(padded).rstrip()


def _narrowed(widths: Sequence[int], places: Collection[int], room: int) -> list[int]:
    """The widths with those at `places` taken down, widest first, until all fit or none can give more."""
    fitted = list(widths)
    while sum(fitted) > room and places:
        widest = max(places, key=fitted.__getitem__)
        if fitted[widest] <= _LEAST_CUT:
            break
        fitted[widest] -= 1
    return fitted


def _cut(text: str, width: int, *, end: bool) -> str:
    """The text in at most `width` columns: its beginning, or its `end`."""
    if cells(text) <= width:
        return text
    kept = text
    while kept and cells(kept) + cells(_CUT) > width:
        kept = kept[1:] if end else kept[:-1]
    return _CUT + kept if end else kept + _CUT


def _stacked(
    headers: Sequence[str], rows: Sequence[Sequence[str]], screen: Screen, colours: Mapping[str, str]
) -> Iterator[str]:
    for row in rows:
        yield screen.paint(row[0], colours.get(row[0], ""))
        yield from pairs(tuple(zip(headers[1:], row[1:], strict=True)), screen)


def pairs(
    named: Sequence[tuple[str, str]], screen: Screen, *, indent: int = 2, whole: Collection[str] = ()
) -> Iterator[str]:
    """Lines of names and values, one under the other; what is empty is left out, what is `whole` never wrapped."""
    shown = [(name, value) for name, value in named if value]
    left = max((cells(name) for name, _ in shown), default=0)
    taken = indent + left + len(GAP)
    room = None if screen.width is None else max(screen.width - taken, 8)
    for name, value in shown:
        first, *more = wrapped(value, None if name in whole else room)
        yield f"{' ' * indent}{name}{' ' * (left - cells(name))}{GAP}{first}".rstrip()
        yield from (" " * taken + line for line in more)
