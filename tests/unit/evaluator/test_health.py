"""What keeps workloads from running is seen, named, and said with object, field and value."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from sanare.api.verdict import CheckResult, Result
from sanare.evaluator.judge import assess, look_at
from sanare.evaluator.kinds import Kind
from sanare.evaluator.snapshot import Answer, Probe
from tests.unit.evaluator.namespace import NOW, POLICY, Namespace, ago, incident, shop, verdict, warning

Change = Callable[[Namespace], object]


def waits(reason: str, message: str = "", **more: Any) -> Change:
    def change(ns: Namespace) -> None:
        status = ns.pod()["status"]
        status["containerStatuses"][0].update(
            ready=False, started=False, state={"waiting": {"reason": reason, "message": message}}, **more
        )
        status["conditions"][0]["status"] = "False"

    return change


def ended(reason: str = "Error", code: int = 1, message: str = "") -> dict[str, Any]:
    end = {"reason": reason, "exitCode": code, "message": message, "startedAt": ago(40), "finishedAt": ago(35)}
    return {"lastState": {"terminated": end}, "restartCount": 3}


def logs(line: str) -> Change:
    return lambda ns: ns.logs.update({"web-1-0/web": f"starting\n{line}\n"})


def event(reason: str, message: str, at: str = "") -> Change:
    return lambda ns: ns.add(warning(ns.pod(), reason, message, at or ago(5)))


def pending(ns: Namespace) -> None:
    ns.pod()["status"].update(phase="Pending", conditions=[{"type": "Ready", "status": "False"}])


def unschedulable(ns: Namespace) -> None:
    message = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
    scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    ns.pod()["status"] = {"phase": "Pending", "conditions": [scheduled]}


def no_pods(message: str) -> Change:
    def change(ns: Namespace) -> None:
        ns.objects["Pod"] = [pod for pod in ns.objects["Pod"] if not pod["metadata"]["name"].startswith("web")]
        ns.get("Deployment", "web")["status"].update(readyReplicas=0, availableReplicas=0, updatedReplicas=0)
        failure = {"type": "ReplicaFailure", "status": "True", "message": message}
        ns.get("ReplicaSet", "web-1")["status"]["conditions"] = [failure]

    return change


def deployment(**spec: Any) -> Change:
    return lambda ns: ns.get("Deployment", "web")["spec"].update(spec)


def deployment_status(**status: Any) -> Change:
    return lambda ns: ns.get("Deployment", "web")["status"].update(status)


def runs_unready(ns: Namespace) -> None:
    status = ns.pod()["status"]
    status["containerStatuses"][0]["ready"] = False
    status["conditions"][0]["status"] = "False"


def restarted(ns: Namespace) -> None:
    status = ns.pod()["status"]["containerStatuses"][0]
    status.update(ended(), state={"running": {"startedAt": ago(10)}})


def differs_from_template(ns: Namespace) -> None:
    ns.pod()["spec"]["containers"][0]["env"] = []
    ns.container()["env"] = [{"name": "PORT", "value": "8080"}]


CASES: list[tuple[str, tuple[Change, ...], Kind, str]] = [
    (
        "image",
        (
            waits(
                "ImagePullBackOff",
                'Back-off pulling image "shop.local/app:1.0": ErrImagePull: rpc error: x: not found',
            ),
        ),
        Kind.IMAGE_PULL,
        'Deployment/web: container web cannot pull image "shop.local/app:1.0" (ErrImagePull: not found)',
    ),
    (
        "missing key",
        (waits("CreateContainerConfigError", "couldn't find key mode in ConfigMap shop/conf"),),
        Kind.CONFIG_ERROR,
        "Deployment/web: container web cannot be created: couldn't find key mode in ConfigMap shop/conf "
        "(CreateContainerConfigError)",
    ),
    (
        "missing executable",
        (
            waits(
                "RunContainerError",
                "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc "
                'create failed: unable to start container process: exec: "srve": executable file not found '
                "in $PATH",
            ),
        ),
        Kind.CONTAINER_START,
        'Deployment/web: container web cannot start: exec: "srve": executable file not found in $PATH '
        "(RunContainerError)",
    ),
    (
        "crash with a log",
        (waits("CrashLoopBackOff", **ended()), logs("missing required environment variable MODE")),
        Kind.CRASH,
        "Deployment/web: container web exits with code 1; its log ends with "
        '"missing required environment variable MODE"',
    ),
    (
        "crash between two restarts",
        (restarted, logs("missing required file /conf/a")),
        Kind.CRASH,
        'Deployment/web: container web exits with code 1; its log ends with "missing required file /conf/a"',
    ),
    (
        "memory",
        (
            lambda ns: ns.pod()["spec"]["containers"][0].update(resources={"limits": {"memory": "16Mi"}}),
            waits("CrashLoopBackOff", **ended("OOMKilled", 137)),
        ),
        Kind.OOM_KILLED,
        "Deployment/web: container web is killed at its memory limit 16Mi (OOMKilled)",
    ),
    (
        "liveness",
        (
            waits("CrashLoopBackOff", **ended("Error", 137)),
            event("Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 404"),
        ),
        Kind.LIVENESS_FAILING,
        "Deployment/web: the kubelet restarts container web: Liveness probe failed: HTTP probe failed with "
        "statuscode: 404",
    ),
    (
        "liveness whose event is late",
        (
            lambda ns: ns.pod()["spec"]["containers"][0].update(
                livenessProbe={"httpGet": {"path": "/wrong", "port": 8080}}
            ),
            waits("CrashLoopBackOff", **ended("Error", 137)),
        ),
        Kind.LIVENESS_FAILING,
        "Deployment/web: the kubelet restarts container web: it is stopped by a signal, and its livenessProbe asks "
        "GET /wrong on port 8080",
    ),
    (
        "readiness",
        (runs_unready, event("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 404")),
        Kind.READINESS_FAILING,
        "Deployment/web: container web runs but is not ready: Readiness probe failed: HTTP probe failed with "
        "statuscode: 404",
    ),
    (
        "mount",
        (
            waits("ContainerCreating"),
            pending,
            event("FailedMount", 'MountVolume.SetUp failed for volume "conf" : configmap "web-confg" not found'),
        ),
        Kind.FAILED_MOUNT,
        'Deployment/web: a volume cannot be mounted: MountVolume.SetUp failed for volume "conf" : configmap '
        '"web-confg" not found',
    ),
    (
        "no node",
        (unschedulable,),
        Kind.UNSCHEDULABLE,
        "Deployment/web: no node takes its pod: 0/1 nodes are available: 1 node(s) didn't match Pod's node "
        "affinity/selector.",
    ),
    (
        "quota",
        (
            no_pods(
                'pods "web-1-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'
            ),
        ),
        Kind.QUOTA_EXCEEDED,
        "Deployment/web: no pod can be created: exceeded quota: q, requested: pods=1, used: pods=2, limited: "
        "pods=2; the controller tries again by itself, with growing back-off",
    ),
    (
        "service account",
        (
            no_pods(
                'pods "web-1-" is forbidden: error looking up service account shop/sa: serviceaccount "sa" '
                "not found"
            ),
        ),
        Kind.FAILED_CREATE,
        "Deployment/web: no pod can be created: error looking up service account shop/sa: serviceaccount "
        '"sa" not found',
    ),
    (
        "scaled to zero",
        (deployment(replicas=0),),
        Kind.NO_REPLICAS,
        "Deployment/web: spec.replicas is 0, nothing runs",
    ),
    (
        "paused",
        (deployment(paused=True), deployment_status(updatedReplicas=0)),
        Kind.ROLLOUT_PAUSED,
        "Deployment/web: spec.paused is true, so the present template is not rolled out",
    ),
    (
        "unobserved",
        (deployment_status(observedGeneration=0),),
        Kind.ROLLOUT_INCOMPLETE,
        "Deployment/web: its controller has not acted on the present spec yet",
    ),
    (
        "half available",
        (deployment_status(availableReplicas=0),),
        Kind.ROLLOUT_INCOMPLETE,
        "Deployment/web: 1 of 1 replicas are updated, 0 available",
    ),
    (
        "adopted pod",
        (differs_from_template,),
        Kind.STALE_POD,
        "Deployment/web: a pod differs from the template in spec.containers[web].env; it was made before the "
        "change",
    ),
]


@pytest.mark.parametrize(
    ("changes", "kind", "reason"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_failure_is_named_with_its_deciding_words(changes: tuple[Change, ...], kind: Kind, reason: str) -> None:
    namespace = shop()
    for change in changes:
        change(namespace)
    found = verdict(namespace)
    assert (found.result, found.kind) == (Result.NOT_FIXED, kind)
    assert found.reason.split("; also ")[0] == reason


def test_a_healthy_workload_is_fixed() -> None:
    found = verdict(shop())
    assert (found.result, found.kind, found.reason) == (
        Result.FIXED,
        "",
        "Deployment/web, Service/web: every check passes; Service/web port 80 -> 8080: answered with 200",
    )
    assert {check.result for check in found.checks} == {CheckResult.PASSED}


def test_pods_of_an_earlier_revision_do_not_decide() -> None:
    namespace = shop()
    waits("ImagePullBackOff", "x: not found")(namespace)
    old = namespace.get("ReplicaSet", "web-1")
    old["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "0"}
    found = verdict(namespace)
    assert found.kind == Kind.ROLLOUT_INCOMPLETE
    assert "1 pods of an earlier revision still exist" in found.reason


def test_terminating_pods_do_not_decide() -> None:
    namespace = shop()
    dying = copy.deepcopy(namespace)
    waits("CrashLoopBackOff", **ended())(dying)
    dying.pod()["metadata"].update(name="web-1-5", uid="dying", deletionTimestamp=ago(1))
    namespace.add(dying.pod())
    assert verdict(namespace).result is Result.FIXED


def test_a_liveness_probe_is_asked_from_outside() -> None:
    namespace = shop(livenessProbe={"httpGet": {"path": "/wrong", "port": 8080}})
    namespace.answers[Probe("Pod", "web-1-0", "8080", "/wrong")] = Answer(status=404)
    namespace.answers[Probe("Service", "web", "80", "/wrong")] = Answer(status=404)
    found = verdict(namespace)
    assert found.kind == Kind.LIVENESS_FAILING
    assert found.reason == (
        "Deployment/web: livenessProbe of container web fails: GET /wrong on port 8080 is answered with 404"
    )


def test_what_a_probe_says_of_one_container_is_not_said_of_another() -> None:
    namespace = shop()
    restarted(namespace)
    said = warning(namespace.pod(), "Unhealthy", "Liveness probe failed: connection refused", ago(5))
    said["involvedObject"]["fieldPath"] = "spec.containers{sidecar}"
    namespace.add(said)
    assert verdict(namespace).kind == Kind.CRASH
    said["involvedObject"]["fieldPath"] = "spec.containers{web}"
    assert verdict(namespace).kind == Kind.LIVENESS_FAILING


def test_an_init_container_that_has_done_its_work_is_no_crash() -> None:
    namespace = shop()
    namespace.pod()["spec"]["initContainers"] = [{"name": "prepare", "image": "shop.local/tools:1"}]
    done = {"name": "prepare", "ready": True, "restartCount": 0, "state": {"terminated": {"exitCode": 0}}}
    namespace.pod()["status"]["initContainerStatuses"] = [done]
    runs_unready(namespace)
    assert verdict(namespace).kind == Kind.READINESS_FAILING


def test_a_command_that_cannot_be_started_settles_by_when_it_was_last_tried() -> None:
    namespace = shop()
    waits("CrashLoopBackOff", **ended("StartError", 128, 'exec: "srve": not found'))(namespace)
    namespace.pod()["status"]["containerStatuses"][0]["lastState"]["terminated"]["startedAt"] = (
        "1970-01-01T00:00:00Z"
    )

    def settles(seconds: int) -> float | None:
        look = look_at(namespace.snapshot(), incident(), POLICY, now=NOW, since=NOW - timedelta(seconds=seconds))
        return next(seen.settles for seen in assess(look) if seen.kind is Kind.CONTAINER_START)

    assert settles(60) == 0.0
    assert settles(10) is None


def settles_of(namespace: Namespace, kind: Kind, *, since: float) -> float | None:
    look = look_at(namespace.snapshot(), incident(), POLICY, now=NOW, since=NOW - timedelta(seconds=since))
    return next(seen.settles for seen in assess(look) if seen.kind is kind)


@pytest.mark.parametrize(
    ("message", "settles"),
    [
        pytest.param(
            "1 Insufficient cpu. preemption: 1 Preemption is not helpful for scheduling.", True, id="never"
        ),
        pytest.param("1 Insufficient cpu. preemption: 1 No preemption victims found", False, id="others-may-end"),
        pytest.param(
            "2 Insufficient cpu. preemption: 1 No preemption victims found, 1 Preemption is not helpful",
            False,
            id="on-one-node-others-may-end",
        ),
    ],
)
def test_a_pod_for_which_no_node_is_large_enough_waits_in_vain(message: str, settles: bool) -> None:
    namespace = shop()
    unschedulable(namespace)
    namespace.pod()["status"]["conditions"][0]["message"] = message
    assert (settles_of(namespace, Kind.UNSCHEDULABLE, since=60) is not None) is settles


@pytest.mark.parametrize(
    ("message", "at", "settles"),
    [
        pytest.param("maximum memory usage per Container is 1Gi, but limit is 2Gi", 5, True, id="range"),
        pytest.param('violates PodSecurity "restricted:latest": privileged', 5, True, id="pod-security"),
        pytest.param(
            "maximum memory usage per Container is 1Gi, but limit is 2Gi", 300, False, id="before-the-change"
        ),
        pytest.param('serviceaccount "sa" not found', 5, False, id="may-be-made"),
    ],
)
def test_a_refusal_by_a_rule_of_the_namespace_is_final_when_it_is_said_again(
    message: str, at: float, settles: bool
) -> None:
    namespace = shop()
    no_pods(message)(namespace)
    namespace.add(warning(namespace.get("ReplicaSet", "web-1"), "FailedCreate", message, ago(at)))
    assert (settles_of(namespace, Kind.FAILED_CREATE, since=60) is not None) is settles


def test_old_creation_events_are_no_present_cause() -> None:
    namespace = shop()
    namespace.objects["Pod"] = [pod for pod in namespace.objects["Pod"] if "api" in pod["metadata"]["name"]]
    namespace.get("Deployment", "web")["status"].update(updatedReplicas=0, readyReplicas=0, availableReplicas=0)
    replica_set = namespace.get("ReplicaSet", "web-1")
    namespace.add(warning(replica_set, "FailedCreate", 'serviceaccount "sa" not found', ago(300)))
    assert verdict(namespace).kind == Kind.FAILED_CREATE
    assert verdict(namespace, shop(), since=NOW).kind == Kind.ROLLOUT_INCOMPLETE


def test_a_target_that_does_not_exist_is_a_failure_beside_one_that_does() -> None:
    found = verdict(shop(), about=incident("Deployment/web", "Service/front"))
    assert (found.kind, found.reason) == (Kind.TARGET_MISSING, "Service/front does not exist")


@pytest.mark.parametrize("kind", ["Pod", "ReplicaSet", "Deployment", "Service", "EndpointSlice"])
def test_what_could_not_be_listed_is_unverified_with_its_reason(kind: str) -> None:
    namespace = shop()
    namespace.unseen = {kind: "Forbidden: no right to list"}
    before = shop()
    found = verdict(namespace, before)
    assert found.result is not Result.FIXED
    assert any(check.result is CheckResult.UNKNOWN and check.object == kind for check in found.checks)


def test_nothing_failed_but_something_unseen_is_unverified() -> None:
    namespace = shop()
    namespace.unseen = {"EndpointSlice": "Timeout: no list of endpointslices within 20 s"}
    found = verdict(namespace)
    assert (found.result, found.kind) == (Result.UNVERIFIED, Kind.TIMEOUT)
    assert found.reason.startswith("nothing failed, but EndpointSlice objects could not be listed: Timeout")
