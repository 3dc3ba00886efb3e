"""A kit around one Incident whose evaluator sees what the test says."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, cast

from sanare.api.incident import Incident
from sanare.api.status import BaselineRef
from sanare.api.verdict import Verdict
from sanare.evaluator.evaluator import Evaluator
from sanare.evaluator.snapshot import Snapshot
from sanare.kube.client import KubeClient
from sanare.kube.events import EventRecorder
from sanare.kubectl.gate import Gate
from sanare.reconcile.chronicle import Chronicle
from sanare.reconcile.kit import Actors, Kit, digest_of
from sanare.settings import Settings
from tests.unit.evaluator.namespace import NOW, baseline_of, shop
from tests.unit.incidents import T0, incident
from tests.unit.reconcile.shelf import Shelf

BASELINE = json.dumps(baseline_of(shop()).wire())


@dataclass
class Eyes:
    """An evaluator that sees one snapshot, says one verdict at a look and another after watching."""

    now: Verdict
    watched: Verdict | None = None
    snapshot: Snapshot = field(default_factory=lambda: shop().snapshot())
    asked: list[dict[str, Any]] = field(default_factory=list)

    async def judge_now(self, *_: object) -> tuple[Verdict, Snapshot]:
        return self.now, self.snapshot

    async def verify(self, _: Incident, policy: Any, __: Any, **asked: Any) -> tuple[Verdict, Snapshot]:
        self.asked.append({**asked, "hold": policy.verify.hold})
        return self.watched or self.now, self.snapshot


def about(**status: Any) -> Incident:
    """An Incident with a baseline."""
    ref = BaselineRef(taken_at=T0, store="web-baseline-0", digest=digest_of(BASELINE))
    return incident(**{"baseline": ref, **status})


def with_baseline(shelf: Shelf) -> Shelf:
    """The shelf with the record of the baseline on it."""
    spec = {"type": "Baseline", "incident": "web", "part": 0, "data": BASELINE}
    shelf.records["web-baseline-0"] = {"spec": spec}
    return shelf


def staged(shelf: Shelf, eyes: Eyes) -> tuple[Kit, Chronicle]:
    """A kit without gate and actors, and the open record of the shelf's Incident."""
    kube = cast(KubeClient, shelf)
    kit = Kit(
        kube=kube,
        evaluator=cast(Evaluator, eyes),
        gate=cast(Gate, None),
        actors=cast(Actors, None),
        recorder=EventRecorder(kube),
        settings=Settings(agent_account="sanare-system:sanare-agent"),
        clock=lambda: NOW,
        kubectl="",
    )
    return kit, Chronicle(kube, kit.recorder, shelf.incident, clock=kit.clock)
