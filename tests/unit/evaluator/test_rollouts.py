"""Workloads that are no Deployments: complete when their own controller's counts and their pods say so."""

from __future__ import annotations

from typing import Any

import pytest

from sanare.api.verdict import Result
from sanare.evaluator.kinds import Kind
from tests.unit.evaluator.namespace import Json, Namespace, ago, incident, meta, pod, verdict

SPEC: Json = {"containers": [{"name": "db", "image": "shop.local/db:1.0"}]}


def owned_pod(kind: str, number: int, **labels: str) -> Json:
    made = pod("db", number, SPEC)
    made["metadata"].update(
        name=f"db-{number}",
        uid=f"uid-db-{number}",
        labels={"app": "db", **labels},
        ownerReferences=[{"kind": kind, "name": "db", "uid": f"uid-{kind}", "controller": True}],
    )
    return made


def workload(kind: str, spec: Json, status: Json, *pods: Json, **metadata: Any) -> Namespace:
    template = {"metadata": {"labels": {"app": "db"}}, "spec": SPEC}
    made = {
        "kind": kind,
        "metadata": meta("db", f"uid-{kind}", generation=2, **metadata),
        "spec": {"template": template, "selector": {"matchLabels": {"app": "db"}}, **spec},
        "status": {"observedGeneration": 2, **status},
    }
    return Namespace().add(made, *pods)


def stateful(updated: int = 2, ready: int = 2, revision: str = "db-2", **spec: Any) -> Namespace:
    pods = [owned_pod("StatefulSet", number, **{"controller-revision-hash": revision}) for number in range(2)]
    status = {"updateRevision": "db-2", "updatedReplicas": updated, "readyReplicas": ready}
    return workload("StatefulSet", {"replicas": 2, **spec}, status, *pods)


def daemon(desired: int = 1, ready: int = 1, generation: str = "2") -> Namespace:
    pods = [owned_pod("DaemonSet", number, **{"pod-template-generation": generation}) for number in range(desired)]
    status = {"desiredNumberScheduled": desired, "updatedNumberScheduled": desired, "numberReady": ready}
    annotations = {"deprecated.daemonset.template.generation": "2"}
    return workload("DaemonSet", {}, status, *pods, annotations=annotations)


def job(*conditions: Json) -> Namespace:
    return workload("Job", {}, {"conditions": list(conditions)})


def cron_job(*conditions: Json) -> Namespace:
    namespace = job(*conditions)
    namespace.objects["Job"][0]["metadata"].update(
        name="db-1", ownerReferences=[{"kind": "CronJob", "name": "db", "uid": "uid-CronJob", "controller": True}]
    )
    spec = {"jobTemplate": {"spec": namespace.objects["Job"][0]["spec"]}}
    return namespace.add({"kind": "CronJob", "metadata": meta("db", "uid-CronJob"), "spec": spec, "status": {}})


COMPLETE = {"type": "Complete", "status": "True"}
FAILED = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "too often"}

CASES: list[tuple[str, Namespace, str, Kind | None, str]] = [
    ("a complete StatefulSet", stateful(), "StatefulSet", None, "every check passes"),
    (
        "a pod not ready",
        stateful(ready=1),
        "StatefulSet",
        Kind.ROLLOUT_INCOMPLETE,
        "2 of 2 replicas are updated, 1 ready",
    ),
    (
        "pods of an old revision",
        stateful(revision="db-1"),
        "StatefulSet",
        Kind.ROLLOUT_INCOMPLETE,
        "2 pods of an earlier",
    ),
    ("no replicas", stateful(replicas=0), "StatefulSet", Kind.NO_REPLICAS, "spec.replicas is 0"),
    (
        "a partition that is held back on purpose",
        stateful(updated=1, updateStrategy={"rollingUpdate": {"partition": 1}}),
        "StatefulSet",
        None,
        "every check passes",
    ),
    ("a complete DaemonSet", daemon(), "DaemonSet", None, "every check passes"),
    ("no node for it", daemon(desired=0, ready=0), "DaemonSet", Kind.NO_REPLICAS, "no node matches it"),
    (
        "a daemon not ready",
        daemon(ready=0),
        "DaemonSet",
        Kind.ROLLOUT_INCOMPLETE,
        "1 of 1 pods are updated, 0 ready",
    ),
    (
        "a daemon of an old template",
        daemon(generation="1"),
        "DaemonSet",
        Kind.ROLLOUT_INCOMPLETE,
        "1 pods of an earlier",
    ),
    ("a complete Job", job(COMPLETE), "Job", None, "every check passes"),
    ("a failed Job", job(FAILED), "Job", Kind.JOB_FAILED, "has failed (BackoffLimitExceeded: too often)"),
    ("a running Job", job(), "Job", Kind.ROLLOUT_INCOMPLETE, "has not completed yet"),
    ("a CronJob whose last Job failed", cron_job(FAILED), "CronJob", Kind.JOB_FAILED, "has failed"),
    ("a CronJob whose last Job completed", cron_job(COMPLETE), "CronJob", None, "every check passes"),
]


@pytest.mark.parametrize(
    ("namespace", "kind", "failure", "words"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_rollout_is_judged_by_its_kind(namespace: Namespace, kind: str, failure: Kind | None, words: str) -> None:
    found = verdict(namespace, about=incident(f"{kind}/db"))
    assert found.kind == (failure or "")
    assert found.result is (Result.NOT_FIXED if failure else Result.FIXED)
    assert words in found.reason


def created(namespace: Namespace, at: str) -> Namespace:
    namespace.objects["Job"][0]["metadata"]["creationTimestamp"] = at
    return namespace


def without_jobs() -> Namespace:
    namespace = cron_job()
    namespace.objects["Job"].clear()
    return namespace


@pytest.mark.parametrize(
    ("before", "now", "result"),
    [
        (cron_job(FAILED), without_jobs(), Result.UNVERIFIED),
        (cron_job(FAILED), cron_job(COMPLETE), Result.UNVERIFIED),
        (cron_job(FAILED), created(cron_job(FAILED), ago(-5)), Result.NOT_FIXED),
        (cron_job(FAILED), created(cron_job(COMPLETE), ago(-5)), Result.FIXED),
        (without_jobs(), without_jobs(), Result.FIXED),
    ],
    ids=["deleted", "an earlier one is left", "failed again", "a later one completed", "none failed before"],
)
def test_a_cron_job_whose_job_failed_has_to_complete_one(before: Namespace, now: Namespace, result: Result) -> None:
    assert verdict(now, before, incident("CronJob/db")).result is result


def test_a_pod_that_belongs_to_a_workload_stands_for_it() -> None:
    found = verdict(stateful(ready=1), about=incident("Pod/db-0"))
    assert found.reason.startswith("StatefulSet/db")


def test_a_bare_pod_stands_for_itself() -> None:
    bare = pod("tool", 0, SPEC)
    bare["metadata"].update(name="tool", ownerReferences=[])
    assert verdict(Namespace().add(bare), about=incident("Pod/tool")).result is Result.FIXED
    bare["status"]["conditions"][0]["status"] = "False"
    assert verdict(Namespace().add(bare), about=incident("Pod/tool")).kind == Kind.POD_NOT_READY


def on_nodes(namespace: Namespace, **selector: str) -> Namespace:
    namespace.get("DaemonSet", "db")["spec"]["template"]["spec"] = {**SPEC, "nodeSelector": selector}
    return namespace


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        pytest.param(daemon(desired=0, ready=0), "", id="of-a-label-that-no-node-has"),
        pytest.param(daemon(), Kind.PLACEMENT_WIDENED, id="of-a-label-that-a-node-has"),
    ],
)
def test_a_daemon_set_may_lose_only_a_node_label_that_kept_it_from_every_node(before: Namespace, kind: str) -> None:
    found = verdict(daemon(), on_nodes(before, disk="fast"), incident("DaemonSet/db"))
    assert found.kind == kind
