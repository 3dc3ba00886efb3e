"""The evaluator at the API server's door: what it asks, what it makes of refusals, and what it refuses itself."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from sanare import errors
from sanare.api.policy import PolicySpec
from sanare.api.verdict import Result
from sanare.evaluator.evaluator import Evaluator
from sanare.evaluator.facts import Facts
from sanare.evaluator.kinds import Kind
from sanare.evaluator.snapshot import Answer
from sanare.kube.resources import BY_KIND
from tests.unit.evaluator.fake_kube import FakeKube
from tests.unit.evaluator.namespace import (
    Namespace,
    ago,
    config_map,
    endpoints,
    incident,
    named,
    service,
    shop,
    workload,
)

PODS = 1000
POLICY = PolicySpec.parse({"verify": {"convergeTimeout": "1s", "hold": "0s"}})


def evaluator(kube: FakeKube) -> Evaluator:
    return Evaluator(kube.door)


async def test_capture_gives_the_baseline_and_the_verdict_on_it() -> None:
    namespace = shop()
    namespace.silent["web"] = Answer(failure="connection refused")
    baseline, verdict = await evaluator(FakeKube(namespace)).capture(incident(), POLICY)
    assert (verdict.result, verdict.kind) == (Result.NOT_FIXED, Kind.UNREACHABLE)
    assert [check.kind for check in baseline.failing] == [Kind.UNREACHABLE]
    assert [health.object for health in baseline.facts.neighbours] == ["Deployment/api", "Service/api"]


async def test_secrets_are_never_asked_for() -> None:
    kube = FakeKube(shop())
    await evaluator(kube).capture(incident(), POLICY)
    assert "pods" in kube.asked
    assert not [asked for asked in kube.asked if "secret" in asked]


def crowd(**container: Any) -> Namespace:
    """A thousand pods of one Deployment behind one Service."""
    pods = [f"web-1-{number}" for number in range(PODS)]
    slices = [endpoints("web", *pods[start : start + 100]) for start in range(0, PODS, 100)]
    for position, each in enumerate(slices):
        each["metadata"]["name"] = f"web-{position}"
    return Namespace().add(*workload("web", replicas=PODS, **container), service("web"), *slices)


def crashing(namespace: Namespace, pods: int) -> Namespace:
    for pod in namespace.objects["Pod"][:pods]:
        pod["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
        status = pod["status"]["containerStatuses"][0]
        status.update(ready=False, restartCount=3, state={"waiting": {"reason": "CrashLoopBackOff"}})
        status["lastState"] = {"terminated": {"exitCode": 1, "startedAt": ago(30)}}
    return namespace


def unplaced(namespace: Namespace) -> Namespace:
    namespace.objects["Pod"].clear()
    return namespace


def silenced(namespace: Namespace) -> Namespace:
    namespace.silent["web"] = Answer(failure="connection refused")
    return namespace


PROBED = {"livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}}}
CROWDS = [
    ("healthy", crowd, Result.FIXED),
    ("healthy and probed", lambda: crowd(**PROBED), Result.FIXED),
    ("with variables", lambda: crowd(env=[{"name": "MODE", "value": "standard"}], **PROBED), Result.FIXED),
    ("every pod crashes", lambda: crashing(crowd(), PODS), Result.NOT_FIXED),
    ("one pod crashes", lambda: crashing(crowd(), 1), Result.NOT_FIXED),
    ("no pod is created", lambda: unplaced(crowd()), Result.NOT_FIXED),
    ("the Service does not answer", lambda: silenced(crowd(**PROBED)), Result.NOT_FIXED),
]


@pytest.mark.parametrize(("make", "result"), [case[1:] for case in CROWDS], ids=[case[0] for case in CROWDS])
async def test_one_evaluation_of_a_thousand_pods_takes_at_most_ten_requests(
    make: Callable[[], Namespace], result: Result
) -> None:
    kube = FakeKube(make(), logs={f"web-1-{number}/current": "no such file\n" for number in range(PODS)})
    baseline, first = await evaluator(kube).capture(incident(), POLICY)
    at_first, kube.asked = kube.asked, []
    again, _ = await evaluator(kube).judge_now(incident(), POLICY, baseline)
    assert (first.result, again.result) == (result, result)
    assert len(at_first) <= 10
    assert len(kube.asked) <= 10


async def test_guards_and_bindings_are_looked_at_only_where_all_else_is_well() -> None:
    kube = FakeKube(shop().add(named("NetworkPolicy", "deny")))
    baseline, _ = await evaluator(kube).capture(incident(), POLICY)
    kube.asked.clear()
    silenced(kube.namespace)
    verdict, _ = await evaluator(kube).judge_now(incident(), POLICY, baseline)
    assert "rolebindings" not in kube.asked
    assert Kind.NOT_ASKED in {check.kind for check in verdict.checks}
    kube.namespace.silent.clear()
    verdict, _ = await evaluator(kube).judge_now(incident(), POLICY, baseline)
    assert {"networkpolicies", "rolebindings", "clusterrolebindings"} <= set(kube.asked)
    assert verdict.result is Result.FIXED


async def test_what_others_need_is_listed_where_the_namespace_shows_that_there_is_some() -> None:
    bare = FakeKube(shop())
    await evaluator(bare).capture(incident(), POLICY)
    assert not {"configmaps", "cronjobs"} & set(bare.asked)
    about = shop().add(config_map("colours", sky="blue"), named("CronJob", "nightly"))
    about.container("api")["envFrom"] = [{"configMapRef": {"name": "colours"}}]
    run = copy.deepcopy(about.pod("api"))
    reference = {"kind": "Job", "name": "nightly-1", "uid": "x", "controller": True}
    run["metadata"].update(name="nightly-1-a", uid="y", labels={}, ownerReferences=[reference])
    kube = FakeKube(about.add(run))
    baseline, _ = await evaluator(kube).capture(incident(), POLICY)
    for kind, name in (("ConfigMap", "colours"), ("CronJob", "nightly")):
        kept = kube.namespace.get(kind, name)
        kube.namespace.drop(kind, name)
        verdict, _ = await evaluator(kube).judge_now(incident(), POLICY, baseline)
        assert (verdict.kind, name in verdict.reason) == (Kind.NEIGHBOUR_BROKEN, True), verdict.reason
        kube.namespace.add(kept)
    verdict, _ = await evaluator(kube).judge_now(incident(), POLICY, baseline)
    assert verdict.result is Result.FIXED, verdict.reason


async def test_a_later_look_lists_again_what_the_baseline_had() -> None:
    kube = FakeKube(shop().add(named("NetworkPolicy", "deny")))
    baseline, _ = await evaluator(kube).capture(incident(), POLICY)
    kube.namespace.drop("NetworkPolicy", "deny")
    verdict, _ = await evaluator(kube).judge_now(incident(), POLICY, baseline)
    assert verdict.kind == Kind.POLICY_DELETED


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.Forbidden("no", status=403), Kind.FORBIDDEN),
        (errors.Unreachable("gone"), Kind.TIMEOUT),
        (errors.NotFound("what", status=404), Kind.NOT_FOUND),
        (errors.Gone("too old", status=410), Kind.UNKNOWN),
    ],
)
async def test_a_list_that_fails_is_unknown_and_says_how(error: errors.KubeError, kind: Kind) -> None:
    verdict, snapshot = await evaluator(FakeKube(shop(), {"EndpointSlice": error})).judge_now(
        incident(), POLICY, None
    )
    assert (verdict.result, verdict.kind) == (Result.UNVERIFIED, kind)
    assert snapshot.all("EndpointSlice") == ()
    assert "EndpointSlice" in snapshot.unseen


async def test_an_answer_that_is_no_list_is_no_list_of_no_objects() -> None:
    kube = FakeKube(shop(), hollow=frozenset({"EndpointSlice"}))
    verdict, snapshot = await evaluator(kube).judge_now(incident(), POLICY, None)
    assert (verdict.result, verdict.kind) == (Result.UNVERIFIED, Kind.EMPTY)
    assert snapshot.unseen["EndpointSlice"].startswith("Empty: ")


@pytest.mark.parametrize("kind", ["Service", "ReplicaSet", "NetworkPolicy", "Deployment"])
@pytest.mark.parametrize("error", [errors.Unreachable("slow"), errors.Gone("too old", status=410)])
async def test_no_baseline_is_taken_blindly(kind: str, error: errors.KubeError) -> None:
    with pytest.raises(errors.Unreachable, match=BY_KIND[kind].plural):
        await evaluator(FakeKube(shop(), {kind: error})).capture(incident(), POLICY)


@pytest.mark.parametrize(
    ("kind", "error"),
    [("Event", errors.Unreachable("slow")), ("NetworkPolicy", errors.Forbidden("no", status=403))],
)
async def test_a_baseline_is_taken_without_what_another_try_does_not_bring(
    kind: str, error: errors.KubeError
) -> None:
    baseline, _ = await evaluator(FakeKube(crashing(shop(), 1), {kind: error})).capture(incident(), POLICY)
    assert list(baseline.unseen) == [kind]


async def test_a_target_that_may_not_be_looked_at_makes_the_incident_invalid() -> None:
    kube = FakeKube(shop(), {"Deployment": errors.Forbidden("no", status=403)})
    with pytest.raises(errors.InvalidIncident, match="get, list and watch on deployments") as caught:
        await evaluator(kube).capture(incident(), POLICY)
    assert caught.value.reason == "TargetForbidden"


@pytest.mark.parametrize(
    ("target", "namespaces", "reason"),
    [
        ("Deployment/nothing", ("shop",), "TargetNotFound"),
        ("Deployment/nothing", (), "NamespaceGone"),
        ("Gadget/web", ("shop",), "TargetKindUnknown"),
    ],
)
async def test_an_incident_about_nothing_is_invalid(target: str, namespaces: tuple[str, ...], reason: str) -> None:
    with pytest.raises(errors.InvalidIncident) as caught:
        await evaluator(FakeKube(shop(), namespaces=namespaces)).snapshot(incident(target))
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(errors.Forbidden("no right to namespaces", status=403), id="namespaces may not be read"),
        pytest.param(errors.Unreachable("no answer"), id="the API server does not answer"),
    ],
)
async def test_where_the_namespace_cannot_be_read_the_targets_decide(refusal: errors.KubeError) -> None:
    kube = FakeKube(shop(), {"Namespace": refusal})
    with pytest.raises(errors.InvalidIncident) as caught:
        await evaluator(kube).snapshot(incident("Deployment/nothing"))
    assert caught.value.reason == "TargetNotFound"


async def test_a_target_whose_kind_cannot_be_listed_is_not_called_missing() -> None:
    kube = FakeKube(shop(), {"Deployment": errors.Forbidden("no", status=403)})
    verdict, _ = await evaluator(kube).judge_now(incident(), POLICY, None)
    assert verdict.result is Result.UNVERIFIED


async def test_a_target_that_vanishes_after_the_baseline_is_deleted() -> None:
    kube = FakeKube(shop())
    baseline, _ = await evaluator(kube).capture(incident(), POLICY)
    kube.namespace.objects.clear()
    verdict, _ = await evaluator(kube).verify(incident(), POLICY, baseline, previous=None, since=datetime.now(UTC))
    assert (verdict.result, verdict.kind, verdict.reason.split(";")[0]) == (
        Result.NOT_FIXED,
        Kind.DELETED,
        "Deployment/web was deleted",
    )


async def test_verify_ends_fixed_with_the_start_of_the_healthy_window() -> None:
    kube = FakeKube(shop())
    baseline, _ = await evaluator(kube).capture(incident(), POLICY)
    since = datetime.now(UTC)
    verdict, _ = await evaluator(kube).verify(incident(), POLICY, baseline, previous=None, since=since)
    assert verdict.result is Result.FIXED
    assert verdict.healthy_since is not None
    assert verdict.healthy_since >= since


@pytest.mark.parametrize(
    ("state", "run"),
    [({"waiting": {"reason": "CrashLoopBackOff"}}, "current"), ({"running": {"startedAt": ago(3)}}, "previous")],
    ids=["waiting for its next run", "running again"],
)
@pytest.mark.parametrize(
    "gone",
    ["unable to retrieve container logs for containerd://1", 'failed to try resolving symlinks in path "/var/log"'],
    ids=["removed", "being removed"],
)
async def test_the_log_of_the_run_that_crashed_is_read(state: dict[str, Any], run: str, gone: str) -> None:
    namespace = shop()
    status = namespace.pod()["status"]["containerStatuses"][0]
    status.update(ready=False, restartCount=2, state=state)
    status["lastState"] = {"terminated": {"exitCode": 1}}
    kube = FakeKube(
        namespace,
        logs={
            "web-1-0/current": gone,
            "web-1-0/previous": gone,
            f"web-1-0/{run}": "missing file /a\n\x1b[31mtoken=abcdef123\n",
        },
    )
    snapshot = await evaluator(kube).snapshot(incident())
    assert snapshot.logs == {"web-1-0/web": "missing file /a\ntoken=[redacted]\n"}


async def test_large_config_maps_are_cut_and_keep_their_keys() -> None:
    namespace: Namespace = shop().add(config_map("big", text="x" * 100_000, other="y"))
    snapshot = await evaluator(FakeKube(namespace)).snapshot(incident())
    found = snapshot.find("ConfigMap", "big")
    assert found is not None
    assert sorted(found["data"]) == ["other", "text"]
    assert len(found["data"]["text"].encode()) <= 4096


async def test_an_autoscaler_that_was_not_asked_for_at_first_explains_fewer_replicas() -> None:
    target = {"kind": "Deployment", "name": "web"}
    namespace = Namespace().add(*workload("web", replicas=3), service("web"), endpoints("web", "web-1-0"))
    kube = FakeKube(namespace.add(named("HorizontalPodAutoscaler", "web", minReplicas=1, scaleTargetRef=target)))
    baseline, _ = await evaluator(kube).capture(incident(), POLICY)
    seen = baseline.model_copy(update={"facts": _without(baseline.facts, "HorizontalPodAutoscaler")})
    kube.namespace.get("Deployment", "web")["spec"]["replicas"] = 2
    verdict, _ = await evaluator(kube).judge_now(incident(), POLICY, seen)
    assert Kind.SCALED_DOWN not in {check.kind for check in verdict.checks}


def _without(facts: Facts, kind: str) -> Facts:
    """The facts of a capture that did not list the kind."""
    names = {each: names for each, names in facts.names.items() if each != kind}
    guards = tuple(each for each in facts.guards if not each.object.startswith(f"{kind}/"))
    return facts.model_copy(update={"names": names, "guards": guards})
