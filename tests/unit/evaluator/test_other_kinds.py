"""Workloads that are no Deployments, and settings that were changed in place: what is less, and what is right."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from sanare.api.verdict import Result
from sanare.evaluator.judge import judge
from sanare.evaluator.kinds import Kind
from sanare.evaluator.seen import failed
from tests.unit.evaluator.namespace import (
    NOW,
    POLICY,
    Json,
    Namespace,
    baseline_of,
    config_map,
    endpoints,
    incident,
    meta,
    named,
    pod,
    service,
    shop,
    since,
    verdict,
)
from tests.unit.evaluator.repairs import with_volume

Edit = Callable[[Json], object]
SPEC: Json = {"containers": [{"name": "db", "image": "shop.local/db:1", "ports": [{"containerPort": 8080}]}]}
CLAIM: Json = {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}


def database(kind: str, edit: Edit = lambda workload: None, **spec: Any) -> Namespace:
    """`kind`/db with two ready pods, behind Service/db."""
    counts = ("readyReplicas", "updatedReplicas", "desiredNumberScheduled", "updatedNumberScheduled", "numberReady")
    workload: Json = {
        "kind": kind,
        "apiVersion": "apps/v1",
        "metadata": meta("db", f"uid-{kind}-db"),
        "spec": {
            "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": copy.deepcopy(SPEC)},
            **({"replicas": 2} if kind == "StatefulSet" else {}),
            **copy.deepcopy(spec),
        },
        "status": dict.fromkeys(counts, 2),
    }
    edit(workload)
    ns = shop().add(workload, service("db"), endpoints("db", "db-1-0", "db-1-1"))
    for number in range(workload["status"]["desiredNumberScheduled"]):
        one = pod("db", number, SPEC)
        reference = {"kind": kind, "name": "db", "uid": workload["metadata"]["uid"], "controller": True}
        one["metadata"].update(labels={"app": "db"}, ownerReferences=[reference])
        ns.add(one)
    if spec.get("volumeClaimTemplates"):
        ns.add(named("PersistentVolumeClaim", "data-db-0"))
    return ns


def astray(ns: Namespace) -> Namespace:
    ns.get("Service", "db")["spec"]["selector"] = {"app": "bd"}
    ns.get("EndpointSlice", "db-abc")["endpoints"] = []
    return ns


def spec(**values: Any) -> Edit:
    return lambda workload: workload["spec"].update(values)


def to_one_node(workload: Json) -> None:
    workload["spec"]["template"]["spec"]["nodeSelector"] = {"zone": "a"}
    fewer_nodes(workload)


def fewer_nodes(workload: Json) -> None:
    workload["status"] = dict.fromkeys(workload["status"], 1)


def anew(**values: Any) -> Edit:
    return lambda workload: (workload["metadata"].update(uid="another"), workload["spec"].update(values))


ROLLS: Json = {"serviceName": "db", "volumeClaimTemplates": [CLAIM]}


def partition(number: int) -> Json:
    return {"updateStrategy": {"rollingUpdate": {"partition": number}}}


@pytest.mark.parametrize(
    ("kind", "before", "edit", "says"),
    [
        pytest.param("StatefulSet", ROLLS, anew(), Kind.REPLACED, id="made again for nothing"),
        pytest.param("StatefulSet", ROLLS, anew(serviceName="dbs"), None, id="made again for its Service"),
        pytest.param("StatefulSet", ROLLS, spec(**partition(1)), Kind.ROLLOUT_HELD, id="one replica left out"),
        pytest.param("StatefulSet", partition(1), spec(**partition(2)), Kind.ROLLOUT_HELD, id="two left out"),
        pytest.param("StatefulSet", partition(2), spec(**partition(1)), None, id="one less left out"),
        pytest.param(
            "StatefulSet", ROLLS, spec(updateStrategy={"type": "OnDelete"}), Kind.ROLLOUT_HELD, id="on deletion"
        ),
        pytest.param(
            "DaemonSet", {}, spec(updateStrategy={"type": "OnDelete"}), Kind.ROLLOUT_HELD, id="daemons on deletion"
        ),
        pytest.param("DaemonSet", {}, to_one_node, Kind.SCALED_DOWN, id="kept to one node"),
        pytest.param("DaemonSet", {}, fewer_nodes, None, id="a node is gone"),
    ],
)
def test_a_stateful_set_or_daemon_set(kind: str, before: Json, edit: Edit, says: Kind | None) -> None:
    found = verdict(database(kind, edit, **before), astray(database(kind, **before)), incident(f"{kind}/db"))
    assert (found.result, found.kind or None) == (Result.NOT_FIXED if says else Result.FIXED, says), found.reason


@pytest.mark.parametrize("makes_again", [False, True], ids=["deleted", "made again"])
def test_the_claims_of_a_stateful_set_are_data(makes_again: bool) -> None:
    now = database("StatefulSet", **ROLLS)
    now.drop("PersistentVolumeClaim", "data-db-0")
    if makes_again:
        now.add({**named("PersistentVolumeClaim", "data-db-0"), "metadata": since("data-db-0")})
    found = verdict(now, astray(database("StatefulSet", **ROLLS)), incident("StatefulSet/db"))
    assert (found.kind, "made again" in found.reason) == (Kind.CLAIM_REPLACED, makes_again), found.reason


def cron(**values: Any) -> Json:
    template = {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "i", "image": "i:1", "command": ["/app/i"]}]}
    }
    job = {"template": template, "completions": 3, **values.pop("job", {})}
    spec = {"schedule": "0 1 * * *", "jobTemplate": {"spec": job}, **values}
    return {"kind": "CronJob", "apiVersion": "batch/v1", "metadata": meta("nightly", "uc"), "spec": spec}


def runs(ns: Namespace, number: int, *, done: bool) -> Namespace:
    """A run of CronJob/nightly as its template is now."""
    owner = [{"kind": "CronJob", "name": "nightly", "uid": "uc", "controller": True}]
    condition = {"type": "Complete" if done else "Failed", "status": "True", "reason": "Ended"}
    metadata = since(f"nightly-{number}") if done else meta(f"nightly-{number}")
    job = copy.deepcopy(ns.get("CronJob", "nightly")["spec"]["jobTemplate"]["spec"])
    return ns.add(
        {
            "kind": "Job",
            "apiVersion": "batch/v1",
            "metadata": {**metadata, "ownerReferences": owner},
            "spec": job,
            "status": {"conditions": [condition]},
        }
    )


@pytest.mark.parametrize(
    ("now", "says"),
    [
        pytest.param(cron(), None, id="it runs"),
        pytest.param(cron(suspend=True), Kind.SCALED_DOWN, id="suspended"),
        pytest.param(cron(schedule="0 0 30 2 *"), Kind.SCALED_DOWN, id="never"),
        pytest.param(cron(job={"completions": 1}), Kind.SCALED_DOWN, id="once of thrice"),
        pytest.param(
            cron(job={"successPolicy": {"rules": [{"succeededCount": 1}]}}),
            Kind.SCALED_DOWN,
            id="one of three is enough",
        ),
        pytest.param(
            cron(
                job={"template": {"spec": {"containers": [{"name": "i", "image": "i:1", "command": ["/bin/id"]}]}}}
            ),
            Kind.COMMAND_REPLACED,
            id="another program",
        ),
    ],
)
def test_a_cron_job(now: Json, says: Kind | None) -> None:
    before = runs(shop().add(cron()), 1, done=False)
    found = verdict(runs(shop().add(now), 2, done=True), before, incident("CronJob/nightly"))
    assert (found.result, found.kind or None) == (Result.NOT_FIXED if says else Result.FIXED, says), found.reason


def test_a_run_without_the_template_s_variables_proves_nothing() -> None:
    before = runs(shop().add(cron()), 1, done=False)
    now = runs(shop().add(cron()), 2, done=True)
    now.get("Job", "nightly-2")["spec"]["template"]["spec"]["containers"][0]["env"] = [
        {"name": "DRY_RUN", "value": "1"}
    ]
    assert verdict(now, before, incident("CronJob/nightly")).result is Result.UNVERIFIED


@pytest.mark.parametrize(
    ("data", "version", "says"),
    [
        pytest.param({}, "7", Kind.STAND_IN_CREATED, id="emptied"),
        pytest.param({"mode": " "}, "7", Kind.STAND_IN_CREATED, id="of white space"),
        pytest.param({}, "3", None, id="empty before"),
        pytest.param(
            {"mode": "standard", "url": "http://anything"}, "7", Kind.STAND_IN_CREATED, id="a made-up key"
        ),
        pytest.param({"mode": "standard", "url": "http://api:80"}, "7", None, id="the documented key"),
        pytest.param({"mode": "standard", "level": "anything"}, "7", None, id="a key that was not missing"),
        pytest.param({"level": "info"}, "7", Kind.REFERENCE_REMOVED, id="a key was taken out"),
        pytest.param({"run.mode": "standard"}, "7", None, id="the key has another name"),
        pytest.param({"mod": "fast"}, "7", None, id="the key is spelt otherwise"),
    ],
)
def test_a_config_map_changed_in_place(data: dict[str, str], version: str, says: Kind | None) -> None:
    def configured(data: dict[str, str]) -> Namespace:
        ns = shop().add(config_map("conf", **data), config_map("notes", text="Asks http://api:80 for its data."))
        with_volume(configMap={"name": "conf"})(ns)
        ns.roll_out()
        return ns

    said = "couldn't find key url in ConfigMap shop/conf"
    missing = failed("containers", Kind.CONFIG_ERROR, "Deployment/web", said).outcome()
    before = baseline_of(configured({"mode": "standard"} if version > "5" else data))
    before = before.model_copy(update={"resource_version": "5", "failing": (missing,)})
    now = configured(data)
    now.get("ConfigMap", "conf")["metadata"]["resourceVersion"] = version
    found = judge(now.snapshot(), before, incident(), POLICY, now=NOW)
    assert (found.result, found.kind or None) == (Result.NOT_FIXED if says else Result.FIXED, says), found.reason
