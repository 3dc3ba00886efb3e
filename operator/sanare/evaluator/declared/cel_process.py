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


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The value of `expression` over `variables`; without them, the variables that it refers to.

    `error` says why there is none; its `sort` is `parse`, `missing` (a field that is not there) or `evaluation`.
    """
    try:
        program = _library().compile(request["expression"])
    except Exception as error:  # the library raises many kinds
        return {"error": _said(error), "sort": "parse"}
    if "variables" not in request:
        return {"refers": sorted(program.references()["variables"])}
    try:
        value = program.execute(request["variables"])
    except (KeyError, IndexError) as error:
        return {"error": _said(error), "sort": "missing"}
    except Exception as error:
        return {"error": _said(error), "sort": "evaluation"}
    if isinstance(value, bool):
        return {"value": value}
    return {"error": f"its value is a {type(value).__name__}, not a boolean", "sort": "evaluation"}


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
