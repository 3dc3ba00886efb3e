"""Whether something is wrong with the scope's workloads, from the lists alone. Pure.

It decides which evidence is worth a request; it decides no verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

from sanare.api.manifest import items, text
from sanare.api.verdict import CheckResult
from sanare.evaluator import health
from sanare.evaluator.look import Look
from sanare.evaluator.reach import is_asked_from_outside


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong at first sight.

    Attributes:
        any: a workload of the scope is missing, lacks pods, or has pods that do not run.
        creation: there are fewer pods than are asked for.
        silent_probe: a probe can kill a container of the scope, and only the kubelet's events tell of it.
    """

    any: bool
    creation: bool
    silent_probe: bool


def trouble_in(look: Look) -> Trouble:
    """Read the health of the scope without events, answers and logs."""
    checks = (health.check_targets, health.check_containers, health.check_rollout)
    failed = any(seen.result is not CheckResult.PASSED for check in checks for seen in check(look))
    lacking = [
        key
        for key in look.scope.workloads
        if key not in look.owned.workloads
        or len(look.owned.current(key)) < health.desired_pods(look.owned.workloads[key])
    ]
    lost = look.baseline is not None and any(
        each.object not in look.owned.workloads for each in look.baseline.facts.workloads
    )
    return Trouble(failed or bool(lacking) or lost or not look.scope.workloads, bool(lacking), _is_silent(look))


def _is_silent(look: Look) -> bool:
    return any(
        field in container and not is_asked_from_outside(container[field])
        for key in look.scope.workloads
        for pod in look.owned.current(key)[:1]
        for container in items(pod, "spec", "containers")
        for field in ("livenessProbe", "startupProbe")
        if text(container, "name")
    )
