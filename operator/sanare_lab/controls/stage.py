"""Stage: a namespace of its own for one control, the broken form in it, and looks at what happens there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sanare.api.manifest import labels, text
from sanare.errors import NotFound, SanareError, ToolError
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND
from sanare.text import one_line
from sanare_lab.app.catalogue import REGISTRY
from sanare_lab.controls.symptom import Scene
from sanare_lab.controls.terminal import Terminal, fill
from sanare_lab.scenarios.scenario import Function, Scenario

_SEEN = ("Pod", "Deployment", "StatefulSet", "DaemonSet", "Service", "EndpointSlice", "ConfigMap", "Event")
_LOOK_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class Stage:
    """One namespace and what a control needs to act in it.

    Attributes:
        nonce: what the app of this run answers, unknown to any other.
    """

    client: KubeClient
    terminal: Terminal
    namespace: str
    nonce: str

    async def deploy(self, scenario: Scenario, *, registry: str = REGISTRY) -> None:
        """Create the broken form, as revision 1. Raises ToolError where the cluster refuses it."""
        manifests = fill(scenario.broken, {"NONCE": self.nonce}).replace(REGISTRY, registry)
        code, output = await self.terminal.run(["apply", "-f", "-"], stdin=manifests)
        if code:
            raise ToolError(f"the broken form was refused: {one_line(output, 400)}")

    async def answers(self, function: Function) -> bool:
        """Whether requests from outside the pod, through the Service, are all answered with the nonce."""
        for _ in range(function.times):
            if not await self._answers_once(function):
                return False
        return True

    async def _answers_once(self, function: Function) -> bool:
        service = f"{function.service}:{function.port}"
        path = f"{BY_KIND['Service'].path(self.namespace, service, 'proxy')}{function.path}"
        try:
            answer = await self.client.raw("GET", path, timeout=5.0, limit=4096)
        except SanareError:
            return False
        return answer.status == 200 and answer.body.decode("utf-8", "replace").strip() == self.nonce

    async def look(self, function: Function) -> Scene:
        """The namespace as it is now. Raises KubeError."""
        listed = await asyncio.gather(*(self.client.list(BY_KIND[kind], self.namespace) for kind in _SEEN))
        objects = {kind: found.items for kind, found in zip(_SEEN, listed, strict=True)}
        return Scene(objects, await self.answers(function))

    async def until(self, function: Function, holds: Callable[[Scene], bool], *, seconds: float) -> bool:
        """Look until the condition holds; False when it does not within the seconds."""
        try:
            async with asyncio.timeout(seconds):
                async for scene in self._looks(function):
                    if holds(scene):
                        return True
        except TimeoutError:
            pass
        return False

    async def _looks(self, function: Function) -> AsyncIterator[Scene]:
        while True:
            yield await self.look(function)
            await asyncio.sleep(_LOOK_EVERY)

    async def delete_one_pod(self, scenario: Scenario) -> str:
        """Delete one pod behind the scenario's Service; its uid, or an empty string where there is none."""
        scene = await self.look(scenario.function)
        for slice_ in scene.all("EndpointSlice"):
            if labels(slice_).get("kubernetes.io/service-name") == scenario.function.service:
                for endpoint in slice_.get("endpoints") or ():
                    name = text(endpoint, "targetRef", "name")
                    await self.client.delete(BY_KIND["Pod"], self.namespace, name)
                    return text(endpoint, "targetRef", "uid")
        return ""


@asynccontextmanager
async def staged(
    client: KubeClient, *, namespace: str, nonce: str, kubectl: str, kubeconfig: str | None = None
) -> AsyncIterator[Stage]:
    """A fresh namespace, deleted afterwards whatever happens, and with it the volumes that carry its nonce."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    await client.create(BY_KIND["Namespace"], "", body)
    try:
        yield Stage(client, Terminal(namespace, kubectl=kubectl, kubeconfig=kubeconfig), namespace, nonce)
    finally:
        await _delete(client, namespace)
        await _delete_volumes(client, nonce)


async def _delete(client: KubeClient, namespace: str) -> None:
    try:
        await client.delete(BY_KIND["Namespace"], "", namespace)
    except NotFound:
        return


async def _delete_volumes(client: KubeClient, nonce: str) -> None:
    """PersistentVolumes belong to no namespace, so those of a run have its nonce at the end of their names."""
    listed = await client.list(BY_KIND["PersistentVolume"], "")
    for name in (text(item, "metadata", "name") for item in listed.items):
        if name.endswith(nonce):
            await client.delete(BY_KIND["PersistentVolume"], "", name)
