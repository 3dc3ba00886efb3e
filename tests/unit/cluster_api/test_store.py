"""The store: versions, finalizers, graceful deletion, and what subscribers are told."""

from __future__ import annotations

from typing import Any

import pytest

from sanare_lab.cluster.clock import Clock
from sanare_lab.cluster.errors import ApiError
from sanare_lab.cluster.resources import CONFIG_MAPS, DEPLOYMENTS, NAMESPACES, PODS, ResourceType
from sanare_lab.cluster.store import Store


@pytest.fixture
def store() -> Store:
    """A store with one namespace."""
    store = Store(Clock(), history=5)
    store.create(NAMESPACES, {"metadata": {"name": "shop"}})
    return store


def _config_map(name: str = "a", **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "shop", **more}, "data": {"k": "v"}}


def _version(obj: dict[str, Any]) -> int:
    return int(obj["metadata"]["resourceVersion"])


def test_every_change_has_a_higher_version_than_the_one_before(store: Store) -> None:
    first = store.create(CONFIG_MAPS, _config_map("a"))
    second = store.create(CONFIG_MAPS, _config_map("b"))
    changed = store.modify(CONFIG_MAPS, "shop", "a", lambda obj: obj["data"].update(k="w"))
    assert changed is not None
    assert _version(first) < _version(second) < _version(changed)


def test_a_change_that_changes_nothing_keeps_the_version(store: Store) -> None:
    made = store.create(CONFIG_MAPS, _config_map())
    assert store.modify(CONFIG_MAPS, "shop", "a", lambda obj: obj["data"].update(k="v")) is made


def test_a_stale_version_is_refused_and_none_is_taken(store: Store) -> None:
    made = store.create(CONFIG_MAPS, _config_map())
    store.modify(CONFIG_MAPS, "shop", "a", lambda obj: obj["data"].update(k="w"))
    with pytest.raises(ApiError) as refused:
        store.update(CONFIG_MAPS, {**made, "data": {"k": "x"}})
    assert (refused.value.status, refused.value.reason) == (409, "Conflict")
    assert store.update(CONFIG_MAPS, _config_map())["data"] == {"k": "v"}


def test_what_is_equal_is_shared_between_versions(store: Store) -> None:
    made = store.create(DEPLOYMENTS, {**_config_map(), "spec": {"replicas": 1}})
    changed = store.modify(DEPLOYMENTS, "shop", "a", lambda obj: obj["metadata"].update(labels={"a": "b"}))
    assert changed is not None
    assert changed["spec"] is made["spec"]
    assert changed["metadata"]["generation"] == 1


SUBRESOURCES = [
    ("", {"spec": {"replicas": 2}, "status": {"replicas": 1}}),
    ("status", {"spec": {"replicas": 1}, "status": {"replicas": 9}}),
    ("*", {"spec": {"replicas": 2}, "status": {"replicas": 9}}),
]


@pytest.mark.parametrize(("subresource", "expected"), SUBRESOURCES, ids=["object", "status", "everything"])
def test_a_subresource_says_which_part_counts(store: Store, subresource: str, expected: dict[str, Any]) -> None:
    body = {**_config_map(), "spec": {"replicas": 1}, "status": {"replicas": 1}}
    store.create(DEPLOYMENTS, body)
    changed = store.update(
        DEPLOYMENTS, {**body, "spec": {"replicas": 2}, "status": {"replicas": 9}}, subresource=subresource
    )
    assert {key: changed[key] for key in ("spec", "status")} == expected


def test_the_last_finalizer_lets_an_object_go(store: Store) -> None:
    store.create(CONFIG_MAPS, _config_map(finalizers=["a.dev/x"]))
    marked = store.delete(CONFIG_MAPS, "shop", "a")
    assert marked["metadata"]["deletionTimestamp"]
    assert store.get(CONFIG_MAPS, "shop", "a") is not None
    store.modify(CONFIG_MAPS, "shop", "a", lambda obj: obj["metadata"].pop("finalizers"))
    assert store.get(CONFIG_MAPS, "shop", "a") is None


PROPAGATIONS = [("Foreground", ["foregroundDeletion"]), ("Orphan", ["orphan"])]


@pytest.mark.parametrize(("propagation", "finalizers"), PROPAGATIONS)
def test_a_propagation_becomes_a_finalizer(store: Store, propagation: str, finalizers: list[str]) -> None:
    store.create(CONFIG_MAPS, _config_map())
    assert store.delete(CONFIG_MAPS, "shop", "a", propagation=propagation)["metadata"]["finalizers"] == finalizers


PODS_TO_DELETE: list[tuple[str, dict[str, Any], int | None, bool]] = [
    ("bound", {"spec": {"nodeName": "n"}}, None, True),
    ("unbound", {"spec": {}}, None, False),
    ("forced", {"spec": {"nodeName": "n"}}, 0, False),
    ("done", {"spec": {"nodeName": "n"}, "status": {"phase": "Succeeded"}}, None, False),
]


@pytest.mark.parametrize(
    ("pod", "grace", "stays"), [row[1:] for row in PODS_TO_DELETE], ids=[row[0] for row in PODS_TO_DELETE]
)
def test_a_pod_on_a_node_ends_gracefully(store: Store, pod: dict[str, Any], grace: int | None, stays: bool) -> None:
    store.create(PODS, {**_config_map(), **pod})
    store.delete(PODS, "shop", "a", grace_seconds=grace)
    assert (store.get(PODS, "shop", "a") is not None) is stays
    store.remove(PODS, "shop", "a")
    assert store.get(PODS, "shop", "a") is None


def test_a_namespace_that_ends_takes_nothing_new_and_is_removed_last(store: Store) -> None:
    assert store.delete(NAMESPACES, "", "shop")["status"] == {"phase": "Terminating"}
    with pytest.raises(ApiError, match="because it is being terminated"):
        store.create(CONFIG_MAPS, _config_map())
    store.remove(NAMESPACES, "", "shop")
    with pytest.raises(ApiError, match='namespaces "shop" not found'):
        store.create(CONFIG_MAPS, _config_map())


def test_hooks_change_and_refuse(store: Store) -> None:
    def hook(verb: str, resource: ResourceType, old: object, new: dict[str, Any] | None) -> dict[str, Any] | None:
        if new and new["metadata"]["name"] == "bad":
            raise ApiError(403, "Forbidden", "no")
        return {**new, "data": {"by": "hook"}} if new else None

    store.hooks.append(hook)
    assert store.create(CONFIG_MAPS, _config_map())["data"] == {"by": "hook"}
    with pytest.raises(ApiError, match="no"):
        store.create(CONFIG_MAPS, _config_map("bad"))
    assert store.get(CONFIG_MAPS, "shop", "bad") is None


def test_a_dry_run_stores_nothing_and_tells_nobody(store: Store) -> None:
    with store.subscribe() as subscription:
        made = store.create(CONFIG_MAPS, _config_map(), dry_run=True)
        assert made["metadata"]["uid"]
        assert store.list(CONFIG_MAPS) == []
        assert subscription.waiting() == []


def test_subscribers_hear_of_their_kinds_in_order(store: Store) -> None:
    with store.subscribe(CONFIG_MAPS) as some, store.subscribe() as everything:
        store.create(CONFIG_MAPS, _config_map())
        store.create(PODS, {**_config_map("p"), "spec": {}})
        store.modify(CONFIG_MAPS, "shop", "a", lambda obj: obj["data"].update(k="w"))
        store.delete(CONFIG_MAPS, "shop", "a")
        assert [change.type for change in some.waiting()] == ["ADDED", "MODIFIED", "DELETED"]
        assert [change.resource.kind for change in everything.waiting()] == [
            "ConfigMap",
            "Pod",
            "ConfigMap",
            "ConfigMap",
        ]
    store.create(CONFIG_MAPS, _config_map("later"))
    assert some.waiting() == []


def test_history_is_bounded_and_says_what_it_forgot(store: Store) -> None:
    first = store.create(CONFIG_MAPS, _config_map())
    for number in range(5):
        store.modify(CONFIG_MAPS, "shop", "a", lambda obj, n=number: obj["data"].update(k=str(n)))  # type: ignore[misc]
    assert not store.log.is_too_old(CONFIG_MAPS, _version(first))
    assert len(list(store.log.since(CONFIG_MAPS, _version(first)))) == 5
    store.modify(CONFIG_MAPS, "shop", "a", lambda obj: obj["data"].update(k="last"))
    assert store.log.is_too_old(CONFIG_MAPS, _version(first))
    store.log.forget()
    assert store.log.is_too_old(CONFIG_MAPS, int(store.resource_version) - 1)


def test_versions_of_a_cluster_before_are_too_old(store: Store) -> None:
    assert store.log.is_too_old(CONFIG_MAPS, 1)
