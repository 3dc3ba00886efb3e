"""CEL checks: the objects an expression reads, its evaluation in a process of its own, and what it comes to."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sanare import errors
from sanare.api.checks import CelCheck, CelObject
from sanare.api.manifest import Manifest, text, without_managed_fields
from sanare.evaluator.declared.reply import Reply, unanswered
from sanare.evaluator.kinds import Kind
from sanare.evaluator.seen import Seen, failed, passed, unknown
from sanare.kube.client import KubeClient
from sanare.kube.discovery import find_resource
from sanare.text import one_line

SECONDS = 10.0  # for the process as a whole; its own limit of processor time is far below
AT_ONCE = 2  # processes of one operator: each may take what `cel_process` allows
_OBJECT_BYTES = 256 * 1024
_ARGV = (sys.executable, "-I", "-m", "sanare.evaluator.declared.cel_process")
# The variable that a macro binds: `list.all(x, ...)`.
_BOUND = re.compile(r"\b(?:all|exists|exists_one|existsOne|map|filter)\(\s*(\w+)\s*,")
_SORTS = {"missing": Kind.EMPTY}


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression came to."""

    holds: bool


async def ask(kube: KubeClient, namespace: str, check: CelCheck) -> Value | Reply:
    """Read the objects and evaluate. Never raises."""
    found = await asyncio.gather(*(fetch(kube, namespace, wanted) for wanted in check.objects))
    variables: dict[str, Manifest] = {}
    for wanted, each in zip(check.objects, found, strict=True):
        if isinstance(each, Reply):
            return each
        variables[wanted.variable] = each
    return await evaluate(check.expression, variables)


async def fetch(kube: KubeClient, namespace: str, wanted: CelObject) -> Manifest | Reply:
    """One object of the namespace without its managed fields. Secrets are never read."""
    name = f"{wanted.kind}/{wanted.name}"
    if wanted.kind.casefold() in ("secret", "secrets"):
        return Reply(failure=f"{name}: Secrets are not read", unknown=Kind.FORBIDDEN)
    try:
        resource = await find_resource(kube, wanted.api_version, wanted.kind)
        if not resource.namespaced:
            return Reply(failure=f"{name} belongs to no namespace", unknown=Kind.FORBIDDEN)
        manifest = await kube.get(resource, namespace, wanted.name)
    except errors.KubeError as error:
        return unanswered(error)
    trimmed = without_managed_fields(manifest)
    if len(json.dumps(trimmed)) > _OBJECT_BYTES:
        return Reply(failure=f"{name} is larger than {_OBJECT_BYTES // 1024} KiB", unknown=Kind.UNKNOWN)
    return trimmed


async def evaluate(expression: str, variables: Mapping[str, Manifest]) -> Value | Reply:
    """The expression's value. Never raises."""
    answer = await _run({"expression": expression, "variables": variables})
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer.get("value"), bool):
        return Value(answer["value"])
    said, sort = text(answer, "error"), text(answer, "sort")
    if sort == "missing":
        said = f"{said} is not there; ask has(...) first where it may be absent"
    return Reply(failure=one_line(said, 300), unknown=_SORTS.get(sort, Kind.UNKNOWN))


async def fault(check: CelCheck) -> str:
    """What is wrong with an expression by itself: it does not parse, or names what is not there."""
    answer = await _run({"expression": check.expression})
    if isinstance(answer, Reply):
        return answer.failure if answer.unknown is Kind.UNKNOWN else ""
    if text(answer, "error"):
        return one_line(text(answer, "error"), 300)
    known = {each.variable for each in check.objects} | set(_BOUND.findall(check.expression))
    strange = sorted(set(map(str, answer.get("refers") or ())) - known)
    if strange:
        return f"{', '.join(strange)}: no object is read as that"
    missing = [str(name) for name in answer.get("calls") or ()]
    return f"{', '.join(missing)}: there is no such function, or none with these arguments" if missing else ""


async def _run(request: Mapping[str, Any]) -> Mapping[str, Any] | Reply:
    """One request to a process that is gone afterwards, whatever ends the wait."""
    pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *_ARGV, stdin=pipe, stdout=pipe, stderr=nowhere, env={"LANG": "C.UTF-8"}, cwd="/"
        )
    except OSError as error:
        return Reply(failure=f"no process to evaluate it: {error.strerror}", unknown=Kind.UNKNOWN)
    try:
        async with asyncio.timeout(SECONDS):
            output, _ = await process.communicate(json.dumps(request).encode())
    except TimeoutError:
        return Reply(failure=f"the expression was not evaluated within {SECONDS:g} s", unknown=Kind.TIMEOUT)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    try:
        answer = json.loads(output)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        return Reply(
            failure="the expression takes too much time, memory or depth to evaluate", unknown=Kind.UNKNOWN
        )
    return answer


def judge(name: str, check: CelCheck, value: Value | Reply) -> Seen:
    """True passes, false fails, anything else is unknown."""
    object_, said = name, f"{name}: {one_line(check.expression, 160)}"
    if isinstance(value, Reply):
        return unknown(name, value.unknown or Kind.UNKNOWN, object_, f"{said} could not be told: {value.failure}")
    if not value.holds:
        return failed(name, Kind.DECLARED, object_, f"{said} is false")
    return passed(name, object_, f"{said} is true")
