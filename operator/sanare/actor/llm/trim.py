"""What of a command's output a model reads: noise left out, repeats folded, the rest cut in the middle. Pure.

Everything that is left out leaves a mark, so that the model knows that there was more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from sanare.text import cap_middle, redact, strip_hidden

OUTPUT_BYTES = 16_000
"""Of one answer. A `describe` of a busy pod takes about 6,000."""

_FOLD_FROM = 4  # equal lines in a row that are folded
_LINE_BYTES = 2_000

# Fields that tell a repair nothing, with the values that make them noise: a ConfigMap may have a key `uid` too.
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NOISE = {"uid": re.compile(_UUID), "resourceVersion": re.compile(r"\d+")}
_NOISE_LINE = re.compile(
    rf"^(?P<indent>\s+)(?:- )?(?:(?P<block>managedFields):|uid: \"?{_UUID}\"?|resourceVersion: \"?\d+\"?)\s*$"
)
_VARYING = re.compile(r"\d+")


def trim(output: str, limit: int = OUTPUT_BYTES) -> str:
    """A command's output for a model, at most `limit` UTF-8 bytes: cleaned, redacted, without noise, marked."""
    text = redact(strip_hidden(output))
    text = _trim_json(text) or "\n".join(_fold(_drop_noise(text.split("\n"))))
    return cap_middle(text, limit)


def _trim_json(text: str) -> str:
    """The text without noise when it is JSON, else an empty string."""
    if not text.lstrip().startswith(("{", "[")):
        return ""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    dropped: set[str] = set()
    slim = _without_noise(value, dropped)
    return json.dumps(slim, indent=1, ensure_ascii=False) + _mark(dropped)


def _without_noise(value: object, dropped: set[str]) -> object:
    if isinstance(value, list):
        return [_without_noise(item, dropped) for item in value]
    if not isinstance(value, dict):
        return value
    noisy = {key for key, item in value.items() if _is_noise(key, item)}
    dropped.update(noisy)
    return {key: _without_noise(item, dropped) for key, item in value.items() if key not in noisy}


def _is_noise(key: str, value: object) -> bool:
    if key == "managedFields":
        return isinstance(value, list)
    return key in _NOISE and isinstance(value, str) and _NOISE[key].fullmatch(value) is not None


def _drop_noise(lines: Iterable[str]) -> Iterator[str]:
    """Lines of YAML without noisy fields and what is indented below them."""
    dropped: set[str] = set()
    below: int | None = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if below is not None and line.strip() and (indent > below or _is_item_at(line, below)):
            continue
        below = None
        match = _NOISE_LINE.match(line)
        if match:
            dropped.add(line.strip(" -").partition(":")[0])
            below = len(match["indent"]) if match["block"] else None
            continue
        yield line
    if dropped:
        yield _mark(dropped).lstrip("\n")


def _is_item_at(line: str, indent: int) -> bool:
    """A list item at its parent's own indent, as kubectl writes lists."""
    return line.startswith(" " * indent + "- ")


def _fold(lines: Iterable[str]) -> Iterator[str]:
    """Runs of lines that differ in numbers alone become the first, the last and a count."""
    for shape, group in groupby(lines, key=lambda line: _VARYING.sub("0", line)):
        run = [line if len(line) <= _LINE_BYTES else cap_middle(line, _LINE_BYTES) for line in group]
        if len(run) < _FOLD_FROM or not shape.strip():
            yield from run
        else:
            yield run[0]
            yield f"[trimmed: {len(run) - 2} lines like this]"
            yield run[-1]


def _mark(dropped: set[str]) -> str:
    return f"\n[trimmed: {', '.join(sorted(dropped))}]" if dropped else ""
