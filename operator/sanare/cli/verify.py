"""`sanare verify`: one look at an Incident's scope, with the caller's rights, against the Incident's baseline."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sanare.api.incident import Incident
from sanare.api.model import to_rfc3339
from sanare.api.verdict import CheckOutcome, CheckResult, Result, Verdict
from sanare.cli.people import named_incident
from sanare.cli.table import Screen, pairs, table
from sanare.errors import ConfigError
from sanare.evaluator.declared.asker import Means
from sanare.evaluator.evaluator import Evaluator
from sanare.kube.client import KubeClient
from sanare.reconcile.admission import default_policy, resolve_policy
from sanare.reconcile.kit import load_baseline
from sanare.settings import Settings

EXIT = {Result.FIXED: 0, Result.NOT_FIXED: 1, Result.UNVERIFIED: 2}
_COLOURS: dict[str, str] = {
    CheckResult.PASSED: "green",
    CheckResult.FAILED: "red",
    CheckResult.UNKNOWN: "yellow",
    Result.FIXED: "green",
    Result.NOT_FIXED: "red",
    Result.UNVERIFIED: "yellow",
}


async def command(kube: KubeClient, arguments: argparse.Namespace) -> int:
    """Print the verdict with every check; the exit code is the verdict's. Raises SanareError."""
    incident = await named_incident(kube, arguments)
    if incident.status.baseline is None:
        raise ConfigError(
            f"incident/{incident.metadata.name} has no baseline yet (phase {incident.status.phase}): "
            "the operator has not looked at it, so there is nothing to compare with"
        )
    settings = Settings.from_environment()
    policy = await resolve_policy(kube, incident, default_policy(settings))
    baseline = await load_baseline(kube, incident)
    # Nothing is created for those who only look: what needs a pod is told as Unknown.
    evaluator = Evaluator(kube, replace(Means.of(settings), may_create=False))
    verdict, checks = await evaluator.examine(incident, policy, baseline)
    if arguments.output == "json":
        print(json.dumps(as_json(incident, verdict, checks), indent=2, ensure_ascii=False))
    else:
        print("\n".join(as_table(incident, verdict, checks, Screen.of(sys.stdout))))
    return EXIT[verdict.result]


def as_json(incident: Incident, verdict: Verdict, checks: Sequence[CheckOutcome]) -> dict[str, Any]:
    """The verdict as the status has it, with every check."""
    meta = incident.metadata
    whole = verdict.model_copy(update={"checks": ()}).wire() | {"checks": [check.wire() for check in checks]}
    return {"incident": meta.name, "namespace": meta.namespace, **whole}


def as_table(incident: Incident, verdict: Verdict, checks: Sequence[CheckOutcome], screen: Screen) -> Iterator[str]:
    """The verdict, how far the repair has come, and a line for each check, failures first."""
    meta, progress, counts = incident.metadata, verdict.progress, verdict.counts
    since = incident.status.baseline
    yield f"{screen.paint(verdict.result, _COLOURS[verdict.result])}  incident/{meta.name} in {meta.namespace}"
    told = f"{counts.failed} failed, {counts.unknown} could not run, {counts.passed} passed"
    share = f"{progress.share} faults repaired, {progress.resources} object(s) failing" if progress.faults else ""
    lines = [("reason", verdict.reason), ("checks", told), ("progress", share)]
    lines += [("new", ", ".join(progress.appeared)), ("gone", ", ".join(progress.vanished))]
    lines += [("baseline", to_rfc3339(since.taken_at) if since else "")]
    yield from pairs(lines, screen)
    yield ""
    rows = [(c.result.value, c.name, c.object, c.kind or "-", c.message) for c in checks]
    yield from table(("RESULT", "CHECK", "OBJECT", "KIND", "SEEN"), rows, screen, _COLOURS)
