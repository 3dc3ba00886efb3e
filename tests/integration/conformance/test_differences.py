"""What the embedded cluster is known to do otherwise: each difference is named in the docs, and shown here.

A difference that is gone fails its test, as one that is not in the docs does.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.integration.conformance.target import (
    APPLY,
    JSON,
    ROOT,
    Target,
    apps,
    config_map,
    core,
    deployment,
    eventually,
    space,
    target,
)

__all__ = ["space", "target"]


def _apply_conflicts(target: Target, space: str) -> bool:
    """Whether a second manager's server-side apply of another value is refused."""
    for manager, value in (("one", "1"), ("two", "2")):
        path = core(space, f"configmaps/c?fieldManager={manager}")
        answer = target.call("PATCH", path, config_map("c", a=value), kind=APPLY)
    return answer.status == 409


def _apply_removes(target: Target, space: str) -> bool:
    """Whether a field that a manager applies no longer goes."""
    for data in ({"a": "1", "b": "2"}, {"a": "1"}):
        path = core(space, "configmaps/c?fieldManager=one")
        answer = target.call("PATCH", path, config_map("c", **data), kind=APPLY)
    return answer.json["data"] == {"a": "1"}


def _fields_are_owned(target: Target, space: str) -> bool:
    """Whether managedFields name fields."""
    made = target.call("POST", core(space, "configmaps"), config_map("c", a="1")).json
    return bool(made["metadata"]["managedFields"][0]["fieldsV1"])


def _answers_in_protobuf(target: Target, space: str) -> bool:
    """Whether protobuf is sent where it is asked for."""
    answer = target.call("GET", core(space, "pods"), accept=f"application/vnd.kubernetes.protobuf,{JSON}")
    return "protobuf" in (answer.headers["Content-Type"] or "")


def _pods_can_be_entered(target: Target, space: str) -> bool:
    """Whether pods have exec, attach and portforward."""
    found = {item["name"] for item in target.call("GET", "/api/v1").json["resources"]}
    return {"pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers"} <= found


def _has_other_kinds(target: Target, space: str) -> bool:
    """Whether kinds that nothing here uses are served."""
    return target.call("GET", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies").status == 200


def _serves_newer_events(target: Target, space: str) -> bool:
    """Whether events.k8s.io is served beside the core group's events."""
    return target.call("GET", f"/apis/events.k8s.io/v1/namespaces/{space}/events").status == 200


def _explains_built_in_fields(target: Target, space: str) -> bool:
    """Whether OpenAPI describes built-in kinds in words."""
    document = target.call("GET", "/openapi/v3/api/v1").json
    return "description" in document["components"]["schemas"]["io.k8s.api.core.v1.Pod"]


def _shows_what_changed(target: Target, space: str) -> bool:
    """Whether the refusal of a claim's change shows the difference."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    body = {"metadata": {"name": "c"}, "spec": {**spec, "storageClassName": "none"}}
    made = target.call("POST", core(space, "persistentvolumeclaims"), body).json
    made["spec"]["accessModes"] = ["ReadWriteMany"]
    answer = target.call("PUT", core(space, "persistentvolumeclaims/c"), made)
    return "@@" in answer.json["message"]


def _evictions_heed_budgets(target: Target, space: str) -> bool:
    """Whether an eviction that breaks a disruption budget is refused."""
    pod = deployment()["spec"]["template"]
    pod["metadata"]["name"] = "p"
    target.call("POST", core(space, "pods"), pod)
    path = f"/apis/policy/v1/namespaces/{space}/poddisruptionbudgets"
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}}
    target.call("POST", path, budget)
    ready = core(space, "pods?fieldSelector=status.phase%3DRunning")
    eventually(lambda: len(target.call("GET", ready).json["items"]) == 1, seconds=90)
    if not target.is_embedded:
        eventually(lambda: target.call("GET", f"{path}/b").json["status"]["currentHealthy"] == 1, seconds=90)
    answer = target.call("POST", core(space, "pods/p/eviction"), {"metadata": {"name": "p"}})
    return answer.status == 429


def _checks_access(target: Target, space: str) -> bool:
    """Whether an impersonated account without rights is refused."""
    user = f"system:serviceaccount:{space}:default"
    review = {"spec": {"user": user, "resourceAttributes": {"verb": "delete", "resource": "nodes"}}}
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
    answer = target.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {**kind, **review})
    return not answer.json["status"]["allowed"]


def _checks_scale_paths(target: Target, space: str) -> bool:
    """Whether Deployment is checked for what no one here runs into, such as a negative minReadySeconds."""
    body = deployment(replicas=0)
    body["spec"]["minReadySeconds"] = -1
    return target.call("POST", apps(space, "deployments?dryRun=All"), body).status == 422


def _mounts_tokens(target: Target, space: str) -> bool:
    """Whether a Pod gets a volume with its service account's token."""
    pod = deployment()["spec"]["template"]
    pod["metadata"]["name"] = "p"
    made = target.call("POST", core(space, "pods?dryRun=All"), pod).json
    return bool(made["spec"].get("volumes"))


# name of the difference in docs/embedded-cluster.md -> what the real cluster does and the embedded one does not
DIFFERENCES: dict[str, Callable[[Target, str], bool]] = {
    "apply-conflicts": _apply_conflicts,
    "apply-removal": _apply_removes,
    "managed-fields": _fields_are_owned,
    "protobuf-answers": _answers_in_protobuf,
    "exec": _pods_can_be_entered,
    "kinds": _has_other_kinds,
    "events-group": _serves_newer_events,
    "descriptions": _explains_built_in_fields,
    "diffs-in-refusals": _shows_what_changed,
    "eviction-budgets": _evictions_heed_budgets,
    "access": _checks_access,
    "token-volumes": _mounts_tokens,
    "validation": _checks_scale_paths,
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_the_real_cluster_does_what_the_embedded_one_leaves_out(target: Target, space: str, name: str) -> None:
    assert DIFFERENCES[name](target, space) is not target.is_embedded


def test_the_docs_list_these_differences_and_no_others() -> None:
    text = (ROOT / "docs" / "embedded-cluster.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- `([a-z-]+)`:", text.partition("## Known differences")[2], re.MULTILINE)
    assert listed == list(DIFFERENCES)


__all__ += [name for name in dir() if name.startswith("test_")]
