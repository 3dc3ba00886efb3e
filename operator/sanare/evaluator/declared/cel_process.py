"""One CEL expression, in a process of its own: `python -I -m sanare.evaluator.declared.cel_process`.

The expression is a stranger's. The library evaluates it in native code that gives way to nothing and cannot be
stopped, and deep nesting ends the process; so the process is one that nobody misses, limited in processor time and
memory. Reads a request as JSON from standard input and writes an answer as JSON to standard output.
"""

from __future__ import annotations

import json
import resource
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

CPU_SECONDS = 2
MEMORY_BYTES = 128 * 1024 * 1024  # of address space, of which interpreter and library take about 25 MiB
_WORDS = 300
# In which ways a function may be called, told by one call of each.
_CALLS = (
    "{}()",
    "{}('')",
    "{}(1)",
    "''.{}()",
    "''.{}('')",
    "timestamp('2020-01-01T00:00:00Z').{}()",
    "duration('1s').{}()",
    "optional.{}()",
    "optional.{}(1)",
)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The value of `expression` over `variables`; without them, the names that the library does not know: variables
    that it `refers` to and functions that it `calls`.

    `error` says why there is none; its `sort` is `parse`, `missing` (a field that is not there) or `evaluation`.
    """
    try:
        library = _library()
        program = library.compile(request["expression"])
    except Exception as error:  # the library raises many kinds
        return {"error": _said(error), "sort": "parse"}
    if "variables" not in request:
        return _strange(library, program.references())
    try:
        value = program.execute(request["variables"])
    except (KeyError, IndexError) as error:
        return {"error": _said(error), "sort": "missing"}
    except Exception as error:
        return {"error": _said(error), "sort": "evaluation"}
    if isinstance(value, bool):
        return {"value": value}
    return {"error": f"its value is a {type(value).__name__}, not a boolean", "sort": "evaluation"}


def _strange(library: ModuleType, references: dict[str, list[str]]) -> dict[str, Any]:
    """What of an expression has to be given to it, or does not exist.

    The library does not tell its functions, and calls one that is called in no way it knows undefined.
    """
    functions = (name for name in references["functions"] if name.isidentifier() and name[0] != "_")
    return {
        "refers": sorted(name for name in references["variables"] if not _knows(library, [name])),
        "calls": sorted(n for n in functions if not _knows(library, [call.format(n) for call in _CALLS])),
    }


def _knows(library: ModuleType, expressions: list[str]) -> bool:
    """Whether one of the expressions means something to the library."""
    for expression in expressions:
        try:
            library.compile(expression).execute({})
        except Exception as error:
            if str(error).startswith("Undefined variable or function"):
                continue
        return True
    return False


def _library() -> ModuleType:
    """The library's native module without its package, which loads a command line first: half a second."""
    package = find_spec("cel")
    native = PathFinder.find_spec("cel.cel", package.submodule_search_locations) if package else None
    if native is None or native.loader is None:
        return import_module("cel")
    module = module_from_spec(native)
    native.loader.exec_module(module)
    return module


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:_WORDS]


def main() -> None:
    """Answer one request."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    json.dump(answer(json.load(sys.stdin)), sys.stdout)


if __name__ == "__main__":
    main()
