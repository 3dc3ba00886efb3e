"""Admit: the first look. Policy and actor usable, targets there, baseline taken, first verdict given."""

from __future__ import annotations

import json

import yaml

from sanare import errors
from sanare.api.incident import Incident
from sanare.api.manifest import mapping
from sanare.api.policy import PolicySpec
from sanare.api.status import BaselineRef, ConditionType
from sanare.api.verdict import Result
from sanare.evaluator.baseline import Baseline
from sanare.kube.client import KubeClient
from sanare.kube.events import Happening
from sanare.kube.records import read_record, record_name, save_record
from sanare.kube.resources import BY_KIND
from sanare.reconcile.chronicle import Chronicle
from sanare.reconcile.kit import Kit, digest_of, evaluate, load_baseline
from sanare.reconcile.regression import recall, told_recurrence
from sanare.reconcile.watchlist import Watchlist
from sanare.settings import Settings
from sanare.text import one_line

SUMMARY_BYTES = 1024


def default_policy(settings: Settings) -> PolicySpec:
    """The policy of Incidents that name none. Raises ConfigError naming the file and the field."""
    if settings.default_policy is None:
        return PolicySpec()
    try:
        return PolicySpec.parse(yaml.safe_load(settings.default_policy.read_text()) or {})
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise errors.ConfigError(f"SANARE_DEFAULT_POLICY={settings.default_policy}: {error}") from error


async def resolve_policy(kube: KubeClient, incident: Incident, default: PolicySpec) -> PolicySpec:
    """The policy that governs the Incident. Raises InvalidIncident with what to do about it."""
    ref = incident.spec.policy_ref
    if ref is None:
        return default
    namespace = incident.metadata.namespace
    try:
        found = await kube.get(BY_KIND["RemediationPolicy"], namespace, ref.name)
    except errors.NotFound as error:
        raise errors.InvalidIncident(
            "PolicyNotFound",
            f"RemediationPolicy/{ref.name} is not in namespace {namespace}: create it, or remove spec.policyRef "
            f"to use the operator's default",
        ) from error
    try:
        return PolicySpec.parse(mapping(found, "spec"))
    except ValueError as error:
        raise errors.InvalidIncident(
            "PolicyInvalid", f"RemediationPolicy/{ref.name} cannot be read: {error}"
        ) from error


async def admit(kit: Kit, chronicle: Chronicle, policy: PolicySpec, watchlist: Watchlist) -> None:
    """Take the Incident on. Raises InvalidIncident where it cannot be worked on as it stands."""
    if kit.settings.namespace == chronicle.incident.metadata.namespace:
        raise errors.InvalidIncident("NamespaceProtected", "the operator's own namespace is never in scope")
    kit.actors.require(policy)
    await kit.evaluator.refuse_invalid_checks(chronicle.incident, policy)
    if chronicle.status.baseline is None:
        await _take_baseline(kit, chronicle, policy)
        await recall(kit, chronicle, watchlist)
    else:
        # one that somebody removed or replaced is told here, once
        await load_baseline(kit.kube, chronicle.incident)
    again = told_recurrence(chronicle)
    chronicle.condition(ConditionType.ACCEPTED, "True", "Accepted", f"policy, actor and targets are usable{again}")
    await chronicle.commit()
    verdict = chronicle.status.verdict
    if verdict is not None and verdict.result is not Result.FIXED:
        await chronicle.tell(Happening("IncidentAccepted", f"broken: {verdict.reason}{again}", "Warning"))


async def _take_baseline(kit: Kit, chronicle: Chronicle, policy: PolicySpec) -> None:
    baseline, verdict = await kit.evaluator.capture(chronicle.incident, policy)
    store, data = await _save_baseline(kit.kube, chronicle.incident, baseline)
    digest = digest_of(data)
    now = chronicle.now()
    chronicle.change(
        baseline=BaselineRef(taken_at=now, store=store, digest=digest, summary=_summary(baseline)),
        started_at=now,
    )
    chronicle.note("BaselineTaken", f"{store} {digest}")
    if verdict.result is Result.FIXED:
        await evaluate(kit, chronicle, policy)  # one healthy look proves nothing: it must last the hold
    else:
        chronicle.verdict(verdict)


async def _save_baseline(kube: KubeClient, incident: Incident, baseline: Baseline) -> tuple[str, str]:
    """The record's name and its text: the one that is there where a crash came before the status that names it."""
    data = json.dumps(baseline.wire(), ensure_ascii=False, separators=(",", ":"))
    try:
        return await save_record(kube, incident, "Baseline", 0, data), data
    except errors.Conflict:
        name = record_name(incident.metadata, "Baseline", 0)
        return name, (await read_record(kube, incident.metadata.namespace, name)).data


def _summary(baseline: Baseline) -> str:
    """What was wrong at the start, for a person who reads the status."""
    return one_line("; ".join(check.message for check in baseline.failing) or "nothing was wrong", SUMMARY_BYTES)
