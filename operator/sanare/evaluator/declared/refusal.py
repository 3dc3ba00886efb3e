"""What is wrong with declared checks, said before anything is touched."""

from __future__ import annotations

from datetime import UTC, datetime

from sanare import errors
from sanare.api.checks import CelCheck, Check, Origin, PromqlCheck
from sanare.api.incident import Incident
from sanare.evaluator.declared import expression, prometheus
from sanare.evaluator.declared.asker import NO_IMAGE, NO_PODS, NO_SERVER, OUTSIDE, Means
from sanare.evaluator.declared.prometheus import Server, Window
from sanare.evaluator.declared.reply import Reply, check_name, matches

REASON = "InvalidCheck"


async def refuse_invalid_checks(incident: Incident, means: Means, *, allow_pods: bool) -> None:
    """Raise InvalidIncident for the first check that cannot be asked as it stands, whatever the cluster's state.

    The Incident's checks include its policy's. A Prometheus that does not answer refuses nothing.
    """
    for check in incident.spec.checks:
        why = await fault(check, means, allow_pods=allow_pods)
        if why:
            raise errors.InvalidIncident(REASON, f"{check_name(check)}: {why}")


async def fault(check: Check, means: Means, *, allow_pods: bool) -> str:
    """What is wrong with one check, empty where nothing is."""
    if check.needs_pods and not allow_pods:
        return NO_PODS
    if check.is_from(Origin.PROBE_POD) and not means.probe_image:
        return NO_IMAGE
    if check.is_from(Origin.OPERATOR) and not means.in_cluster:
        return OUTSIDE
    if check.http and check.http.matches:
        return _pattern_fault(check.http.matches)
    if check.cel:
        return await _cel_fault(check.cel)
    if check.promql:
        return await _query_fault(check.promql, means.server)
    return ""


def _pattern_fault(pattern: str) -> str:
    try:
        matches(pattern, "")
    except ValueError as error:
        return f"matches is no regular expression in RE2 syntax: {error}"
    return ""


async def _cel_fault(check: CelCheck) -> str:
    why = await expression.fault(check)
    return f"the expression is not usable: {why}" if why else ""


async def _query_fault(check: PromqlCheck, server: Server | None) -> str:
    """Prometheus's own word on the query, where it answers."""
    if server is None:
        return NO_SERVER
    answer = await prometheus.ask(server, check, Window(datetime.now(UTC).timestamp()))
    return answer.failure if isinstance(answer, Reply) and answer.status == 400 else ""
