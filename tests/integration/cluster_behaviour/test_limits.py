"""What keeps pods from being made or placed (accounts, quotas, limits, nodes, claims), and how things go away."""

from __future__ import annotations

import asyncio

import pytest

from sanare_lab.cluster.cluster import Cluster
from sanare_lab.cluster.objects import Obj, dig, name_of
from sanare_lab.cluster.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    LIMIT_RANGES,
    NAMESPACES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    REPLICA_SETS,
    RESOURCE_QUOTAS,
    SERVICE_ACCOUNTS,
)
from sanare_lab.cluster.store import ApiError
from tests.integration.cluster_behaviour.world import SCALE, World, condition, template_of


async def test_a_missing_service_account_is_told_and_its_creation_heals(world: World) -> None:
    world.deployment(replicas=1, pod={"serviceAccountName": "robot"})
    refused = await world.until(lambda: condition(world.get(DEPLOYMENTS, "web"), "ReplicaFailure"))
    assert refused["message"].endswith(
        'error looking up service account shop/robot: serviceaccount "robot" not found'
    )
    assert world.messages("FailedCreate") == {f"Error creating: {refused['message']}"}
    world.create(SERVICE_ACCOUNTS, "robot")
    await world.available(count=1)
    assert condition(world.get(DEPLOYMENTS, "web"), "ReplicaFailure") == {}


async def test_every_namespace_has_its_default_account(world: World) -> None:
    await world.until(lambda: world.store.get(SERVICE_ACCOUNTS, "shop", "default"))
    world.store.delete(SERVICE_ACCOUNTS, "shop", "default")
    await world.until(lambda: world.store.get(SERVICE_ACCOUNTS, "shop", "default"))


async def test_an_exhausted_quota_refuses_until_there_is_room(world: World) -> None:
    world.create(RESOURCE_QUOTAS, "few", {"hard": {"pods": "2"}})
    world.deployment("leak", replicas=2)
    await world.available("leak")
    world.deployment(replicas=1)
    await world.until(lambda: condition(world.get(DEPLOYMENTS, "web"), "ReplicaFailure"))
    assert any(
        message.endswith("exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2")
        for message in world.messages("FailedCreate")
    )
    await world.until(lambda: dig(world.get(RESOURCE_QUOTAS, "few"), "status", "used", "pods") == "2")
    world.change(DEPLOYMENTS, "leak", lambda copy: copy["spec"].update(replicas=1))
    await world.available(count=1)


async def test_a_quota_on_requests_wants_them_said(world: World) -> None:
    world.create(RESOURCE_QUOTAS, "cores", {"hard": {"requests.cpu": "1", "limits.memory": "1Gi"}})
    with pytest.raises(ApiError, match=r"must specify limits\.memory for: app; requests\.cpu for: app"):
        world.create(PODS, "one", template_of("one")["spec"])


async def test_a_limit_range_gives_defaults_and_refuses_what_is_beyond(world: World) -> None:
    bounds = {"type": "Container", "default": {"memory": "64Mi"}, "max": {"memory": "128Mi"}}
    world.create(LIMIT_RANGES, "small", {"limits": [bounds]})
    made = world.create(PODS, "one", template_of("one")["spec"])
    assert dig(made, "spec", "containers", 0, "resources", "limits", "memory") == "64Mi"
    large = template_of("two", container={"resources": {"limits": {"memory": "1Gi"}}})["spec"]
    with pytest.raises(ApiError, match="maximum memory usage per Container is 128Mi, but limit is 1Gi"):
        world.create(PODS, "two", large)


async def test_a_pod_that_no_node_takes_waits_and_is_bound_once_one_does(world: World) -> None:
    world.deployment(replicas=1, pod={"nodeSelector": {"disk": "ssd"}})
    found = await world.until(lambda: [c for pod in world.pods() if (c := condition(pod, "PodScheduled"))])
    assert found[0]["message"].startswith("0/1 nodes are available: 1 node(s) didn't match Pod's node affinity")
    world.store.modify(NODES, "", "node0", lambda copy: copy["metadata"]["labels"].update(disk="ssd"))
    await world.available(count=1)


def volume(name: str, size: str = "1Gi") -> Obj:
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": f"/srv/{name}"}}
    return {"metadata": {"name": name}, "spec": spec}


CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": ""}


async def test_a_claim_binds_the_smallest_volume_that_fits(world: World) -> None:
    for item in (volume("large", "5Gi"), volume("tiny", "1Mi"), volume("right", "2Gi")):
        world.store.create(PERSISTENT_VOLUMES, item)
    world.create(PERSISTENT_VOLUME_CLAIMS, "data", CLAIM)
    await world.until(lambda: dig(world.get(PERSISTENT_VOLUME_CLAIMS, "data"), "status", "phase") == "Bound")
    assert world.get(PERSISTENT_VOLUME_CLAIMS, "data")["spec"]["volumeName"] == "right"
    assert dig(world.store.require(PERSISTENT_VOLUMES, "", "right"), "status", "phase") == "Bound"


async def test_a_pod_waits_for_its_claim_and_finds_what_another_pod_wrote(world: World) -> None:
    mounts = [{"name": "data", "mountPath": "/data"}]
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    writer = {"name": "w", "image": "shop.local/box:1", "command": ["sh", "-c", "echo x > /data/f"]}
    world.create(
        PODS,
        "writer",
        {"restartPolicy": "Never", "containers": [{**writer, "volumeMounts": mounts}], "volumes": volumes},
    )
    await world.until(lambda: world.messages("FailedScheduling"))
    assert world.messages("FailedScheduling") == {
        '0/1 nodes are available: persistentvolumeclaim "data" not found. not found'
    }
    world.store.create(PERSISTENT_VOLUMES, volume("one"))
    world.create(PERSISTENT_VOLUME_CLAIMS, "data", CLAIM)
    await world.until(lambda: dig(world.get(PODS, "writer"), "status", "phase") == "Succeeded")
    env = [{"name": "REQUIRE_FILES", "value": "/data/f"}]
    world.deployment(replicas=1, pod={"container": {"env": env, "volumeMounts": mounts}, "volumes": volumes})
    await world.available(count=1)


async def test_a_claim_in_use_is_kept_until_its_pod_is_gone(world: World) -> None:
    world.store.create(PERSISTENT_VOLUMES, volume("one"))
    world.create(PERSISTENT_VOLUME_CLAIMS, "data", CLAIM)
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    world.deployment(replicas=1, pod={"volumes": volumes})
    await world.available(count=1)
    world.store.delete(PERSISTENT_VOLUME_CLAIMS, "shop", "data")
    assert world.store.get(PERSISTENT_VOLUME_CLAIMS, "shop", "data") is not None
    world.store.delete(DEPLOYMENTS, "shop", "web")
    await world.until(lambda: world.store.get(PERSISTENT_VOLUME_CLAIMS, "shop", "data") is None)
    await world.until(
        lambda: dig(world.store.require(PERSISTENT_VOLUMES, "", "one"), "status", "phase") == "Released"
    )


async def test_a_deleted_owner_takes_everything_below_it_along(world: World) -> None:
    world.deployment()
    await world.available()
    world.store.delete(DEPLOYMENTS, "shop", "web", propagation="Background")
    await world.until(lambda: not world.store.list(REPLICA_SETS, "shop") and not world.pods())


async def test_foreground_deletion_ends_the_dependents_first(world: World) -> None:
    world.deployment()
    await world.available()
    world.store.delete(DEPLOYMENTS, "shop", "web", propagation="Foreground")
    left: list[int] = []

    def is_gone() -> bool:
        gone = world.store.get(DEPLOYMENTS, "shop", "web") is None
        left.append(len(world.pods()) if gone else -1)
        return gone

    await world.until(is_gone)
    assert left[-1] == 0


async def test_orphaned_dependents_stay_without_owner(world: World) -> None:
    world.deployment()
    await world.available()
    world.store.delete(DEPLOYMENTS, "shop", "web", propagation="Orphan")
    await world.until(lambda: world.store.get(DEPLOYMENTS, "shop", "web") is None)
    (left,) = world.store.list(REPLICA_SETS, "shop")
    assert "ownerReferences" not in left["metadata"]
    assert len(world.pods()) == 2


async def test_a_dependent_of_an_owner_that_never_was_is_collected(world: World) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "none", "uid": "no-such-uid"}
    world.create(CONFIG_MAPS, "lost", metadata={"ownerReferences": [owner]})
    await world.until(lambda: world.store.get(CONFIG_MAPS, "shop", "lost") is None)


async def test_a_deleted_namespace_empties_and_goes(world: World) -> None:
    world.deployment()
    world.create(CONFIG_MAPS, "cm", data={"a": "b"})
    await world.available()
    world.store.delete(NAMESPACES, "", "shop")
    assert dig(world.store.require(NAMESPACES, "", "shop"), "status", "phase") == "Terminating"
    await world.until(lambda: world.store.get(NAMESPACES, "", "shop") is None)
    left = [
        name_of(obj) for item in world.store.registry if item.namespaced for obj in world.store.list(item, "shop")
    ]
    assert left == []


async def test_a_stopped_cluster_leaves_no_task() -> None:
    before = asyncio.all_tasks()
    async with Cluster(scale=SCALE) as cluster:
        world = World(cluster)
        world.deployment(pod={"container": {"image": "shop.local/app:typo"}})
        await world.until(lambda: world.messages("BackOff"))
    assert asyncio.all_tasks() <= before
