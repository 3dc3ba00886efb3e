"""Tables in plain text: narrow and wide terminals, long words, wide characters, and no terminal at all."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pytest

from sanare.cli.table import Screen, cells, pairs, summary, table, wrapped

HEADERS = ("RESULT", "OBJECT", "SEEN")
ROWS = [
    ("Failed", "Deployment/web", "container web waits for an image that does not exist"),
    ("Passed", "Pod/a", "ok"),
]
COLOURS = {"Failed": "red"}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "has_colour"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
    ids=["a terminal", "NO_COLOR", "a dumb one", "a pipe"],
)
def test_colours_show_on_a_terminal_alone(
    stream: io.StringIO, environment: Mapping[str, str], has_colour: bool
) -> None:
    assert ("\x1b[" in Screen.of(stream, environment).paint("Failed", "red")) is has_colour


def test_a_pipe_is_as_wide_as_the_text() -> None:
    lines = list(table(HEADERS, ROWS, Screen(), COLOURS))
    assert lines == [
        "RESULT  OBJECT          SEEN",
        "Failed  Deployment/web  container web waits for an image that does not exist",
        "Passed  Pod/a           ok",
    ]


def test_the_last_column_is_wrapped_below_itself() -> None:
    lines = list(table(HEADERS, ROWS, Screen(56), COLOURS))
    assert lines[1:3] == [
        "Failed  Deployment/web  container web waits for an image",
        "                        that does not exist",
    ]


@pytest.mark.parametrize("width", [20, 40, 53])
def test_a_narrow_terminal_gets_a_line_for_each_cell(width: int) -> None:
    lines = list(table(HEADERS, ROWS, Screen(width), COLOURS))
    assert lines[0] == "Failed"
    assert lines[1].startswith("  OBJECT  Deploym")
    assert all(cells(line) <= max(width, 20) for line in lines)


def test_a_coloured_cell_takes_no_more_room() -> None:
    plain = list(table(HEADERS, ROWS, Screen(80), COLOURS))
    painted = list(table(HEADERS, ROWS, Screen(80, True), COLOURS))
    assert painted[1] == plain[1].replace("Failed", "\x1b[31mFailed\x1b[0m")
    assert painted[2] == plain[2]


FINDINGS = [("High", "Deployment/web", "spec.containers[web].image"), ("Low", "Service/日本", "spec.ports[http]")]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (None, ["High    Deployment/web  spec.containers[web].image", "Low     Service/日本    spec.ports[http]"]),
        (38, ["High    Deployment/web  …rs[web].image", "Low     Service/日本    …c.ports[http]"]),
        (26, ["High    Deploym…  …].image", "Low     Service…  …s[http]"]),
    ],
    ids=["a pipe", "room for the end of the last column", "too little for the others too"],
)
def test_a_summary_has_one_line_for_each_row_whatever_the_width(width: int | None, lines: list[str]) -> None:
    shown = list(summary(HEADERS, FINDINGS, Screen(width), COLOURS, tails=("SEEN",)))
    assert shown[1:] == lines
    assert width is None or all(cells(line) <= width for line in shown)


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("a b c", 3, ["a b", "c"]),
        ("abcdefg", 3, ["abc", "def", "g"]),
        ("x abcdef", 4, ["x", "abcd", "ef"]),
        ("日本語", 4, ["日本", "語"]),
        ("é e\u0301 é", 3, ["é e\u0301", "é"]),
        ("", 5, [""]),
        ("a b", None, ["a b"]),
    ],
)
def test_text_is_broken_where_it_has_to(text: str, width: int | None, lines: list[str]) -> None:
    assert wrapped(text, width) == lines


def test_pairs_leave_out_what_is_empty_and_keep_whole_what_is_to_be_copied() -> None:
    named = [("field", "one two three four"), ("missing", ""), ("command", "kubectl patch x -p y")]
    assert list(pairs(named, Screen(24), whole=["command"])) == [
        "  field    one two three",
        "           four",
        "  command  kubectl patch x -p y",
    ]
