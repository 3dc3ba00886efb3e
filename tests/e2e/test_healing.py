"""The operator with the runbook and the default policy, over scenarios; and what the API server saw of it.

Every third scenario, and each that is not to end Fixed; SANARE_E2E_ALL=1 takes them all.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from sanare.api.status import Phase
from sanare.kube.resources import BY_PLURAL
from sanare_lab.healing import Healing, HealPlan, heal_all
from sanare_lab.healing.table import healing_table
from sanare_lab.scenarios.loader import load_all
from sanare_lab.scenarios.scenario import End, Scenario
from tests.journeys.arena import Arena

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
OUR_GROUP = "sanare.dev"
HANDED_OVER = (Phase.RESOLVED, Phase.ESCALATED, Phase.AWAITING_APPROVAL)

EVERY = 1 if os.environ.get("SANARE_E2E_ALL") else 3
SCENARIOS = [each for position, each in enumerate(load_all()) if position % EVERY == 0 or each.end is not End.FIXED]


async def _healed(arena: Arena) -> list[Healing]:
    plan = HealPlan(
        parallel=5, limit=arena.pace.limit, proof=arena.pace.proof, kubectl=arena.kubectl, registry=arena.registry
    )
    async with arena.client() as client, arena.operator():
        return await heal_all(client, SCENARIOS, plan, tell=lambda _: None)


@pytest.fixture(scope="module")
def healings(arena: Arena, request: pytest.FixtureRequest) -> dict[str, Healing]:
    found = asyncio.run(_healed(arena))
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():  # type: ignore[union-attr]
        Console(width=180).print("\n", healing_table(found))
    return {healing.scenario: healing for healing in found}


@pytest.mark.parametrize("scenario", [pytest.param(each, id=each.id) for each in SCENARIOS])
def test_the_runbook_heals_or_hands_over_what_it_did_not_touch(
    healings: dict[str, Healing], scenario: Scenario
) -> None:
    healing = healings[scenario.id]
    if healing.is_healed:
        assert scenario.end is End.FIXED, healing.reason
    else:
        assert healing.phase in HANDED_OVER, healing.why or healing.reason
        assert healing.mutations == 0, f"{healing.phase} after {healing.mutations} writes: {healing.reason}"


def test_the_runbook_heals_seven_of_ten_single_faults(healings: dict[str, Healing]) -> None:
    single = [each.id for each in SCENARIOS if each.end is End.FIXED and len(each.faults) == 1]
    assert sum(healings[each].is_healed for each in single) >= 0.7 * len(single)


async def test_the_api_servers_audit_log_lists_our_mutations_and_no_other(arena: Arena) -> None:
    if arena.audit_log is None:
        pytest.skip("SANARE_E2E_AUDIT_LOG names no audit log")
    async with arena.broken("double-trouble") as journey, arena.operator(journey.namespace):
        await journey.policy()
        ended = await journey.until(await journey.incident(), Phase.RESOLVED, Phase.FAILED, Phase.ESCALATED)
        ours = Counter((record.verb, str(record.ref)) for record in await journey.journal(ended))
        told = Counter(entry.event for entry in await journey.trail(ended))
        seen = Counter(await asyncio.to_thread(_seen, arena.audit_log, journey.namespace))
    assert sum(ours.values()) == 2
    assert seen == ours
    assert told["Mutated"] == 2


def _seen(log: Path, namespace: str) -> list[tuple[str, str]]:
    """Writes of workloads in the namespace that succeeded and that neither kubectl nor the cluster itself made."""
    found = []
    for line in log.read_text().splitlines():
        entry: dict[str, Any] = json.loads(line)
        target = entry.get("objectRef", {})
        if target.get("namespace") == namespace and _is_a_write(entry, target):
            resource = BY_PLURAL.get((target.get("apiGroup", ""), target["resource"]))
            found.append(
                (entry["verb"], f"{resource.kind if resource else target['resource']}/{target.get('name')}")
            )
    return found


def _is_a_write(entry: dict[str, Any], target: dict[str, Any]) -> bool:
    return (
        entry["verb"] in WRITES
        and 200 <= entry.get("responseStatus", {}).get("code", 0) < 300
        and "dryRun=All" not in entry["requestURI"]
        and target.get("apiGroup") != OUR_GROUP
        and target["resource"] != "events"
        and not entry["user"]["username"].startswith("system:")
        and not entry.get("userAgent", "").startswith("kubectl/")
    )
