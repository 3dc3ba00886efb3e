"""`sanare diagnose`: the analyzers' findings for a namespace or one object of it, with the caller's rights."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sanare.api.incident import Target
from sanare.cli.table import Screen, pairs, summary
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.namespace import Survey, survey
from sanare.diagnosis.render import render_command
from sanare.errors import ConfigError, InvalidIncident
from sanare.evaluator.scope import TARGET_KINDS
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND, RESOURCES
from sanare.text import one_line

_VALUE = 600
_HEADERS = ("CONFIDENCE", "KIND", "OBJECT", "FIELD", "OBSERVED", "REPAIR")
_COLOURS: dict[str, str] = {Confidence.HIGH: "red", Confidence.MEDIUM: "yellow"}


async def command(kube: KubeClient, arguments: argparse.Namespace) -> int:
    """Print what was found. Raises SanareError."""
    target = read_target(arguments.target) if arguments.target else None
    try:
        found = await survey(kube, arguments.namespace, target)
    except InvalidIncident as error:  # its words end with advice for the writer of an Incident
        raise ConfigError(str(error).partition(";")[0]) from error
    namespace, flags, screen = arguments.namespace, kubectl_flags(arguments), Screen.of(sys.stdout)
    match arguments.output:
        case "json":
            print(json.dumps(as_json(namespace, found, flags), indent=2, ensure_ascii=False))
        case "wide":
            print("\n".join(as_blocks(namespace, found, flags, screen)))
        case _:
            print("\n".join(as_table(namespace, found, screen)))
    return exit_code(found)


def kubectl_flags(arguments: argparse.Namespace) -> tuple[str, ...]:
    """What a kubectl command needs to reach where these arguments looked."""
    named = (("--kubeconfig", arguments.kubeconfig), ("--context", arguments.context), ("-n", arguments.namespace))
    return tuple(part for flag, value in named if value for part in (flag, value))


def exit_code(found: Survey) -> int:
    """0 nothing found, 1 findings or something that fails, 2 neither, and not all could be seen and checked."""
    return 1 if found.findings or found.failing else 2 if found.unseen or found.unsure else 0


def read_target(said: str) -> Target:
    """KIND/NAME as kubectl takes it. Raises ConfigError with what may be written."""
    word, _, name = said.partition("/")
    kinds = {alias.lower(): each.kind for each in RESOURCES for alias in (each.kind, each.plural, *each.short)}
    kind = kinds.get(word.lower(), "")
    if kind not in TARGET_KINDS or not name:
        known = ", ".join(sorted(TARGET_KINDS))
        raise ConfigError(f"{said!r}: write KIND/NAME, with a kind that can be diagnosed: {known}")
    return Target(api_version=BY_KIND[kind].api_version, kind=kind, name=name)


def as_json(namespace: str, found: Survey, flags: Sequence[str]) -> dict[str, Any]:
    """Everything that the wide form shows; `flags` go into each command."""
    return {
        "namespace": namespace,
        "lookedAt": found.looked_at,
        "failing": list(found.failing),
        "findings": [_finding(finding, flags) for finding in found.findings],
        "unseen": {kind: one_line(why, _VALUE) for kind, why in found.unseen.items()},
        "unsure": {name: one_line(why, _VALUE) for name, why in found.unsure.items()},
        "leftOut": found.left_out,
    }


def _finding(finding: Finding, flags: Sequence[str]) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "object": str(finding.ref),
        "field": one_line(finding.field, _VALUE),
        "observed": one_line(finding.observed, _VALUE),
        "expected": one_line(finding.expected, _VALUE),
        "confidence": finding.confidence.value,
        "candidates": [_candidate(candidate, flags) for candidate in finding.candidates],
        "missing": one_line(finding.missing, _VALUE),
    }


def _candidate(candidate: Candidate, flags: Sequence[str]) -> dict[str, Any]:
    return {
        "value": one_line(candidate.value, _VALUE),
        "evidence": one_line(candidate.evidence, _VALUE),
        "commands": [render_command(command, flags) for command in candidate.commands],
    }


def as_table(namespace: str, found: Survey, screen: Screen) -> Iterator[str]:
    """A line for each finding, cut to the screen, then what fails without one, and what could not be seen."""
    if found.findings:
        rows = [_row(finding) for finding in found.findings]
        yield from summary(_HEADERS, rows, screen, _COLOURS, tails=("FIELD", "OBSERVED", "REPAIR"))
        yield ""
    yield from _total(namespace, found, screen)
    if found.findings:
        yield "evidence, and the commands that repair: -o wide"


def as_blocks(namespace: str, found: Survey, flags: Sequence[str], screen: Screen) -> Iterator[str]:
    """A block for each finding with everything that is known of it, then the same end as the table."""
    for finding in found.findings:
        word = screen.paint(finding.confidence.value, _COLOURS.get(finding.confidence, ""))
        yield f"{word}  {finding.kind}  {finding.ref}"
        yield from pairs(_lines(finding, flags), screen, whole=["command"])  # to be copied: the terminal wraps it
        yield ""
    yield from _total(namespace, found, screen)


def _row(finding: Finding) -> tuple[str, ...]:
    count = len(finding.candidates)
    repair = finding.repair.value if finding.repair is not None else f"({count} possible)" if count else "-"
    seen = (finding.kind, str(finding.ref), finding.field, finding.observed or "-", repair)
    return (finding.confidence.value, *(one_line(cell, _VALUE) for cell in seen))


def _total(namespace: str, found: Survey, screen: Screen) -> Iterator[str]:
    count = len(found.findings)
    yield f"{count} finding(s); {len(found.failing)} of {found.looked_at} objects fail in namespace {namespace}"
    yield from pairs(_rest(found), screen)


def _lines(finding: Finding, flags: Sequence[str]) -> list[tuple[str, str]]:
    told = _finding(finding, flags)
    lines = [("field", told["field"]), ("observed", told["observed"])]
    lines += [] if finding.repair is not None else [("expected", told["expected"])]
    name = "repair" if finding.repair is not None else "possible"
    for candidate in told["candidates"]:
        lines += [(name, candidate["value"]), ("evidence", candidate["evidence"])]
        lines += [("command", command) for command in candidate["commands"]] if finding.repair is not None else []
    return [*lines, ("missing", told["missing"])]


def _rest(found: Survey) -> list[tuple[str, str]]:
    explained: Mapping[str, None] = dict.fromkeys(str(finding.ref) for finding in found.findings)
    unexplained = [name for name in found.failing if name not in explained]
    more = f"{found.left_out} more were not looked into: name them one by one" if found.left_out else ""
    return [
        ("also failing", ", ".join(unexplained)),
        ("left out", more),
        *(("not checked", one_line(why, _VALUE)) for why in found.unsure.values()),
        *((f"not seen: {kind}", one_line(why, _VALUE)) for kind, why in found.unseen.items()),
    ]
