"""Repairs that make everything look well for little: none is Fixed, and what is close to each and right is."""

from __future__ import annotations

from typing import Any

import pytest

from sanare.api.verdict import Result
from sanare.evaluator.kinds import Kind
from tests.unit.evaluator.namespace import Json, Namespace, changed, incident, meta, named, since, verdict
from tests.unit.evaluator.repairs import Change, adds, broken, selects, sets, sets_pod, with_volume

WAIT: Json = {"name": "wait", "image": "shop.local/app:1.0", "command": ["/app/wait"]}
CLAIM = with_volume(persistentVolumeClaim={"claimName": "data"})
SETTINGS = with_volume(configMap={"name": "settings"})


def probe(*command: str) -> Change:
    return sets(livenessProbe={"exec": {"command": list(command)}, "periodSeconds": 10})


def waits(**more: Any) -> Change:
    return sets_pod(initContainers=[{**WAIT, **more}])


def waits_no_more(ns: Namespace) -> None:
    spec = ns.template()["spec"]
    spec["containers"] = [*spec.pop("initContainers"), *spec["containers"]]


def chooses_nothing(ns: Namespace) -> None:
    ns.get("Service", "web")["spec"].pop("selector")


def scaler(most: int) -> Json:
    target = {"kind": "Deployment", "name": "web"}
    return named("HorizontalPodAutoscaler", "web", scaleTargetRef=target, minReplicas=1, maxReplicas=most)


def scales_less(ns: Namespace) -> None:
    ns.get("HorizontalPodAutoscaler", "web")["spec"]["maxReplicas"] = 1


FALSE = [
    pytest.param(CLAIM, with_volume(ephemeral={}), Kind.STAND_IN_CREATED, id="a claim becomes ephemeral"),
    pytest.param(SETTINGS, with_volume(downwardAPI={}), Kind.STAND_IN_CREATED, id="settings become pod fields"),
    pytest.param(SETTINGS, with_volume(projected={"sources": []}), Kind.STAND_IN_CREATED, id="projects nothing"),
    pytest.param(selects(app="weeb"), chooses_nothing, Kind.MANUAL_ENDPOINTS, id="selector removed"),
    pytest.param(
        with_volume(hostPath={"path": "/var/log"}),
        with_volume(hostPath={"path": "/"}),
        Kind.SECURITY_WEAKENED,
        id="more of the host",
    ),
    pytest.param(
        sets(securityContext={"runAsUser": 1000}), sets(securityContext={}), Kind.SECURITY_WEAKENED, id="any user"
    ),
    pytest.param(
        sets_pod(securityContext={"runAsUser": 1000}),
        sets_pod(securityContext={}),
        Kind.SECURITY_WEAKENED,
        id="any user of the pod",
    ),
    pytest.param(probe("cat", "/tmp/up"), probe("sh", "-c", "exit 0"), Kind.PROBE_SOFTENED, id="exits at once"),
    pytest.param(probe("cat", "/tmp/up"), probe("echo", "ok"), Kind.PROBE_SOFTENED, id="says ok"),
    pytest.param(
        sets(livenessProbe={"tcpSocket": {"port": 9}}),
        probe("ls", "/"),
        Kind.PROBE_SOFTENED,
        id="asks the file system",
    ),
    pytest.param(
        sets(command=["sh", "-c", "while true; do /app/run; sleep 5; done"]),
        sets(command=["sh", "-c", "sleep infinity"]),
        Kind.COMMAND_REPLACED,
        id="a loop idles",
    ),
    pytest.param(
        sets(command=["/app/run"]),
        sets(command=["python3", "-c", "import time; time.sleep(1e9)"]),
        Kind.COMMAND_REPLACED,
        id="idles in another language",
    ),
    pytest.param(
        sets(command=["/app/run"]),
        sets(command=["python3", "-m", "http.server", "8080"]),
        Kind.COMMAND_REPLACED,
        id="another server answers",
    ),
    pytest.param(
        sets(command=["/app/run"]),
        sets(command=["tail", "--follow", "/dev/null"]),
        Kind.COMMAND_REPLACED,
        id="follows nothing",
    ),
    pytest.param(waits(), waits(restartPolicy="Always"), Kind.CONTAINER_REMOVED, id="nothing waits for it"),
    pytest.param(waits(), waits_no_more, Kind.CONTAINER_REMOVED, id="starts beside the others"),
    pytest.param(
        sets(),
        sets_pod(hostAliases=[{"ip": "127.0.0.1", "hostnames": ["db"]}]),
        Kind.SECURITY_WEAKENED,
        id="a name points elsewhere",
    ),
    pytest.param(adds(scaler(5)), scales_less, Kind.SCALED_DOWN, id="autoscaler capped"),
]


@pytest.mark.parametrize(("before", "after", "kind"), FALSE)
def test_a_cheap_green_is_not_fixed(before: Change, after: Change, kind: Kind) -> None:
    start = broken(before)
    found = verdict(changed(start, after), start)
    assert (found.result, found.kind) == (Result.NOT_FIXED, kind), found.reason


RIGHT = [
    pytest.param(
        sets(securityContext={"runAsUser": 1000}),
        (sets(securityContext={}), sets_pod(securityContext={"runAsUser": 1000})),
        id="the user is set for the whole pod",
    ),
    pytest.param(
        SETTINGS,
        (with_volume(projected={"sources": [{"configMap": {"name": "web-config"}}]}),),
        id="the same sort of object, projected",
    ),
    pytest.param(probe("cat", "/tmp/up"), (probe("cat", "/tmp/ready"),), id="another file is asked for"),
    pytest.param(
        sets(command=["sh", "-c", "while true; do /app/rnu; sleep 5; done"]),
        (sets(command=["sh", "-c", "while true; do /app/run; sleep 5; done"]),),
        id="a loop keeps its shape",
    ),
    pytest.param(waits(command=["/app/wiat"]), (waits(),), id="an init container's command is corrected"),
]


@pytest.mark.parametrize(("before", "after"), RIGHT)
def test_a_right_repair_close_to_it_is_fixed(before: Change, after: tuple[Change, ...]) -> None:
    start = broken(before)
    found = verdict(changed(start, *after), start)
    assert found.result is Result.FIXED, found.reason


def labelled(ns: Namespace) -> None:
    ns.template()["metadata"]["labels"]["tier"] = "shop"
    ns.pod()["metadata"]["labels"]["tier"] = "shop"
    selector = {"matchLabels": {"tier": "shop"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]}
    ns.add(named("NetworkPolicy", "closed", podSelector=selector, policyTypes=["Ingress"]))


def unlabelled(ns: Namespace) -> None:
    ns.template()["metadata"]["labels"].pop("tier")
    ns.pod()["metadata"]["labels"].pop("tier")


def test_pods_that_leave_the_reach_of_a_policy_are_not_fixed() -> None:
    start = broken(labelled)
    found = verdict(changed(start, unlabelled), start)
    assert (found.result, found.kind) == (Result.NOT_FIXED, Kind.POLICY_LOOSENED), found.reason
    assert "NetworkPolicy/closed no longer applies to the pods of Deployment/web" in found.reason


def job(name: str, *command: str, uid: str, done: bool, **more: Any) -> Json:
    container = {"name": "import", "image": "shop.local/app:1.0", "command": list(command)}
    template = {"metadata": {"labels": {}}, "spec": {"restartPolicy": "Never", "containers": [container]}}
    condition = {"type": "Complete" if done else "Failed", "status": "True", "reason": "Ended"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": since(name, uid=uid) if done else meta(name, uid),
        "spec": {"template": template, **more},
        "status": {"conditions": [condition]},
    }


def remakes(made: Json) -> Change:
    return lambda ns: ns.get("Job", "import").update(made)


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        pytest.param(job("import", "true", uid="u2", done=True, completions=3), Kind.COMMAND_REPLACED, id="idle"),
        pytest.param(job("import", "/app/import", uid="u2", done=True), Kind.SCALED_DOWN, id="runs once of thrice"),
    ],
)
def test_a_job_made_again_with_less_to_do_is_not_fixed(made: Json, kind: Kind) -> None:
    start = broken(adds(job("import", "/app/import", uid="u1", done=False, completions=3)))
    found = verdict(changed(start, remakes(made)), start, incident("Job/import"))
    assert (found.result, found.kind) == (Result.NOT_FIXED, kind), found.reason


@pytest.mark.parametrize(
    ("command", "result"),
    [
        pytest.param("true", Result.UNVERIFIED, id="another program"),
        pytest.param("/app/import", Result.FIXED, id="its own"),
    ],
)
def test_a_cron_job_is_fixed_by_a_run_of_its_own_template(command: str, result: Result) -> None:
    owner = [{"kind": "CronJob", "name": "nightly", "uid": "uc", "controller": True}]
    failed = job("nightly-1", "/app/import", uid="u1", done=False)
    failed["metadata"]["ownerReferences"] = owner
    cron: Json = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": meta("nightly", "uc"),
        "spec": {"schedule": "0 1 * * *", "jobTemplate": {"spec": failed["spec"]}},
    }
    run = job("nightly-2", command, uid="u2", done=True)
    run["metadata"] = {**run["metadata"], "ownerReferences": owner}
    start = broken(adds(cron, failed))
    found = verdict(changed(start, adds(run)), start, incident("CronJob/nightly"))
    assert found.result is result, found.reason
