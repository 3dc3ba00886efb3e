"""`sanare-lab evaluation`: print the page of docs/evaluation.md from outcomes that were kept."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sanare.errors import ConfigError
from sanare_lab.controls.outcome import from_json as read_controls
from sanare_lab.evaluation.page import Run, page
from sanare_lab.healing.heal import from_json as read_healings

T = TypeVar("T")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `sanare-lab evaluation`."""
    parser.add_argument("real", type=Path, help="what `controls --json` kept on a real cluster")
    parser.add_argument("embedded", type=Path, help="what `controls --embedded --json` kept")
    parser.add_argument("--healing", type=Path, metavar="FILE", help="what `heal --json` kept")
    parser.add_argument(
        "--note", default="", metavar="TEXT", help="how the runs were made, where a reader must know"
    )


def run(args: argparse.Namespace) -> int:
    """Print the page. Raises ConfigError for a file that is something else."""
    healings = _read(args.healing, read_healings) if args.healing else ()
    print(page(_read(args.real, _run), _read(args.embedded, _run), healings, note=args.note), end="")
    return 0


def _run(document: dict[str, Any]) -> Run:
    return Run(str(document["cluster"]), read_controls(document))


def _read(path: Path, parse: Callable[[Any], T]) -> T:
    try:
        return parse(json.loads(path.read_text()))
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path} is no file of outcomes: {error!r}; make it with --json") from error
