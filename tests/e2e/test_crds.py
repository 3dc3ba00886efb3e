"""The CRDs on a real API server: what is right is taken, what is wrong is refused with a message that says why.

Needs KUBECONFIG with the right to install CRDs and to create namespaces.
"""

from __future__ import annotations

import copy
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sanare.api.model import API_VERSION
from sanare.errors import Invalid
from sanare.kube.client import APPLY_PATCH, KubeClient
from sanare.kube.resources import BY_KIND

ROOT = Path(__file__).parents[2]
DIGEST = "sha256:" + "0" * 64
TARGET = {"kind": "Deployment", "name": "web"}
NOW = "2026-01-02T03:04:05Z"


@pytest.fixture
async def kube() -> AsyncIterator[KubeClient]:
    """A client whose cluster has the CRDs of this tree."""
    async with await KubeClient.connect() as client:
        for path in sorted((ROOT / "crds").glob("*.yaml")):
            definition = yaml.safe_load(path.read_text())
            await client.request(
                "PATCH",
                f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{definition['metadata']['name']}",
                query={"fieldManager": "sanare-e2e", "force": "true"},
                body=definition,
                content_type=APPLY_PATCH,
            )
        yield client


@pytest.fixture
async def namespace(kube: KubeClient) -> AsyncIterator[str]:
    name = f"sanare-crds-{uuid.uuid4().hex[:8]}"
    await kube.create(BY_KIND["Namespace"], "", {"metadata": {"name": name}})
    yield name
    await kube.delete(BY_KIND["Namespace"], "", name)


def made(kind: str, spec: dict[str, Any], name: str = "case") -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def incident(**fields: Any) -> dict[str, Any]:
    return made("Incident", {"targets": [TARGET], **fields})


def policy(**fields: Any) -> dict[str, Any]:
    return made("RemediationPolicy", fields)


def ladder(*rungs: dict[str, Any]) -> dict[str, Any]:
    return policy(ladder=list(rungs))


async def create(kube: KubeClient, body: dict[str, Any], namespace: str = "default") -> None:
    """Ask the API server whether it would take the object; nothing is kept."""
    path = BY_KIND[body["kind"]].path(namespace)
    await kube.request("POST", path, query={"dryRun": "All", "fieldValidation": "Strict"}, body=body)


RIGHT = {
    "a target alone": incident(),
    "every kind of check": incident(
        checks=[
            {"name": "rolled out", "rollout": {"name": "web"}},
            {"name": "has endpoints", "endpoints": {"service": "web", "minReady": 2}},
            {"name": "answers", "http": {"service": "web", "path": "/healthz?full=1", "status": 204}},
            {"name": "by number", "tcp": {"service": "web", "port": 8080}},
            {"name": "by name", "tcp": {"service": "web", "port": "http"}},
        ]
    ),
    "an alert": incident(
        source={"type": "Alertmanager", "fingerprint": "c0ffee", "startsAt": NOW, "labels": {"pod": "web-1"}}
    ),
    "an approval": incident(approval={"decision": "Approve", "digest": DIGEST, "approver": "ada"}),
    "an edited approval": incident(
        approval={"decision": "Approve", "digest": DIGEST, "actions": [{"argv": ["scale", "deploy/web"]}]}
    ),
    "a rejection": incident(approval={"decision": "Reject"}),
    "an empty policy": policy(),
    "a full ladder": ladder(
        {"tier": "PlainRetry", "attempts": 2},
        {"tier": "ReflectionRetry", "model": "some-model", "when": "PartialOrMulti"},
        {"tier": "StrongerModel", "model": "other-model", "minSeverity": "High", "timeout": "1h30m"},
        {"tier": "Human"},
    ),
    "durations of every unit": policy(verify={"convergeTimeout": "1h2m3s", "hold": "500ms"}, approvalExpiry="24h"),
    "a budget": policy(budget={"attempts": 8, "costUSD": 0.5, "tokens": 100000, "wallClock": "2h"}),
    "a record": made("IncidentRecord", {"type": "Audit", "incident": "web", "part": 0, "data": "[]"}),
}

WRONG = {
    "no spec": ({"apiVersion": API_VERSION, "kind": "Incident", "metadata": {"name": "case"}}, "spec: Required"),
    "no target": (incident(targets=[]), "should have at least 1 items"),
    "nine targets": (incident(targets=[TARGET] * 9), "must have at most 8 items"),
    "a target without a name": (incident(targets=[{"kind": "Deployment"}]), "name: Required value"),
    "an unknown field": (incident(sumary="typo"), "unknown field"),
    "an unknown severity": (incident(severity="critical"), 'supported values: "Critical", "High", "Medium", "Low"'),
    "an unknown mode": (incident(mode="Auto"), 'supported values: "Enforce", "Propose", "Observe"'),
    "a long summary": (incident(summary="x" * 1025), "may not be more than 1024"),
    "a long name": (made("Incident", {"targets": [TARGET]}, "x" * 201), "the name is at most 200 characters"),
    "too many labels": (
        incident(source={"labels": {f"label{n}": "x" for n in range(65)}}),
        "must have at most 64 items",
    ),
    "a check of nothing": (
        incident(checks=[{"name": "none"}]),
        "exactly one of rollout, endpoints, http, tcp, promql, cel and job",
    ),
    "a check of two things": (
        incident(checks=[{"name": "both", "rollout": {"name": "web"}, "http": {"service": "web"}}]),
        "exactly one of rollout, endpoints, http, tcp, promql, cel and job",
    ),
    "two checks of one name": (
        incident(checks=[{"name": "one", "rollout": {"name": "a"}}, {"name": "one", "rollout": {"name": "b"}}]),
        "Duplicate value",
    ),
    "a check's path with a space": (
        incident(checks=[{"name": "a", "http": {"service": "web", "path": "/a b"}}]),
        "should match",
    ),
    "an approval without a digest": (incident(approval={"decision": "Approve"}), "copy status.proposal.digest"),
    "an approval of half a digest": (
        incident(approval={"decision": "Approve", "digest": "sha256:12"}),
        "should match",
    ),
    "a rejection with actions": (
        incident(approval={"decision": "Reject", "actions": [{"argv": ["get", "pods"]}]}),
        "a rejection has none",
    ),
    "an action without arguments": (
        incident(approval={"decision": "Approve", "digest": DIGEST, "actions": [{"argv": []}]}),
        "should have at least 1 items",
    ),
    "an empty ladder": (policy(ladder=[]), "should have at least 1 items"),
    "a reflection without a model": (ladder({"tier": "ReflectionRetry"}), "need a model"),
    "a stronger model without a name": (ladder({"tier": "StrongerModel", "model": ""}), "need a model"),
    "a human with a model": (ladder({"tier": "Human", "model": "some-model"}), "the Human step has no model"),
    "a human in the middle": (ladder({"tier": "Human"}, {"tier": "PlainRetry"}), "it is the last"),
    "two humans": (ladder({"tier": "Human"}, {"tier": "Human"}), "at most one Human step"),
    "nine attempts": (ladder({"tier": "PlainRetry", "attempts": 9}), "should be less than or equal to 8"),
    "a step without time": (ladder({"tier": "PlainRetry", "timeout": "0s"}), "at least 1s"),
    "a duration without a unit": (policy(verify={"hold": "30"}), "should match"),
    "a negative duration": (policy(verify={"hold": "-5s"}), "should match"),
    "a duration in days": (policy(approvalExpiry="2d"), "should match"),
    "a duration beyond a day": (policy(budget={"wallClock": "24h1s"}), "a duration is at most 24h"),
    "a negative budget": (policy(budget={"costUSD": -0.01}), "should be greater than or equal to 0"),
    "a boundless budget": (policy(budget={"costUSD": 10000.01}), "should be less than or equal to 10000"),
    "a budget without attempts": (policy(budget={"attempts": 0}), "should be greater than or equal to 1"),
    "a record of an unknown type": (
        made("IncidentRecord", {"type": "Notes", "incident": "web", "part": 0, "data": ""}),
        "supported values",
    ),
    "a record that is too large": (
        made("IncidentRecord", {"type": "Audit", "incident": "web", "part": 0, "data": "x" * 65537}),
        "may not be more than 65536",
    ),
}


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT.keys())
async def test_a_right_object_is_taken(kube: KubeClient, body: dict[str, Any]) -> None:
    await create(kube, body)


@pytest.mark.parametrize(("body", "message"), WRONG.values(), ids=WRONG.keys())
async def test_a_wrong_object_is_refused_with_its_message(
    kube: KubeClient, body: dict[str, Any], message: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        await create(kube, body)
    assert message in str(refusal.value)


CHANGES = {
    "the targets": ({}, {"targets": [{"kind": "Deployment", "name": "other"}]}, "targets are what was alerted"),
    "the source": ({}, {"source": {"alertName": "Other"}}, "source is what was alerted"),
    "the source taken away": ({"source": {"alertName": "Down"}}, {"source": None}, "source is what was alerted"),
    "the mode from Propose to Enforce": ({"mode": "Propose"}, {"mode": "Enforce"}, "mode may only be tightened"),
    "the mode from Propose to unset": ({"mode": "Propose"}, {"mode": None}, "mode may only be tightened"),
    "the mode from Observe to Propose": ({"mode": "Observe"}, {"mode": "Propose"}, "mode may only be tightened"),
    "the mode from Observe to unset": ({"mode": "Observe"}, {"mode": None}, "mode may only be tightened"),
    "the mode from unset to Propose": ({}, {"mode": "Propose"}, ""),
    "the mode from Enforce to Observe": ({"mode": "Enforce"}, {"mode": "Observe"}, ""),
    "the mode from Enforce to unset": ({"mode": "Enforce"}, {"mode": None}, ""),
    "the mode from Propose to Observe": ({"mode": "Propose"}, {"mode": "Observe"}, ""),
    "summary and severity": ({}, {"summary": "worse than it looked", "severity": "Critical"}, ""),
    "suspend": ({"suspend": True}, {"suspend": False}, ""),
    "the policy": ({}, {"policyRef": {"name": "careful"}}, ""),
    "an approval": ({}, {"approval": {"decision": "Approve", "digest": DIGEST}}, ""),
}


@pytest.mark.parametrize(("first", "change", "message"), CHANGES.values(), ids=CHANGES.keys())
async def test_what_may_change_later(
    kube: KubeClient, namespace: str, first: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    await kube.create(BY_KIND["Incident"], namespace, incident(**first))
    if not message:
        await kube.patch(BY_KIND["Incident"], namespace, "case", {"spec": change})
        return
    with pytest.raises(Invalid, match=message):
        await kube.patch(BY_KIND["Incident"], namespace, "case", {"spec": change})


async def test_a_record_is_written_once(kube: KubeClient, namespace: str) -> None:
    record = made("IncidentRecord", {"type": "Audit", "incident": "web", "part": 0, "data": "[]"})
    await kube.create(BY_KIND["IncidentRecord"], namespace, record)
    with pytest.raises(Invalid, match="a record is written once"):
        await kube.patch(BY_KIND["IncidentRecord"], namespace, "case", {"spec": {"data": "[1]"}})


STATUS = {
    "phase": "Repairing",
    "tier": "PlainRetry",
    "attemptCount": 2,
    "target": "Deployment/web",
    "approver": "ada",
    "usage": {"calls": 1, "costUSD": 0.25},
    "conditions": [{"type": "Healthy", "status": "False", "reason": "NoEndpoints", "lastTransitionTime": NOW}],
    "verdict": {
        "result": "NotFixed",
        "reason": "Service/web has no ready endpoint",
        "evaluatedAt": NOW,
        "progress": {"repaired": 1, "faults": 3, "share": "1/3"},
    },
}
CONDITION = STATUS["conditions"][0]  # type: ignore[index]

WRONG_STATUS = {
    "an unknown phase": ({"phase": "Broken"}, "supported values"),
    "a condition of an unknown type": ({"conditions": [{**CONDITION, "type": "Fine"}]}, "supported values"),
    "a condition twice": ({"conditions": [CONDITION, CONDITION]}, "Duplicate value"),
    "a reason with blanks": ({"conditions": [{**CONDITION, "reason": "no endpoints"}]}, "should match"),
    "a verdict without a reason": ({"verdict": {"result": "Fixed", "evaluatedAt": NOW}}, "reason: Required value"),
    "a boundless memory": (
        {"memory": [{"attempt": 1, "kind": "Feedback", "text": "x"}] * 9},
        "must have at most 8 items",
    ),
}


@pytest.mark.parametrize(("status", "message"), WRONG_STATUS.values(), ids=WRONG_STATUS.keys())
async def test_a_status_out_of_bounds_is_refused(
    kube: KubeClient, namespace: str, status: dict[str, Any], message: str
) -> None:
    await kube.create(BY_KIND["Incident"], namespace, incident())
    with pytest.raises(Invalid) as refusal:
        await kube.patch(BY_KIND["Incident"], namespace, "case", {"status": status}, subresource="status")
    assert message in str(refusal.value)


async def test_spec_and_status_have_doors_of_their_own(kube: KubeClient, namespace: str) -> None:
    await kube.create(BY_KIND["Incident"], namespace, {**incident(), "status": copy.deepcopy(STATUS)})
    taken = await kube.get(BY_KIND["Incident"], namespace, "case")
    assert "status" not in taken
    change = {"status": STATUS, "spec": {"summary": "by the wrong door"}}
    await kube.patch(BY_KIND["Incident"], namespace, "case", change, subresource="status")
    taken = await kube.get(BY_KIND["Incident"], namespace, "case")
    assert (taken["status"]["phase"], "summary" in taken["spec"]) == ("Repairing", False)


async def test_the_columns_tell_the_story(kube: KubeClient, namespace: str) -> None:
    await kube.create(BY_KIND["Incident"], namespace, incident(source={"alertName": "ShopDown"}, severity="High"))
    await kube.patch(BY_KIND["Incident"], namespace, "case", {"status": STATUS}, subresource="status")
    answer = await kube.raw(
        "GET",
        BY_KIND["Incident"].path(namespace),
        headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"},
    )
    table = answer.manifest()
    shown = {
        column["name"]: (column["priority"], cell)
        for column, cell in zip(table["columnDefinitions"], table["rows"][0]["cells"], strict=True)
    }
    assert shown.pop("Age")[0] == 0
    assert shown == {
        "Name": (0, "case"),
        "Phase": (0, "Repairing"),
        "Outcome": (0, None),
        "Severity": (0, "High"),
        "Target": (0, "Deployment/web"),
        "Tier": (0, "PlainRetry"),
        "Attempts": (0, 2),
        "Alert": (1, "ShopDown"),
        "Progress": (1, "1/3"),
        "Reason": (1, "Service/web has no ready endpoint"),
        "Cost": (1, 0.25),
        "Approver": (1, "ada"),
    }


async def test_what_is_left_out_is_filled_in(kube: KubeClient, namespace: str) -> None:
    await kube.create(BY_KIND["RemediationPolicy"], namespace, policy())
    spec = (await kube.get(BY_KIND["RemediationPolicy"], namespace, "case"))["spec"]
    assert [rung["tier"] for rung in spec["ladder"]] == ["PlainRetry", "Human"]
    assert (spec["mode"], spec["budget"]["attempts"], spec["verify"]["hold"]) == ("Enforce", 2, "15s")
