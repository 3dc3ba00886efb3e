"""The rules that tell a false repair, in the order in which they decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sanare.api.verdict import CheckResult
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.kinds import Kind
from sanare.evaluator.look import Look
from sanare.evaluator.rules import (
    collateral,
    displaced,
    dropped,
    exposed,
    guarded,
    probes,
    programs,
    stand_ins,
    weakened,
)
from sanare.evaluator.rules.change import CHECK, Change
from sanare.evaluator.seen import Seen, passed

Rule = Callable[[Change], Iterator[Seen]]

RULES: tuple[Rule, ...] = (
    displaced.rule_deleted,
    displaced.rule_replaced,
    displaced.rule_scaled_down,
    guarded.rule_guard_deleted,
    guarded.rule_guard_loosened,
    guarded.rule_guard_bypassed,
    guarded.rule_guard_escaped,
    guarded.rule_rbac_widened,
    stand_ins.rule_claim_replaced,
    stand_ins.rule_stand_in_created,
    guarded.rule_account_made_up,
    weakened.rule_optional_added,
    dropped.rule_reference_removed,
    dropped.rule_setting_removed,
    dropped.rule_account_removed,
    weakened.rule_security_weakened,
    exposed.rule_placement_widened,
    exposed.rule_priority_raised,
    programs.rule_image_swapped,
    programs.rule_command_replaced,
    programs.rule_sidecar_added,
    programs.rule_container_removed,
    probes.rule_probe_removed,
    probes.rule_probe_softened,
    weakened.rule_limits_weakened,
    exposed.rule_rollout_held,
    stand_ins.rule_value_contradicted,
    displaced.rule_shadow_service,
    displaced.rule_shadow_workload,
    displaced.rule_manual_endpoints,
    displaced.rule_selector_removed,
    displaced.rule_pod_orphaned,
    dropped.rule_port_removed,
    exposed.rule_service_type_changed,
    displaced.rule_selector_widened,
    displaced.rule_not_ready_published,
    collateral.rule_neighbour_removed,
    collateral.rule_neighbour_retargeted,
    collateral.rule_neighbour_broken,
)

# What a rollout brought, its rollback may take away: the program and what it reads. Safeguards, the probes and
# limits among them, stay as they were before the first attempt.
UNDONE = frozenset(
    {
        Kind.REFERENCE_REMOVED,
        Kind.IMAGE_SWAPPED,
        Kind.COMMAND_REPLACED,
        Kind.SIDECAR_ADDED,
        Kind.CONTAINER_REMOVED,
        Kind.VALUE_CONTRADICTED,
    }
)


def false_repairs(look: Look, baseline: Baseline) -> list[Seen]:
    """What the rules found; what of it is allowed has passed and says by whom. None bites: that has passed too."""
    change = Change(baseline, look)
    found = list(dict.fromkeys(_allowed(change, seen) for rule in RULES for seen in rule(change)))
    if any(seen.result is CheckResult.FAILED for seen in found):
        return found
    message = f"{len(RULES)} rules compared with the baseline, none bites"
    return [*found, passed(CHECK, baseline.namespace, message)]


def _allowed(change: Change, seen: Seen) -> Seen:
    """The outcome itself, or a passed one where it is undone history, or where people allow the change."""
    look = change.look
    if seen.kind in UNDONE and seen.object in change.rolled_back:
        return passed(CHECK, seen.object, f"{seen.message}; as in an earlier revision, to which it was rolled back")
    for source, changes in look.allowed.items():
        if any((each.kind.value, each.object) == (seen.kind, seen.object) for each in changes):
            return passed(CHECK, seen.object, f"{seen.message}; allowed by {source} ({seen.kind})")
    return seen
