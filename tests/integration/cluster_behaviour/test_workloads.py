"""Workloads: Deployments, StatefulSets, DaemonSets, Jobs and CronJobs from creation to health or failure."""

from __future__ import annotations

from sanare_lab.cluster.objects import Obj, dig, labels_of, name_of
from sanare_lab.cluster.resources import (
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    NODES,
    PODS,
    REPLICA_SETS,
    STATEFUL_SETS,
)
from tests.integration.cluster_behaviour.world import World, condition, set_image, template_of


async def test_a_deployment_becomes_available_and_says_so(world: World) -> None:
    world.deployment(replicas=3)
    await world.available(count=3)
    found = world.get(DEPLOYMENTS, "web")
    assert condition(found, "Available")["reason"] == "MinimumReplicasAvailable"
    assert condition(found, "Progressing")["reason"] == "NewReplicaSetAvailable"
    assert found["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"


async def test_an_update_replaces_every_pod_and_keeps_the_old_replica_set(world: World) -> None:
    world.deployment()
    await world.available()
    before = {name_of(pod) for pod in world.pods()}
    world.change(DEPLOYMENTS, "web", lambda copy: set_image(copy, "shop.local/app:2"))
    await world.available()
    await world.until(lambda: len(world.pods()) == 2)
    assert not before & {name_of(pod) for pod in world.pods()}
    assert sorted(item["spec"]["replicas"] for item in world.store.list(REPLICA_SETS, "shop")) == [0, 2]


async def test_a_broken_update_leaves_the_old_pods_serving_until_its_deadline_and_undo_ends_it(
    world: World,
) -> None:
    world.deployment(progressDeadlineSeconds=30)
    await world.available()
    template = world.get(DEPLOYMENTS, "web")["spec"]["template"]
    world.change(DEPLOYMENTS, "web", lambda copy: set_image(copy, "shop.local/app:typo"))
    await world.until(lambda: condition(world.get(DEPLOYMENTS, "web"), "Progressing").get("status") == "False")
    found = world.get(DEPLOYMENTS, "web")
    assert condition(found, "Progressing")["reason"] == "ProgressDeadlineExceeded"
    assert found["status"]["availableReplicas"] == 2
    world.change(DEPLOYMENTS, "web", lambda copy: copy["spec"].update(template=template))
    await world.available()
    assert world.get(DEPLOYMENTS, "web")["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "3"


async def test_recreate_lets_no_old_and_new_pod_run_together(world: World) -> None:
    world.deployment(strategy={"type": "Recreate"})
    await world.available()
    together: list[set[str]] = []

    def is_replaced() -> bool:
        images = {pod["spec"]["containers"][0]["image"] for pod in world.pods()}
        together.append(images)
        return images == {"shop.local/app:2"}

    world.change(DEPLOYMENTS, "web", lambda copy: set_image(copy, "shop.local/app:2"))
    await world.until(is_replaced)
    assert all(len(images) < 2 for images in together)


async def test_a_paused_deployment_scales_but_does_not_roll(world: World) -> None:
    world.deployment()
    await world.available()
    world.change(DEPLOYMENTS, "web", lambda copy: copy["spec"].update(paused=True, replicas=3))
    world.change(DEPLOYMENTS, "web", lambda copy: set_image(copy, "shop.local/app:2"))
    await world.until(lambda: world.get(DEPLOYMENTS, "web")["status"].get("readyReplicas") == 3)
    assert {pod["spec"]["containers"][0]["image"] for pod in world.pods()} == {"shop.local/app:1"}
    assert condition(world.get(DEPLOYMENTS, "web"), "Progressing")["reason"] == "DeploymentPaused"
    world.change(DEPLOYMENTS, "web", lambda copy: copy["spec"].update(paused=False))
    await world.available(count=3)


async def test_a_deleted_pod_is_replaced(world: World) -> None:
    world.deployment()
    await world.available()
    gone = world.pods()[0]
    world.store.delete(PODS, "shop", name_of(gone))
    await world.until(lambda: name_of(gone) not in {name_of(pod) for pod in world.pods()})
    await world.available()


async def test_a_relabelled_pod_leaves_its_replica_set_which_makes_another(world: World) -> None:
    world.deployment()
    await world.available()
    stray = name_of(world.pods()[0])
    world.change(PODS, stray, lambda copy: copy["metadata"]["labels"].update({"pod-template-hash": "other"}))
    await world.until(lambda: "ownerReferences" not in world.get(PODS, stray)["metadata"])
    await world.until(lambda: len(world.pods()) == 3)


async def test_a_replica_set_adopts_a_pod_that_its_selector_takes(world: World) -> None:
    spec = template_of("solo")["spec"]
    world.create(PODS, "solo", spec, metadata={"labels": {"app": "solo"}})
    selector = {"matchLabels": {"app": "solo"}}
    world.create(REPLICA_SETS, "solo", {"replicas": 1, "selector": selector, "template": template_of("solo")})
    await world.until(lambda: world.get(PODS, "solo")["metadata"].get("ownerReferences"))
    await world.until(lambda: dig(world.get(REPLICA_SETS, "solo"), "status", "readyReplicas") == 1)
    assert len(world.pods("solo")) == 1


async def test_a_stateful_set_starts_in_order_and_updates_from_the_last(world: World) -> None:
    spec = {"replicas": 2, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}}
    world.create(STATEFUL_SETS, "db", {**spec, "template": template_of("db")})
    await world.until(lambda: dig(world.get(STATEFUL_SETS, "db"), "status", "readyReplicas") == 2)
    first, second = (world.get(PODS, name) for name in ("db-0", "db-1"))
    assert condition(first, "Ready")["lastTransitionTime"] <= second["metadata"]["creationTimestamp"]
    world.change(STATEFUL_SETS, "db", lambda copy: set_image(copy, "shop.local/app:2"))

    def is_updated() -> bool:
        status = world.get(STATEFUL_SETS, "db")["status"]
        return (
            status["observedGeneration"] == 2
            and status.get("updatedReplicas") == 2
            and status["currentRevision"] == status["updateRevision"]
        )

    await world.until(is_updated)
    assert {pod["spec"]["containers"][0]["image"] for pod in world.pods("db")} == {"shop.local/app:2"}


async def test_a_stateful_set_adopts_no_pod_that_is_not_named_as_its_own(world: World) -> None:
    world.create(PODS, "db", template_of("db")["spec"], metadata={"labels": {"app": "db"}})
    spec = {"replicas": 1, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}}
    world.create(STATEFUL_SETS, "db", {**spec, "template": template_of("db")})
    await world.until(lambda: dig(world.get(STATEFUL_SETS, "db"), "status", "readyReplicas") == 1)
    assert "ownerReferences" not in world.get(PODS, "db")["metadata"]
    assert dig(world.get(STATEFUL_SETS, "db"), "status", "replicas") == 1


async def test_a_stateful_set_waits_for_a_first_pod_that_never_gets_ready(world: World) -> None:
    spec = {"replicas": 2, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}}
    broken = template_of("db", container={"image": "shop.local/app:typo"})
    world.create(STATEFUL_SETS, "db", {**spec, "template": broken})
    await world.until(lambda: world.messages("BackOff"))
    assert [name_of(pod) for pod in world.pods("db")] == ["db-0"]


async def test_a_daemon_set_runs_one_pod_on_each_node_that_takes_it(world: World) -> None:
    selector = {"matchLabels": {"app": "agent"}}
    template = template_of("agent", nodeSelector={"role": "edge"})
    world.create(DAEMON_SETS, "agent", {"selector": selector, "template": template})
    await world.until(lambda: (world.get(DAEMON_SETS, "agent").get("status") or {}).get("observedGeneration"))
    assert world.get(DAEMON_SETS, "agent")["status"]["desiredNumberScheduled"] == 0
    world.store.modify(NODES, "", "node0", lambda copy: copy["metadata"]["labels"].update(role="edge"))
    await world.until(lambda: world.get(DAEMON_SETS, "agent")["status"].get("numberReady") == 1)


def job(command: list[str], **spec: object) -> Obj:
    container = {"name": "c", "image": "shop.local/box:1", "command": command}
    return {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}, **spec}


async def test_a_job_completes(world: World) -> None:
    world.create(JOBS, "once", job(["true"]))
    await world.until(lambda: condition(world.get(JOBS, "once"), "Complete"))
    assert world.get(JOBS, "once")["status"]["succeeded"] == 1


async def test_a_job_fails_after_its_retries(world: World) -> None:
    world.create(JOBS, "never", job(["false"], backoffLimit=1))
    found = await world.until(lambda: condition(world.get(JOBS, "never"), "Failed"))
    assert found["reason"] == "BackoffLimitExceeded"
    assert world.get(JOBS, "never")["status"]["failed"] == 2


async def test_a_job_that_takes_too_long_is_ended(world: World) -> None:
    world.create(JOBS, "slow", job(["sleep", "1000"], activeDeadlineSeconds=20))
    found = await world.until(lambda: condition(world.get(JOBS, "slow"), "Failed"))
    assert found["reason"] == "DeadlineExceeded"


async def test_a_cron_job_that_is_due_starts_its_job(world: World) -> None:
    spec = {"schedule": "* * * * *", "jobTemplate": {"spec": job(["true"])}}
    world.create(CRON_JOBS, "tick", spec, status={"lastScheduleTime": "2024-01-01T00:00:00Z"})
    await world.until(lambda: world.store.list(JOBS, "shop"))
    (started,) = world.store.list(JOBS, "shop")
    assert started["metadata"]["ownerReferences"][0]["name"] == "tick"
    await world.until(lambda: condition(world.get(JOBS, name_of(started)), "Complete"))


async def test_pods_of_a_deployment_carry_the_hash_of_their_template(world: World) -> None:
    world.deployment()
    await world.available()
    (owner,) = world.store.list(REPLICA_SETS, "shop")
    hashed = owner["spec"]["selector"]["matchLabels"]["pod-template-hash"]
    assert name_of(owner) == f"web-{hashed}"
    assert {labels_of(pod)["pod-template-hash"] for pod in world.pods()} == {hashed}


async def test_a_daemon_set_counts_the_changes_of_its_template(world: World) -> None:
    world.create(
        DAEMON_SETS, "agent", {"selector": {"matchLabels": {"app": "agent"}}, "template": template_of("agent")}
    )

    def generations() -> list[str]:
        return [labels_of(pod)["pod-template-generation"] for pod in world.pods("agent")]

    await world.until(lambda: generations() == ["1"])
    world.change(DAEMON_SETS, "agent", lambda copy: copy["metadata"].update(labels={"tier": "node"}))
    world.change(
        DAEMON_SETS, "agent", lambda copy: copy["spec"]["template"]["metadata"]["labels"].update(tier="node")
    )
    await world.until(lambda: generations() == ["2"])
    counted = world.get(DAEMON_SETS, "agent")["metadata"]["annotations"]
    assert counted == {"deprecated.daemonset.template.generation": "2"}
