"""Verbs, patches, conflicts, subresources and deletion of single objects."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conformance.target import (
    APPLY,
    JSON_PATCH,
    MERGE,
    METADATA,
    STRATEGIC,
    Target,
    apps,
    config_map,
    core,
    deployment,
    eventually,
    service,
    space,
    target,
)

__all__ = ["space", "target"]

_MOMENT = "2026-01-02T03:04:05Z"


def test_a_created_object_has_what_the_server_gives_it(target: Target, space: str) -> None:
    answer = target.call("POST", core(space, "configmaps"), config_map("a", k="v"))
    assert answer.status == 201
    made = answer.json
    assert made["kind"] == "ConfigMap"
    assert made["apiVersion"] == "v1"
    assert made["metadata"]["namespace"] == space
    assert len(made["metadata"]["uid"]) == 36
    assert made["metadata"]["resourceVersion"].isdigit()
    assert made["metadata"]["creationTimestamp"].endswith("Z")
    assert "generation" not in made["metadata"]
    assert made["metadata"]["managedFields"][0]["manager"] == "conformance"
    assert made["metadata"]["managedFields"][0]["operation"] == "Update"
    assert target.call("GET", core(space, "configmaps/a")).json == made


def test_a_generated_name_is_the_prefix_and_five_characters(target: Target, space: str) -> None:
    made = target.call("POST", core(space, "configmaps"), {"metadata": {"generateName": "gen-"}}).json
    assert made["metadata"]["name"].startswith("gen-")
    assert len(made["metadata"]["name"]) == len("gen-") + 5
    assert made["metadata"]["generateName"] == "gen-"


def test_a_dry_run_keeps_nothing(target: Target, space: str) -> None:
    answer = target.call("POST", core(space, "configmaps?dryRun=All"), config_map("dry"))
    assert answer.status == 201
    assert answer.json["metadata"]["uid"]
    assert target.call("GET", core(space, "configmaps/dry")).status == 404
    target.call("POST", core(space, "configmaps"), config_map("dry", a="1"))
    changed = target.call("PATCH", core(space, "configmaps/dry?dryRun=All"), {"data": {"a": "2"}}, kind=MERGE)
    assert changed.json["data"] == {"a": "2"}
    assert target.call("GET", core(space, "configmaps/dry")).json["data"] == {"a": "1"}
    assert target.call("DELETE", core(space, "configmaps/dry?dryRun=All")).status == 200
    assert target.call("GET", core(space, "configmaps/dry")).status == 200


def test_an_update_replaces_and_an_equal_one_changes_nothing(target: Target, space: str) -> None:
    made = target.call("POST", core(space, "configmaps"), config_map("u", a="1", b="2")).json
    made["data"] = {"a": "3"}
    updated = target.call("PUT", core(space, "configmaps/u"), made).json
    assert updated["data"] == {"a": "3"}
    assert updated["metadata"]["uid"] == made["metadata"]["uid"]
    assert int(updated["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
    again = target.call("PUT", core(space, "configmaps/u"), updated).json
    assert again["metadata"]["resourceVersion"] == updated["metadata"]["resourceVersion"]
    assert target.call("PUT", core(space, "configmaps/u"), made).status == 409


PATCHES: list[tuple[str, str, Any, dict[str, str] | None]] = [
    ("merge-adds", MERGE, {"data": {"c": "3"}}, {"a": "1", "b": "2", "c": "3"}),
    ("merge-removes", MERGE, {"data": {"a": None}}, {"b": "2"}),
    ("merge-drops", MERGE, {"data": None}, None),
    ("strategic-adds", STRATEGIC, {"data": {"c": "3"}}, {"a": "1", "b": "2", "c": "3"}),
    ("strategic-removes", STRATEGIC, {"data": {"a": None}}, {"b": "2"}),
    ("strategic-replaces", STRATEGIC, {"data": {"$patch": "replace", "z": "9"}}, {"z": "9"}),
    ("json-add", JSON_PATCH, [{"op": "add", "path": "/data/c", "value": "3"}], {"a": "1", "b": "2", "c": "3"}),
    ("json-replace", JSON_PATCH, [{"op": "replace", "path": "/data/a", "value": "9"}], {"a": "9", "b": "2"}),
    ("json-remove", JSON_PATCH, [{"op": "remove", "path": "/data/a"}], {"b": "2"}),
    ("json-move", JSON_PATCH, [{"op": "move", "from": "/data/a", "path": "/data/d"}], {"b": "2", "d": "1"}),
    (
        "json-copy",
        JSON_PATCH,
        [{"op": "copy", "from": "/data/a", "path": "/data/d"}],
        {"a": "1", "b": "2", "d": "1"},
    ),
    (
        "json-test",
        JSON_PATCH,
        [{"op": "test", "path": "/data/a", "value": "1"}, {"op": "remove", "path": "/data/b"}],
        {"a": "1"},
    ),
    ("json-escape", JSON_PATCH, [{"op": "add", "path": "/data/a~0b", "value": "1"}], None),
]


@pytest.mark.parametrize(("kind", "patch", "data"), [row[1:] for row in PATCHES], ids=[row[0] for row in PATCHES])
def test_a_patch_changes_what_it_says(
    target: Target, space: str, kind: str, patch: Any, data: dict[str, str] | None
) -> None:
    target.call("POST", core(space, "configmaps"), config_map("p", a="1", b="2"))
    answer = target.call("PATCH", core(space, "configmaps/p"), patch, kind=kind)
    if "~0" in str(patch):
        assert answer.failure[2].startswith('ConfigMap "p" is invalid: data[a~b]: Invalid value: "a~b"')
        return
    assert answer.status == 200
    assert answer.json.get("data") == data


def _containers(answer: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer.json["spec"]["template"]["spec"]["containers"]
    return found


def _strategic(target: Target, space: str, spec: Any) -> list[dict[str, Any]]:
    body = {"spec": {"template": {"spec": spec}}}
    answer = target.call("PATCH", apps(space, "deployments/web"), body, kind=STRATEGIC)
    assert answer.status == 200, answer.text
    return _containers(answer)


def test_a_strategic_patch_pairs_list_items_by_their_keys(target: Target, space: str) -> None:
    target.call("POST", apps(space, "deployments"), deployment(replicas=0))
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    (only,) = _strategic(target, space, {"containers": [{"name": "web", "env": env}]})
    assert only["env"] == env
    assert only["ports"] == [{"containerPort": 8080, "name": "http", "protocol": "TCP"}]
    (only,) = _strategic(target, space, {"containers": [{"name": "web", "env": [{"name": "B", "value": "3"}]}]})
    assert {item["name"]: item["value"] for item in only["env"]} == {"A": "1", "B": "3"}
    removal = {"containers": [{"name": "web", "env": [{"name": "A", "$patch": "delete"}]}]}
    (only,) = _strategic(target, space, removal)
    assert only["env"] == [{"name": "B", "value": "3"}]
    first, second = _strategic(target, space, {"containers": [{"name": "side", "image": "x"}]})
    assert (first["name"], second["name"]) == ("side", "web")
    order = [{"name": "web"}, {"name": "side"}]
    ordered = _strategic(target, space, {"$setElementOrder/containers": order, "containers": [{"name": "side"}]})
    assert [item["name"] for item in ordered] == ["web", "side"]
    (left,) = _strategic(target, space, {"containers": [{"name": "side", "$patch": "delete"}]})
    assert left["name"] == "web"


def test_a_strategic_patch_unites_primitive_lists_and_replaces_others(target: Target, space: str) -> None:
    target.call("POST", core(space, "configmaps"), config_map("f"))
    path = core(space, "configmaps/f")
    for name in ("a.dev/one", "a.dev/two"):
        answer = target.call("PATCH", path, {"metadata": {"finalizers": [name]}}, kind=STRATEGIC)
    assert answer.json["metadata"]["finalizers"] == ["a.dev/two", "a.dev/one"]
    removal = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.dev/one"]}}
    answer = target.call("PATCH", path, removal, kind=STRATEGIC)
    assert answer.json["metadata"]["finalizers"] == ["a.dev/two"]
    answer = target.call("PATCH", path, {"metadata": {"finalizers": None}}, kind=MERGE)
    assert "finalizers" not in answer.json["metadata"]


def test_a_strategic_patch_retains_the_keys_it_names(target: Target, space: str) -> None:
    target.call("POST", apps(space, "deployments"), deployment(replicas=0))
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    answer = target.call("PATCH", apps(space, "deployments/web"), patch, kind=STRATEGIC)
    assert answer.status == 200
    assert answer.json["spec"]["strategy"] == {"type": "Recreate"}


def test_unknown_fields_are_dropped_with_a_warning(target: Target, space: str) -> None:
    body = {"metadata": {"name": "w"}, "dat": {}, "data": {"a": "b"}}
    answer = target.call("POST", core(space, "configmaps?fieldValidation=Warn"), body)
    assert answer.status == 201
    assert answer.headers["Warning"] == '299 - "unknown field \\"dat\\""'
    assert "dat" not in answer.json
    quiet = target.call(
        "POST", core(space, "configmaps?fieldValidation=Ignore"), {**body, "metadata": {"name": "q"}}
    )
    assert quiet.status == 201
    assert quiet.headers["Warning"] is None
    patch = {"spec": {"foo": 1, "template": {"spec": {"containers": [{"name": "web", "bar": 1}]}}}}
    target.call("POST", apps(space, "deployments"), deployment(replicas=0))
    strict = target.call("PATCH", apps(space, "deployments/web?fieldValidation=Strict"), patch, kind=STRATEGIC)
    assert strict.status == 422
    assert strict.json["message"].endswith(
        'strict decoding error: unknown field "spec.foo", unknown field "spec.template.spec.containers[0].bar"'
    )


def test_a_bad_quantity_is_refused_while_decoding(target: Target, space: str) -> None:
    target.call("POST", apps(space, "deployments"), deployment(replicas=0))
    spec = {"containers": [{"name": "web", "resources": {"limits": {"memory": "64Q"}}}]}
    answer = target.call(
        "PATCH", apps(space, "deployments/web"), {"spec": {"template": {"spec": spec}}}, kind=STRATEGIC
    )
    assert answer.failure == (
        422,
        "Invalid",
        ' "" is invalid: patch: Invalid value: "map[spec:map[template:map[spec:map[containers:[map[name:web '
        'resources:map[limits:map[memory:64Q]]]]]]]]": quantities must match the regular expression '
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    )


def test_server_side_apply_creates_and_merges(target: Target, space: str) -> None:
    path = apps(space, "deployments/web?fieldManager=one")
    made = target.call("PATCH", path, deployment(replicas=0), kind=APPLY)
    assert made.status == 201
    assert made.json["metadata"]["managedFields"][0]["operation"] == "Apply"
    assert made.json["metadata"]["managedFields"][0]["manager"] == "one"
    more = deployment(replicas=0)
    more["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": "1"}]
    second = target.call("PATCH", apps(space, "deployments/web?fieldManager=two&force=true"), more, kind=APPLY)
    assert second.status == 200
    assert second.json["metadata"]["generation"] == 2
    assert _containers(second)[0]["env"] == [{"name": "A", "value": "1"}]
    assert _containers(second)[0]["ports"] == [{"containerPort": 8080, "name": "http", "protocol": "TCP"}]
    assert {entry["manager"] for entry in second.json["metadata"]["managedFields"]} >= {"one", "two"}


def test_the_generation_counts_changes_of_spec_alone(target: Target, space: str) -> None:
    made = target.call("POST", apps(space, "deployments"), deployment(replicas=0)).json
    assert made["metadata"]["generation"] == 1
    path = apps(space, "deployments/web")
    labelled = target.call("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, kind=MERGE).json
    assert labelled["metadata"]["generation"] == 1
    paused = target.call("PATCH", path, {"spec": {"paused": True}}, kind=MERGE).json
    assert paused["metadata"]["generation"] == 2


def test_the_status_subresource_writes_status_and_nothing_else(target: Target, space: str) -> None:
    assert target.call("POST", apps(space, "deployments"), deployment(replicas=0)).json["status"] == {}
    made = target.call("POST", core(space, "services"), {**service(), "status": {"conditions": []}}).json
    assert made["status"] == {"loadBalancer": {}}
    condition = {"type": "A", "status": "True", "reason": "B", "message": "", "lastTransitionTime": _MOMENT}
    body = {"spec": {"sessionAffinity": "ClientIP"}, "status": {"conditions": [condition]}}
    status = target.call("PATCH", core(space, "services/web/status"), body, kind=MERGE).json
    assert status["status"]["conditions"] == [condition]
    assert status["spec"]["sessionAffinity"] == "None"
    plain = target.call("PATCH", core(space, "services/web"), {"status": {"conditions": []}}, kind=MERGE).json
    assert plain["status"]["conditions"] == [condition]


def test_the_scale_subresource_reads_and_writes_replicas(target: Target, space: str) -> None:
    target.call("POST", apps(space, "deployments"), deployment(replicas=0))
    path = apps(space, "deployments/web/scale")
    scale = target.call("GET", path).json
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale["spec"] == {}
    assert scale["status"]["selector"] == "app=web"
    target.call("PATCH", apps(space, "deployments/web"), {"spec": {"paused": True}}, kind=MERGE)
    scaled = target.call("PATCH", path, {"spec": {"replicas": 1}}, kind=MERGE).json
    assert scaled["spec"] == {"replicas": 1}
    assert target.call("GET", apps(space, "deployments/web")).json["spec"]["replicas"] == 1
    stale = {"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 2}}
    assert target.call("PATCH", path, stale, kind=MERGE).failure[:2] == (409, "Conflict")
    negative = target.call("PATCH", path, {"spec": {"replicas": -1}}, kind=MERGE)
    why = "spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    assert negative.failure == (422, "Invalid", f'Scale.autoscaling "web" is invalid: {why}')
    back = target.call("PUT", path, {**scaled, "metadata": {"name": "web"}, "spec": {}}).json
    assert back["spec"] == {}


def test_defaults_of_a_deployment_are_the_servers(target: Target, space: str) -> None:
    spec = target.call("POST", apps(space, "deployments"), deployment(replicas=0)).json["spec"]
    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    assert spec["revisionHistoryLimit"] == 10
    assert spec["progressDeadlineSeconds"] == 600
    pod = spec["template"]["spec"]
    assert pod["restartPolicy"] == "Always"
    assert pod["dnsPolicy"] == "ClusterFirst"
    assert pod["schedulerName"] == "default-scheduler"
    assert pod["securityContext"] == {}
    container = pod["containers"][0]
    assert container["imagePullPolicy"] == "IfNotPresent"
    assert container["terminationMessagePath"] == "/dev/termination-log"
    assert container["terminationMessagePolicy"] == "File"
    assert container["resources"] == {}


def test_defaults_of_probes_are_the_servers(target: Target, space: str) -> None:
    body = deployment(replicas=0)
    body["spec"]["template"]["spec"]["containers"][0]["readinessProbe"] = {"httpGet": {"port": "http"}}
    made = target.call("POST", apps(space, "deployments"), body)
    assert _containers(made)[0]["readinessProbe"] == {
        "httpGet": {"path": "/", "port": "http", "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


def test_defaults_of_a_pod_are_the_servers(target: Target, space: str) -> None:
    body = deployment()["spec"]["template"]
    body["metadata"]["name"] = "p"
    limits = {"cpu": "100m", "memory": "64Mi"}
    body["spec"]["containers"][0]["resources"] = {"limits": limits}
    made = target.call("POST", core(space, "pods?dryRun=All"), body).json
    assert made["spec"]["priority"] == 0
    assert made["spec"]["preemptionPolicy"] == "PreemptLowerPriority"
    assert made["spec"]["enableServiceLinks"] is True
    assert made["spec"]["serviceAccountName"] == "default"
    assert made["spec"]["containers"][0]["resources"] == {"limits": limits, "requests": limits}
    assert made["status"]["phase"] == "Pending"
    assert made["status"]["qosClass"] == "Guaranteed"
    assert {item["key"] for item in made["spec"]["tolerations"]} == {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    }


def test_defaults_of_a_service_are_the_servers(target: Target, space: str) -> None:
    spec = target.call("POST", core(space, "services"), service(target="http")).json["spec"]
    assert spec["type"] == "ClusterIP"
    assert spec["sessionAffinity"] == "None"
    assert spec["internalTrafficPolicy"] == "Cluster"
    assert spec["ipFamilies"] == ["IPv4"]
    assert spec["ipFamilyPolicy"] == "SingleStack"
    assert spec["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": "http"}]
    assert spec["clusterIP"].startswith("10.")
    assert spec["clusterIPs"] == [spec["clusterIP"]]
    body = service("np")
    body["spec"]["type"] = "NodePort"
    node_port = target.call("POST", core(space, "services"), body).json["spec"]
    assert 30000 <= node_port["ports"][0]["nodePort"] < 32768
    assert node_port["externalTrafficPolicy"] == "Cluster"


def test_secrets_take_plain_text_and_keep_base64(target: Target, space: str) -> None:
    made = target.call("POST", core(space, "secrets"), {"metadata": {"name": "s"}, "stringData": {"a": "hi"}}).json
    assert made["data"] == {"a": "aGk="}
    assert made["type"] == "Opaque"
    assert "stringData" not in made


def test_an_immutable_config_map_keeps_its_data(target: Target, space: str) -> None:
    target.call("POST", core(space, "configmaps"), {**config_map("im", a="b"), "immutable": True})
    answer = target.call("PATCH", core(space, "configmaps/im"), {"data": {"a": "c"}}, kind=MERGE)
    why = "data: Forbidden: field is immutable when `immutable` is set"
    assert answer.failure == (422, "Invalid", f'ConfigMap "im" is invalid: {why}')


def test_a_claims_spec_cannot_change_before_it_is_bound(target: Target, space: str) -> None:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "none",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    made = target.call("POST", core(space, "persistentvolumeclaims"), {"metadata": {"name": "c"}, "spec": spec})
    assert made.status == 201
    assert made.json["spec"]["volumeMode"] == "Filesystem"
    assert made.json["status"] == {"phase": "Pending"}
    patch = {"spec": {"accessModes": ["ReadWriteMany"]}}
    status, reason, message = target.call(
        "PATCH", core(space, "persistentvolumeclaims/c"), patch, kind=MERGE
    ).failure
    assert (status, reason) == (422, "Invalid")
    assert message.startswith(
        'PersistentVolumeClaim "c" is invalid: spec: Forbidden: spec is immutable after creation except '
        "resources.requests and volumeAttributesClassName for bound claims"
    )


def test_a_deletion_is_answered_with_a_status(target: Target, space: str) -> None:
    made = target.call("POST", core(space, "configmaps"), config_map("d")).json
    answer = target.call("DELETE", core(space, "configmaps/d"))
    assert answer.status == 200
    assert answer.json == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "d", "kind": "configmaps", "uid": made["metadata"]["uid"]},
    }


def test_a_deletion_heeds_its_preconditions(target: Target, space: str) -> None:
    made = target.call("POST", core(space, "configmaps"), config_map("d")).json
    uid, version = made["metadata"]["uid"], made["metadata"]["resourceVersion"]
    path = core(space, "configmaps/d")
    other = target.call("DELETE", path, {"preconditions": {"uid": "zz"}})
    assert other.failure == (
        409,
        "Conflict",
        'Operation cannot be fulfilled on ConfigMap "d": the UID in the precondition (zz) does not match the UID '
        f"in record ({uid}). The object might have been deleted and then recreated",
    )
    stale = target.call("DELETE", path, {"preconditions": {"resourceVersion": "1"}})
    assert stale.failure == (
        409,
        "Conflict",
        'Operation cannot be fulfilled on ConfigMap "d": the ResourceVersion in the precondition (1) does not '
        f"match the ResourceVersion in record ({version}). The object might have been modified",
    )
    assert target.call("DELETE", path, {"preconditions": {"uid": uid}}).status == 200


def test_finalizers_hold_an_object_until_they_are_gone(target: Target, space: str) -> None:
    body = config_map("f")
    body["metadata"]["finalizers"] = ["sanare.dev/test"]
    target.call("POST", core(space, "configmaps"), body)
    path = core(space, "configmaps/f")
    marked = target.call("DELETE", path).json
    assert marked["kind"] == "ConfigMap"
    assert marked["metadata"]["deletionTimestamp"]
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 0
    assert target.call("GET", path).status == 200
    gone = target.call("PATCH", path, {"metadata": {"finalizers": None}}, kind=MERGE)
    assert gone.status == 200
    assert target.call("GET", path).status == 404


def test_dependents_go_with_their_owner(target: Target, space: str) -> None:
    owner = target.call("POST", core(space, "configmaps"), config_map("owner")).json
    body = config_map("child")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    body["metadata"]["ownerReferences"] = [reference]
    target.call("POST", core(space, "configmaps"), body)
    target.call("DELETE", core(space, "configmaps/owner"))
    eventually(lambda: target.call("GET", core(space, "configmaps/child")).status == 404)


def test_orphaned_dependents_stay(target: Target, space: str) -> None:
    target.call("POST", apps(space, "deployments"), deployment(replicas=0))
    eventually(lambda: len(target.call("GET", apps(space, "replicasets")).json["items"]) == 1)
    target.call("DELETE", apps(space, "deployments/web"), {"propagationPolicy": "Orphan"})
    eventually(lambda: target.call("GET", apps(space, "deployments/web")).status == 404)
    (left,) = target.call("GET", apps(space, "replicasets")).json["items"]
    assert "ownerReferences" not in left["metadata"]


def test_a_namespace_ends_with_all_that_is_in_it(target: Target, space: str) -> None:
    body = config_map("held")
    body["metadata"]["finalizers"] = ["sanare.dev/test"]
    target.call("POST", core(space, "configmaps"), body)
    answer = target.call("DELETE", f"/api/v1/namespaces/{space}")
    assert answer.json["status"]["phase"] == "Terminating"
    refused = target.call("POST", core(space, "configmaps"), config_map("late"))
    why = f"unable to create new content in namespace {space} because it is being terminated"
    assert refused.failure == (403, "Forbidden", f'configmaps "late" is forbidden: {why}')
    assert refused.json["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    target.call("PATCH", core(space, "configmaps/held"), {"metadata": {"finalizers": None}}, kind=MERGE)
    eventually(lambda: target.call("GET", f"/api/v1/namespaces/{space}").status == 404, seconds=120)


def test_nothing_is_created_in_a_namespace_that_is_not_there(target: Target) -> None:
    answer = target.call("POST", core("conf-none", "configmaps"), config_map("a"))
    assert answer.failure == (404, "NotFound", 'namespaces "conf-none" not found')


def test_metadata_alone_can_be_asked_for(target: Target, space: str) -> None:
    target.call("POST", core(space, "configmaps"), config_map("m", a="b"))
    found = target.call("GET", core(space, "configmaps/m"), accept=METADATA).json
    assert (found["kind"], found["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert "data" not in found
    assert found["metadata"]["name"] == "m"


def test_everyone_may_do_everything_here(target: Target) -> None:
    review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}}}
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    answer = target.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {**kind, **review})
    assert answer.status == 201
    assert answer.json["status"]["allowed"] is True


def test_a_lease_keeps_microseconds(target: Target, space: str) -> None:
    lease = {
        "metadata": {"name": "l"},
        "spec": {"holderIdentity": "me", "renewTime": "2026-01-02T03:04:05.678901Z"},
    }
    made = target.call("POST", f"/apis/coordination.k8s.io/v1/namespaces/{space}/leases", lease)
    assert made.status == 201
    assert made.json["spec"]["renewTime"] == "2026-01-02T03:04:05.678901Z"


def test_an_event_is_kept_and_found_by_its_object(target: Target, space: str) -> None:
    event = {
        "metadata": {"name": "e.1"},
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": space, "apiVersion": "v1"},
        "reason": "Tested",
        "message": "it was",
        "type": "Normal",
    }
    assert target.call("POST", core(space, "events"), event).status == 201
    found = target.call("GET", core(space, "events?fieldSelector=involvedObject.name%3Dp,reason%3DTested")).json
    assert [item["message"] for item in found["items"]] == ["it was"]
    none = target.call("GET", core(space, "events?fieldSelector=involvedObject.name%3Dq")).json
    assert none["items"] == []


__all__ += [name for name in dir() if name.startswith("test_")]
