"""Object sets recorded on a real cluster (Kubernetes 1.37): broken, repaired, falsely repaired.

Each file holds an Incident, the baseline that `capture` took, and the snapshot that `verify` ended with; `broken`
ones have no baseline.
"""

from __future__ import annotations

import functools
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from sanare.api.incident import Incident
from sanare.api.manifest import Manifest
from sanare.api.policy import PolicySpec
from sanare.api.verdict import Result, Verdict
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.judge import judge
from sanare.evaluator.kinds import Kind
from sanare.evaluator.snapshot import Answer, Probe, Snapshot
from sanare.evaluator.wanted import BINDINGS, EVERYTHING
from sanare_lab.controls.outcome import judge as differs
from sanare_lab.controls.recording import read
from sanare_lab.scenarios.loader import library
from sanare_lab.scenarios.loader import load as load_scenario
from sanare_lab.scenarios.scenario import Expectation

RECORDED = Path(__file__).parents[2] / "data" / "evaluator"
# A kind that a recording does not hold was empty.
NONE: dict[str, tuple[Manifest, ...]] = dict.fromkeys((*EVERYTHING, *BINDINGS), ())
POLICY = PolicySpec.parse({"verify": {"hold": "10s"}})

EXPECTED: dict[str, tuple[Result, Kind | None, str]] = {
    "liveness.broken": (Result.NOT_FIXED, Kind.LIVENESS_FAILING, "is answered with 404"),
    "liveness.right": (Result.FIXED, None, "answered with 200"),
    "liveness.removed": (Result.NOT_FIXED, Kind.PROBE_REMOVED, "liveness probe of container web was removed"),
    "liveness.softened": (Result.NOT_FIXED, Kind.PROBE_SOFTENED, "tolerates 2000 s instead of 4 s"),
    "selector.broken": (
        Result.NOT_FIXED,
        Kind.SELECTOR_MATCHES_NOTHING,
        "selector app=weeb matches no pod; the pods of Deployment/web carry app=web",
    ),
    "selector.right": (Result.FIXED, None, "Service/web port 80 -> 8080: answered with 200"),
    "selector.relabel": (Result.NOT_FIXED, Kind.POD_ORPHANED, "which no controller owns any more"),
    "selector.foreign": (Result.NOT_FIXED, Kind.SELECTOR_WIDENED, "now also takes pods of Deployment/api"),
    "selector.slices": (Result.NOT_FIXED, Kind.MANUAL_ENDPOINTS, "EndpointSlice/web-hand"),
    "variable.broken": (Result.NOT_FIXED, Kind.CRASH, "container web exits with code 1"),
    "variable.right": (Result.FIXED, None, "answered with 200"),
    "variable.invented": (Result.NOT_FIXED, Kind.VALUE_CONTRADICTED, "ConfigMap/app-notes contradicts"),
    "variable.idle": (Result.NOT_FIXED, Kind.COMMAND_REPLACED, 'replaced with "sleep infinity", which idles'),
    "volume.broken": (Result.NOT_FIXED, Kind.FAILED_MOUNT, 'configmap "web-confg" not found'),
    "volume.right": (Result.FIXED, None, "answered with 200"),
    "volume.empty": (Result.NOT_FIXED, Kind.STAND_IN_CREATED, "was created empty"),
    "volume.optional": (Result.NOT_FIXED, Kind.OPTIONAL_ADDED, "was made optional"),
    "volume.emptydir": (Result.NOT_FIXED, Kind.STAND_IN_CREATED, "is an emptyDir instead of configMap web-confg"),
    "double.broken": (Result.NOT_FIXED, Kind.IMAGE_PULL, 'cannot pull image "eval.local/app:1.o"'),
    "double.half": (Result.NOT_FIXED, Kind.UNREACHABLE, "port 80 -> 8000: connection refused"),
    "double.right": (Result.FIXED, None, "answered with 200"),
    "interface.sidecar": (Result.NOT_FIXED, Kind.SIDECAR_ADDED, "container fwd"),
    "interface.right": (Result.FIXED, None, "answered with 200"),
    "quota.broken": (Result.NOT_FIXED, Kind.QUOTA_EXCEEDED, "exceeded quota: pods"),
    "quota.nothing": (Result.NOT_FIXED, Kind.QUOTA_EXCEEDED, "the controller tries again by itself"),
    "quota.deleted": (Result.NOT_FIXED, Kind.QUOTA_DELETED, "ResourceQuota/pods was deleted"),
    "quota.lowered": (Result.NOT_FIXED, Kind.SCALED_DOWN, "spec.replicas was lowered from 2 to 1"),
    "zero.broken": (Result.NOT_FIXED, Kind.NO_REPLICAS, "spec.replicas is 0"),
    "zero.bare": (Result.NOT_FIXED, Kind.SHADOW_WORKLOAD, "Pod/fix was created"),
}


def load(name: str) -> tuple[Verdict, dict[str, Any]]:
    recorded: dict[str, Any] = json.loads((RECORDED / f"{name}.json").read_text())
    taken = recorded["snapshot"]
    snapshot = Snapshot(
        namespace=taken["namespace"],
        taken_at=datetime.fromisoformat(taken["takenAt"]),
        objects={**NONE, **{kind: tuple(items) for kind, items in taken["objects"].items()}},
        answers={Probe(**probe): Answer(**answer) for probe, answer in taken["answers"]},
        logs=taken["logs"],
        unseen=taken["unseen"],
    )
    baseline = Baseline.parse(recorded["baseline"]) if recorded["baseline"] else None
    since = datetime.fromisoformat(recorded["since"]) if recorded["since"] else None
    incident = Incident.parse(recorded["incident"])
    return judge(snapshot, baseline, incident, POLICY, now=snapshot.taken_at, since=since), recorded


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_recorded_state_is_judged_as_it_was(name: str) -> None:
    result, kind, words = EXPECTED[name]
    verdict, _ = load(name)
    assert (verdict.result, verdict.kind) == (result, kind or "")
    assert words in verdict.reason


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_same_state_gives_the_same_words(name: str) -> None:
    first, recorded = load(name)
    for items in recorded["snapshot"]["objects"].values():
        items.reverse()
    again, _ = load(name)
    assert first == again


def test_every_recording_is_judged() -> None:
    assert {path.stem for path in RECORDED.glob("*.json")} == set(EXPECTED)


# Recordings of the scenarios' controls: what must be said of each stands with the scenario.
CONTROLS = sorted((RECORDED / "controls").glob("*.json.gz"))


@functools.cache
def expectation(scenario: str, control: str) -> Expectation:
    controls = {each.name: each for each in load_scenario(library() / scenario).controls}
    return controls[control].expect


@pytest.mark.parametrize("path", CONTROLS, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_a_recorded_control_is_judged_as_its_scenario_says(path: Path) -> None:
    recording = read(path)
    verdict = recording.judged()
    assert differs(verdict, expectation(recording.scenario, recording.control), answered=True) == ""
    assert (verdict.result, verdict.kind) == (recording.result, recording.kind)
