"""Which of several failures decides, and how long it must stand: what two clusters must agree on."""

from __future__ import annotations

import copy

import pytest

from sanare.evaluator.judge import assess, look_at
from sanare.evaluator.kinds import Kind
from sanare.evaluator.seen import Seen
from sanare.evaluator.snapshot import Answer
from tests.unit.evaluator.namespace import (
    NOW,
    POLICY,
    Json,
    Namespace,
    ago,
    config_map,
    incident,
    shop,
    verdict,
    warning,
)

REFUSED = Answer(failure="connection refused")
NOT_FOUND = 'MountVolume.SetUp failed for volume "conf" : configmap "web-confg" not found'


def seen_of(ns: Namespace, kind: Kind) -> Seen:
    look = look_at(ns.snapshot(), incident(), POLICY, now=NOW)
    return next(seen for seen in assess(look) if seen.kind is kind)


def refusing() -> Namespace:
    ns = shop()
    ns.silent["web"] = REFUSED
    return ns


def with_an_old_pod(ns: Namespace) -> Namespace:
    """A rollout under way: the Deployment is at revision 2, one pod still belongs to revision 1."""
    ns.get("Deployment", "web")["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "2"}
    newer: Json = copy.deepcopy(ns.get("ReplicaSet", "web-1"))
    newer["metadata"].update(name="web-2", uid="uid-ReplicaSet-web-2")
    newer["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "2"}
    new_pod: Json = copy.deepcopy(ns.pod())
    new_pod["metadata"].update(name="web-2-0", uid="uid-web-2-0")
    new_pod["metadata"]["ownerReferences"][0].update(name="web-2", uid="uid-ReplicaSet-web-2")
    return ns.add(newer, new_pod)


def test_a_refused_request_is_final_when_the_rollout_is_done() -> None:
    assert seen_of(refusing(), Kind.UNREACHABLE).settles is not None


def test_a_refused_request_is_not_final_while_pods_of_before_still_serve() -> None:
    assert seen_of(with_an_old_pod(refusing()), Kind.UNREACHABLE).settles is None


def test_a_rollout_under_way_explains_the_refused_request_in_kind_and_in_words() -> None:
    found = verdict(with_an_old_pod(refusing()))
    assert found.kind == Kind.ROLLOUT_INCOMPLETE
    assert found.reason.startswith("Deployment/web: 1 pods of an earlier revision still exist")


def test_a_selector_decides_before_a_pod_that_is_still_starting() -> None:
    ns = shop()
    ns.get("Service", "web")["spec"]["selector"] = {"app": "webs"}
    ns.pod()["status"]["containerStatuses"][0]["ready"] = False
    ns.pod()["status"]["conditions"][0]["status"] = "False"
    assert verdict(ns).kind == Kind.SELECTOR_MATCHES_NOTHING


def crashing(*, code: int) -> Namespace:
    """A container that ended a while ago, while a liveness probe failed in the same second."""
    ns = shop()
    end = {"reason": "Error", "exitCode": code, "startedAt": ago(40), "finishedAt": ago(39)}
    ns.pod()["status"]["containerStatuses"][0].update(
        ready=False,
        restartCount=3,
        state={"waiting": {"reason": "CrashLoopBackOff", "message": ""}},
        lastState={"terminated": end},
    )
    ns.pod()["status"]["conditions"][0]["status"] = "False"
    return ns.add(warning(ns.pod(), "Unhealthy", "Liveness probe failed: connection refused", ago(39)))


@pytest.mark.parametrize(
    ("ns", "kind"),
    [
        pytest.param(crashing(code=1), Kind.CRASH, id="ended-by-itself"),
        pytest.param(crashing(code=137), Kind.LIVENESS_FAILING, id="killed"),
        pytest.param(crashing(code=0), Kind.LIVENESS_FAILING, id="stopped-gracefully"),
    ],
)
def test_a_probe_that_failed_while_a_process_ended_by_itself_did_not_end_it(ns: Namespace, kind: Kind) -> None:
    assert verdict(ns).kind == kind


def test_an_exit_of_its_own_is_the_kubelets_doing_when_the_kubelet_says_so() -> None:
    ns = crashing(code=1)
    ns.add(warning(ns.pod(), "Killing", "Container web failed liveness probe, will be restarted", ago(39)))
    assert verdict(ns).kind == Kind.LIVENESS_FAILING


def unmounted(*more: Json) -> Namespace:
    ns = shop()
    ns.pod()["status"].update(phase="Pending", conditions=[{"type": "Ready", "status": "False"}])
    ns.pod()["status"]["containerStatuses"][0].update(
        ready=False, state={"waiting": {"reason": "ContainerCreating", "message": ""}}
    )
    return ns.add(warning(ns.pod(), "FailedMount", NOT_FOUND, ago(5)), *more)


@pytest.mark.parametrize(
    ("ns", "final"),
    [
        pytest.param(unmounted(), True, id="still-missing"),
        pytest.param(unmounted(config_map("web-confg", a="b")), False, id="there-by-now"),
    ],
)
def test_a_volume_is_waited_for_only_while_what_it_lacks_is_there(ns: Namespace, final: bool) -> None:
    look = look_at(ns.snapshot(), incident(), POLICY, now=NOW, since=NOW)
    (fault,) = (seen for seen in assess(look) if seen.kind is Kind.FAILED_MOUNT)
    assert (fault.settles is not None) is final


def lacking_a_secret() -> Namespace:
    reference = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "web-creds", "key": "token"}}}
    ns = shop(env=[reference])
    ns.pod()["status"]["containerStatuses"][0].update(
        ready=False,
        state={"waiting": {"reason": "CreateContainerConfigError", "message": 'secret "web-creds" not found'}},
    )
    ns.pod()["status"]["conditions"][0]["status"] = "False"
    return ns


def test_a_secret_that_fills_the_place_of_a_missing_one_is_a_stand_in() -> None:
    reads = shop(env=lacking_a_secret().container()["env"])
    found = verdict(reads, lacking_a_secret())
    assert (found.kind, found.result) == (Kind.STAND_IN_CREATED, "NotFixed")
    assert found.reason.startswith("Secret/web-creds, which Deployment/web reads, was created")


def test_another_secret_that_was_there_is_none() -> None:
    reference = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "web-credentials", "key": "token"}}}
    assert verdict(shop(env=[reference]), lacking_a_secret()).result == "Fixed"


def test_a_secret_that_is_still_missing_is_told_as_missing() -> None:
    assert verdict(lacking_a_secret(), lacking_a_secret()).kind == Kind.CONFIG_ERROR
