"""The part of kubectl's JSONPath that printer columns use: fields, indexes, `[*]`, equality filters."""

from __future__ import annotations

import re
from typing import Any

_STEP = re.compile(
    r"""\.(?P<field>(?:\\.|[^.\[\]\\])+)
      | \[(?P<index>-?\d+)\]
      | \[(?P<star>\*)\]
      | \[['"](?P<quoted>[^'"]+)['"]\]
      | \[\?\(@\.(?P<key>[\w.]+)\s*==\s*['"](?P<value>[^'"]*)['"]\)\]
    """,
    re.VERBOSE,
)


def find(path: str, obj: Any) -> list[Any]:
    """Every value at a path, none where there is none. A path that is not understood finds nothing."""
    values, position = [obj], 0
    while position < len(path):
        step = _STEP.match(path, position)
        if not step:
            return []
        values = [found for value in values for found in _follow(step, value)]
        position = step.end()
    return values


def _follow(step: re.Match[str], value: Any) -> list[Any]:
    name = step["field"] or step["quoted"]
    if name is not None:
        name = name.replace("\\.", ".")
        return [value[name]] if isinstance(value, dict) and name in value else []
    if not isinstance(value, list):
        return list(value.values()) if step["star"] and isinstance(value, dict) else []
    if step["star"]:
        return value
    if step["index"]:
        index = int(step["index"])
        return [value[index]] if -len(value) <= index < len(value) else []
    path = "." + step["key"]
    return [item for item in value if find(path, item) == [step["value"]]]
