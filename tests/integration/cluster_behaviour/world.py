"""A running embedded cluster for tests: short ways to say what is in it, and to wait for what becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from sanare_lab.cluster.cluster import Cluster
from sanare_lab.cluster.node import Image
from sanare_lab.cluster.objects import Obj, dig, labels_of
from sanare_lab.cluster.resources import DEPLOYMENTS, EVENTS, NAMESPACES, PODS, SERVICES, ResourceType

T = TypeVar("T")
SCALE = 60.0
IMAGES = (
    Image("shop.local/app:1"),
    Image("shop.local/app:2"),
    Image("shop.local/box:1", kind="shell", entrypoint=()),
)
_PATIENCE = 30.0  # wall seconds until a test gives up


class World:
    """One namespace of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.store = cluster.store
        self.store.create(NAMESPACES, {"metadata": {"name": "shop"}})

    def create(self, resource: ResourceType, name: str, spec: Obj | None = None, **rest: object) -> Obj:
        """An object in the namespace."""
        metadata = {"name": name, "namespace": "shop", **dict(rest.pop("metadata", {}))}  # type: ignore[call-overload]
        return self.store.create(resource, {"metadata": metadata, **({"spec": spec} if spec else {}), **rest})

    def deployment(self, name: str = "web", *, replicas: int = 2, **spec: object) -> Obj:
        """A Deployment of the app, labelled by its name."""
        template = template_of(name, **dict(spec.pop("pod", {})))  # type: ignore[call-overload]
        full = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template, **spec}
        return self.create(DEPLOYMENTS, name, full)

    def service(self, name: str = "web", target: object = 8080, **spec: object) -> Obj:
        """A Service for the Deployment of that name."""
        ports = [{"port": 80, "targetPort": target}]
        return self.create(SERVICES, name, {"selector": {"app": name}, "ports": ports, **spec})

    def pods(self, app: str = "web") -> list[Obj]:
        """The pods labelled so."""
        return [pod for pod in self.store.list(PODS, "shop") if labels_of(pod).get("app") == app]

    def get(self, resource: ResourceType, name: str) -> Obj:
        """An object that is there."""
        return self.store.require(resource, "shop", name)

    def change(self, resource: ResourceType, name: str, change: Callable[[Obj], object]) -> None:
        """Change an object in place."""
        assert self.store.modify(resource, "shop", name, change) is not None

    def messages(self, reason: str) -> set[str]:
        """The messages of events with that reason."""
        return {event["message"] for event in self.store.list(EVENTS, "shop") if event["reason"] == reason}

    async def until(self, found: Callable[[], T]) -> T:
        """The first true answer, looked for after each change. Raises TimeoutError."""
        with self.store.subscribe() as changes:
            async with asyncio.timeout(_PATIENCE):
                while not (answer := found()):
                    await changes.get()
                return answer

    async def available(self, name: str = "web", count: int = 2) -> None:
        """Wait until so many pods of a Deployment are available, all of them new."""

        def is_done() -> bool:
            found = self.get(DEPLOYMENTS, name)
            status = found.get("status") or {}
            numbers = {status.get(field, 0) for field in ("replicas", "updatedReplicas", "availableReplicas")}
            return numbers == {count} and status.get("observedGeneration") == found["metadata"]["generation"]

        await self.until(is_done)


def template_of(name: str, **spec: object) -> Obj:
    """A pod template of the app."""
    container = {
        "name": "app",
        "image": "shop.local/app:1",
        "ports": [{"name": "http", "containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 8080}, "periodSeconds": 2},
        **dict(spec.pop("container", {})),  # type: ignore[call-overload]
    }
    said = {key: value for key, value in container.items() if value is not None}
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": [said], **spec}}


def condition(obj: Obj, kind: str) -> Obj:
    """A status condition, empty where there is none."""
    return next((item for item in dig(obj, "status", "conditions") or [] if item["type"] == kind), {})


def set_image(obj: Obj, image: str) -> None:
    """Give a workload's first container another image."""
    obj["spec"]["template"]["spec"]["containers"][0]["image"] = image
