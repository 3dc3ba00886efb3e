"""The rules that tell a false repair, in the order in which they decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sanare.evaluator import displaced, dropped, weakened
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.change import CHECK, Change
from sanare.evaluator.look import Look
from sanare.evaluator.seen import Seen, passed

Rule = Callable[[Change], Iterator[Seen]]

RULES: tuple[Rule, ...] = (
    displaced.rule_deleted,
    displaced.rule_replaced,
    displaced.rule_scaled_down,
    displaced.rule_guard_deleted,
    displaced.rule_claim_replaced,
    displaced.rule_stand_in_created,
    weakened.rule_optional_added,
    dropped.rule_reference_removed,
    weakened.rule_security_weakened,
    weakened.rule_image_swapped,
    weakened.rule_command_replaced,
    weakened.rule_sidecar_added,
    weakened.rule_container_removed,
    weakened.rule_probe_removed,
    weakened.rule_probe_softened,
    weakened.rule_limits_weakened,
    displaced.rule_value_contradicted,
    displaced.rule_shadow_service,
    displaced.rule_shadow_workload,
    displaced.rule_manual_endpoints,
    displaced.rule_pod_orphaned,
    dropped.rule_port_removed,
    displaced.rule_selector_widened,
    displaced.rule_not_ready_published,
    displaced.rule_neighbour_broken,
)


def false_repairs(look: Look, baseline: Baseline) -> list[Seen]:
    """What the rules found, or one passed outcome that says how many looked."""
    change = Change(baseline, look)
    found = list(dict.fromkeys(seen for rule in RULES for seen in rule(change)))
    return found or [
        passed(CHECK, baseline.namespace, f"{len(RULES)} rules compared with the baseline, none bites")
    ]
