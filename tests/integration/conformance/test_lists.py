"""Lists, selectors, pages, tables and watches."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conformance.target import (
    MERGE,
    METADATA_LIST,
    TABLE,
    Target,
    apps,
    config_map,
    core,
    deployment,
    service,
    space,
    target,
)

__all__ = ["space", "target"]

LABELS = {"one": {"app": "shop", "tier": "web"}, "two": {"app": "shop", "tier": "db"}, "three": {"app": "blog"}}
SELECTORS = [
    ("equal", "app=shop", {"one", "two"}),
    ("double-equal", "app==shop", {"one", "two"}),
    ("not-equal", "app!=shop", {"three"}),
    ("not-equal-absent", "tier!=web", {"two", "three"}),
    ("in", "tier in (web,db)", {"one", "two"}),
    ("notin", "tier notin (web)", {"two", "three"}),
    ("exists", "tier", {"one", "two"}),
    ("absent", "!tier", {"three"}),
    ("both", "app=shop,tier in (db, cache)", {"two"}),
    ("none", "app=none", set()),
]


def _labelled(target: Target, space: str) -> None:
    for name, labels in LABELS.items():
        body = config_map(name)
        body["metadata"]["labels"] = {**labels, "mine": "yes"}
        target.call("POST", core(space, "configmaps"), body)


def _names(answer: Any) -> set[str]:
    return {item["metadata"]["name"] for item in answer.json["items"]}


def _query(text: str) -> str:
    return text.replace(" ", "%20").replace("=", "%3D").replace("!", "%21").replace(",", "%2C")


def test_a_list_is_selected_by_labels(target: Target, space: str) -> None:
    _labelled(target, space)
    for name, selector, expected in SELECTORS:
        found = _names(target.call("GET", core(space, f"configmaps?labelSelector={_query(selector + ',mine')}")))
        assert found == expected, name


FIELDS = [
    ("name", "metadata.name=one", {"one"}),
    ("not-name", "metadata.name!=one", {"two", "three"}),
    ("namespace", "metadata.namespace=other", set()),
]


@pytest.mark.parametrize(("selector", "expected"), [row[1:] for row in FIELDS], ids=[row[0] for row in FIELDS])
def test_a_list_is_selected_by_fields(target: Target, space: str, selector: str, expected: set[str]) -> None:
    _labelled(target, space)
    found = target.call("GET", core(space, f"configmaps?labelSelector=mine&fieldSelector={_query(selector)}"))
    assert _names(found) == expected


def test_a_list_says_what_it_is_and_its_items_do_not(target: Target, space: str) -> None:
    _labelled(target, space)
    found = target.call("GET", core(space, "configmaps?labelSelector=mine")).json
    assert (found["kind"], found["apiVersion"]) == ("ConfigMapList", "v1")
    assert found["metadata"]["resourceVersion"].isdigit()
    assert [item["metadata"]["name"] for item in found["items"]] == ["one", "three", "two"]
    assert "kind" not in found["items"][0]


def test_a_list_comes_in_pages(target: Target, space: str) -> None:
    _labelled(target, space)
    first = target.call("GET", core(space, "configmaps?labelSelector=mine&limit=2")).json
    assert [item["metadata"]["name"] for item in first["items"]] == ["one", "three"]
    token = first["metadata"]["continue"]
    rest = target.call("GET", core(space, f"configmaps?labelSelector=mine&limit=2&continue={token}")).json
    assert [item["metadata"]["name"] for item in rest["items"]] == ["two"]
    assert "continue" not in rest["metadata"]
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    whole = target.call("GET", core(space, "configmaps?limit=1")).json
    assert whole["metadata"]["remainingItemCount"] == 3


def test_a_list_over_all_namespaces_has_every_one(target: Target, space: str) -> None:
    _labelled(target, space)
    found = target.call("GET", "/api/v1/configmaps?labelSelector=mine").json
    mine = [item for item in found["items"] if item["metadata"]["namespace"] == space]
    assert len(mine) == 3


def test_a_list_can_be_metadata_alone(target: Target, space: str) -> None:
    _labelled(target, space)
    found = target.call("GET", core(space, "configmaps?labelSelector=mine"), accept=METADATA_LIST).json
    assert found["kind"] == "PartialObjectMetadataList"
    assert "data" not in found["items"][0]


def test_a_collection_is_deleted_by_its_selector(target: Target, space: str) -> None:
    _labelled(target, space)
    answer = target.call("DELETE", core(space, "configmaps?labelSelector=app%3Dshop"))
    assert answer.status == 200
    assert _names(target.call("GET", core(space, "configmaps?labelSelector=mine"))) == {"three"}


COLUMNS = [
    ("pods", "/api/v1/pods", "Name Ready Status Restarts Age IP* Node* Nominated_Node* Readiness_Gates*"),
    ("services", "/api/v1/services", "Name Type Cluster-IP External-IP Port(s) Age Selector*"),
    ("endpoints", "/api/v1/endpoints", "Name Endpoints Age"),
    ("configmaps", "/api/v1/configmaps", "Name Data Age"),
    ("secrets", "/api/v1/secrets", "Name Type Data Age"),
    ("serviceaccounts", "/api/v1/serviceaccounts", "Name Age"),
    ("namespaces", "/api/v1/namespaces", "Name Status Age"),
    ("resourcequotas", "/api/v1/resourcequotas", "Name Request Limit Age"),
    ("limitranges", "/api/v1/limitranges", "Name Created_At"),
    (
        "nodes",
        "/api/v1/nodes",
        "Name Status Roles Age Version Internal-IP* External-IP* OS-Image* Kernel-Version* Container-Runtime*",
    ),
    (
        "persistentvolumes",
        "/api/v1/persistentvolumes",
        "Name Capacity Access_Modes Reclaim_Policy Status Claim StorageClass VolumeAttributesClass Reason Age "
        "VolumeMode*",
    ),
    (
        "persistentvolumeclaims",
        "/api/v1/persistentvolumeclaims",
        "Name Status Volume Capacity Access_Modes StorageClass VolumeAttributesClass Age VolumeMode*",
    ),
    (
        "events",
        "/api/v1/events",
        "Last_Seen Type Reason Object Subobject* Source* Message First_Seen* Count* Name*",
    ),
    (
        "deployments",
        "/apis/apps/v1/deployments",
        "Name Ready Up-to-date Available Age Containers* Images* Selector*",
    ),
    ("replicasets", "/apis/apps/v1/replicasets", "Name Desired Current Ready Age Containers* Images* Selector*"),
    ("statefulsets", "/apis/apps/v1/statefulsets", "Name Ready Age Containers* Images*"),
    (
        "daemonsets",
        "/apis/apps/v1/daemonsets",
        "Name Desired Current Ready Up-to-date Available Node_Selector Age Containers* Images* Selector*",
    ),
    ("controllerrevisions", "/apis/apps/v1/controllerrevisions", "Name Controller Revision Age"),
    ("jobs", "/apis/batch/v1/jobs", "Name Status Completions Duration Age Containers* Images* Selector*"),
    (
        "cronjobs",
        "/apis/batch/v1/cronjobs",
        "Name Schedule Timezone Suspend Active Last_Schedule Age Containers* Images* Selector*",
    ),
    (
        "horizontalpodautoscalers",
        "/apis/autoscaling/v2/horizontalpodautoscalers",
        "Name Reference Targets MinPods MaxPods Replicas Age",
    ),
    ("ingresses", "/apis/networking.k8s.io/v1/ingresses", "Name Class Hosts Address Ports Age"),
    ("networkpolicies", "/apis/networking.k8s.io/v1/networkpolicies", "Name Pod-Selector Age"),
    (
        "poddisruptionbudgets",
        "/apis/policy/v1/poddisruptionbudgets",
        "Name Min_Available Max_Unavailable Allowed_Disruptions Age",
    ),
    ("endpointslices", "/apis/discovery.k8s.io/v1/endpointslices", "Name AddressType Ports Endpoints Age"),
    ("leases", "/apis/coordination.k8s.io/v1/leases", "Name Holder Age"),
    ("roles", "/apis/rbac.authorization.k8s.io/v1/roles", "Name Created_At"),
    (
        "rolebindings",
        "/apis/rbac.authorization.k8s.io/v1/rolebindings",
        "Name Role Age Users* Groups* ServiceAccounts*",
    ),
    (
        "storageclasses",
        "/apis/storage.k8s.io/v1/storageclasses",
        "Name Provisioner ReclaimPolicy VolumeBindingMode AllowVolumeExpansion Age",
    ),
    (
        "priorityclasses",
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        "Name Value Global-Default Age PreemptionPolicy",
    ),
]


@pytest.mark.parametrize(("path", "columns"), [row[1:] for row in COLUMNS], ids=[row[0] for row in COLUMNS])
def test_a_table_has_the_real_servers_columns(target: Target, path: str, columns: str) -> None:
    table = target.call("GET", f"{path}?limit=1", accept=TABLE).json
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    shown = [
        column["name"].replace(" ", "_") + ("*" if column["priority"] else "")
        for column in table["columnDefinitions"]
    ]
    assert " ".join(shown) == columns


def test_the_rows_of_a_table_carry_what_is_asked_for(target: Target, space: str) -> None:
    target.call("POST", core(space, "services"), service())
    path = core(space, "services?x=1")
    (row,) = target.call("GET", path, accept=TABLE).json["rows"]
    assert row["cells"][:2] == ["web", "ClusterIP"]
    assert row["cells"][3:5] == ["<none>", "80/TCP"]
    assert row["cells"][6] == "app=web"
    assert row["object"]["kind"] == "PartialObjectMetadata"
    (whole,) = target.call("GET", f"{path}&includeObject=Object", accept=TABLE).json["rows"]
    assert whole["object"]["spec"]["selector"] == {"app": "web"}
    (none,) = target.call("GET", f"{path}&includeObject=None", accept=TABLE).json["rows"]
    assert not none.get("object")


def test_the_row_of_a_deployment_counts_its_pods(target: Target, space: str) -> None:
    body = deployment(replicas=2)
    body["spec"]["paused"] = True
    target.call("POST", apps(space, "deployments"), body)
    (row,) = target.call("GET", apps(space, "deployments"), accept=TABLE).json["rows"]
    assert row["cells"][0] == "web"
    assert row["cells"][1].endswith("/2")
    assert row["cells"][5:] == ["web", "shop.local/app:1.4.2", "app=web"]


def _types(events: list[Any], name: str) -> list[str]:
    return [event["type"] for event in events if event["object"]["metadata"].get("name") == name]


def test_a_watch_resumes_from_a_version_and_sees_every_change(target: Target, space: str) -> None:
    since = target.call("GET", core(space, "configmaps")).json["metadata"]["resourceVersion"]
    target.call("POST", core(space, "configmaps"), config_map("w", a="1"))
    target.call("PATCH", core(space, "configmaps/w"), {"data": {"a": "2"}}, kind=MERGE)
    target.call("DELETE", core(space, "configmaps/w"))
    events = target.watch(
        core(space, f"configmaps?resourceVersion={since}"), until=lambda e: len(_types(e, "w")) == 3
    )
    assert _types(events, "w") == ["ADDED", "MODIFIED", "DELETED"]
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert versions == sorted(versions)
    assert events[0]["object"]["kind"] == "ConfigMap"


def test_a_watch_resumes_in_the_middle(target: Target, space: str) -> None:
    made = target.call("POST", core(space, "configmaps"), config_map("w", a="1")).json
    since = made["metadata"]["resourceVersion"]
    target.call("PATCH", core(space, "configmaps/w"), {"data": {"a": "2"}}, kind=MERGE)
    events = target.watch(
        core(space, f"configmaps?resourceVersion={since}"), until=lambda e: len(_types(e, "w")) == 1
    )
    assert _types(events, "w") == ["MODIFIED"]
    assert events[-1]["object"]["data"] == {"a": "2"}


def test_a_watch_without_a_version_starts_with_what_is_there(target: Target, space: str) -> None:
    target.call("POST", core(space, "configmaps"), config_map("w"))
    events = target.watch(core(space, "configmaps?resourceVersion=0"), until=lambda e: len(_types(e, "w")) == 1)
    assert _types(events, "w") == ["ADDED"]


def test_a_watch_from_a_forgotten_version_is_told_so(target: Target, space: str) -> None:
    (event,) = target.watch(core(space, "configmaps?resourceVersion=1"), until=lambda e: len(e) == 1)
    assert event["type"] == "ERROR"
    assert event["object"]["code"] == 410
    assert event["object"]["reason"] == "Expired"
    assert event["object"]["message"].startswith("too old resource version: 1 (")


def test_a_watch_with_a_selector_sees_objects_enter_and_leave(target: Target, space: str) -> None:
    since = target.call("GET", core(space, "configmaps")).json["metadata"]["resourceVersion"]
    target.call("POST", core(space, "configmaps"), config_map("w"))
    for value in ("in", "in", "out"):
        patch = {"metadata": {"labels": {"state": value}, "annotations": {"a": value}}}
        target.call("PATCH", core(space, "configmaps/w"), patch, kind=MERGE)
    query = f"configmaps?resourceVersion={since}&labelSelector=state%3Din"
    events = target.watch(core(space, query), until=lambda e: len(e) == 2)
    assert [event["type"] for event in events] == ["ADDED", "DELETED"]


def test_a_watch_of_one_name_sees_it_alone(target: Target, space: str) -> None:
    since = target.call("GET", core(space, "configmaps")).json["metadata"]["resourceVersion"]
    for name in ("a", "b"):
        target.call("POST", core(space, "configmaps"), config_map(name))
    query = f"configmaps?resourceVersion={since}&fieldSelector=metadata.name%3Db"
    events = target.watch(core(space, query), until=lambda e: len(e) == 1)
    assert _types(events, "b") == ["ADDED"]
    assert _types(events, "a") == []


def test_a_watch_that_sends_initial_events_ends_them_with_a_bookmark(target: Target, space: str) -> None:
    target.call("POST", core(space, "configmaps"), config_map("w"))
    query = "configmaps?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    events = target.watch(core(space, query), until=lambda e: bool(e) and e[-1]["type"] == "BOOKMARK")
    assert _types(events, "w") == ["ADDED"]
    assert events[-1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert events[-1]["object"]["kind"] == "ConfigMap"


def test_a_watch_ends_when_its_time_is_over(target: Target, space: str) -> None:
    since = target.call("GET", core(space, "secrets")).json["metadata"]["resourceVersion"]
    events = target.watch(core(space, f"secrets?resourceVersion={since}"), until=lambda e: False, seconds=1)
    assert [event for event in events if event["type"] != "BOOKMARK"] == []


def test_discovery_names_the_kinds(target: Target) -> None:
    core_kinds = target.call("GET", "/api/v1").json
    assert core_kinds["kind"] == "APIResourceList"
    pods = next(item for item in core_kinds["resources"] if item["name"] == "pods")
    assert pods["kind"] == "Pod"
    assert pods["shortNames"] == ["po"]
    assert pods["categories"] == ["all"]
    assert " ".join(sorted(pods["verbs"])) == "create delete deletecollection get list patch update watch"
    names = {item["name"] for item in core_kinds["resources"]}
    assert {"pods/log", "pods/status", "services/proxy", "namespaces/finalize"} <= names
    groups = target.call("GET", "/apis").json
    assert groups["kind"] == "APIGroupList"
    found = {group["name"]: group["preferredVersion"]["groupVersion"] for group in groups["groups"]}
    assert found["apps"] == "apps/v1"
    assert found["batch"] == "batch/v1"
    assert target.call("GET", "/api").json["versions"] == ["v1"]
    assert target.call("GET", "/version").json["gitVersion"].startswith("v1.")


def test_discovery_comes_in_one_answer_too(target: Target) -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    answer = target.call("GET", "/apis", accept=accept)
    assert answer.headers["Content-Type"] == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    apps_group = next(item for item in answer.json["items"] if item["metadata"]["name"] == "apps")
    found = {item["resource"]: item for item in apps_group["versions"][0]["resources"]}
    assert found["deployments"]["responseKind"]["kind"] == "Deployment"
    assert found["deployments"]["scope"] == "Namespaced"
    assert {sub["subresource"] for sub in found["deployments"]["subresources"]} == {"status", "scale"}


def test_endpoints_are_said_to_be_deprecated(target: Target, space: str) -> None:
    answer = target.call("GET", core(space, "endpoints"))
    why = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
    assert answer.headers["Warning"] == f'299 - "{why}"'


def test_an_autoscaler_looks_at_cpu_where_nothing_is_said(target: Target, space: str) -> None:
    path = f"/apis/autoscaling/v2/namespaces/{space}/horizontalpodautoscalers"
    scaled = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    body = {"metadata": {"name": "web"}, "spec": {"maxReplicas": 3, "scaleTargetRef": scaled}}
    spec = target.call("POST", path, body).json["spec"]
    assert spec["minReplicas"] == 1
    target_of_cpu = {"type": "Utilization", "averageUtilization": 80}
    assert spec["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": target_of_cpu}}]
    (row,) = target.call("GET", path, accept=TABLE).json["rows"]
    assert row["cells"][1:6] == ["Deployment/web", "cpu: <unknown>/80%", "1", 3, 0]


def test_health_is_told(target: Target) -> None:
    for path in ("/healthz", "/livez", "/readyz"):
        assert target.call("GET", path).text == "ok"


def test_a_path_of_nothing_is_not_found(target: Target) -> None:
    answer = target.call("GET", "/nope")
    assert answer.status == 404
    assert answer.text == "404 page not found\n"


__all__ += [name for name in dir() if name.startswith("test_")]
