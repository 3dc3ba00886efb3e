"""Cluster: the embedded Kubernetes as one thing to start, use and stop."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

import yaml

from sanare_lab.cluster.addresses import Addresses
from sanare_lab.cluster.api.server import ApiServer
from sanare_lab.cluster.clock import Clock
from sanare_lab.cluster.controllers import Controllers
from sanare_lab.cluster.crd import CustomResources
from sanare_lab.cluster.defaults import fill_defaults
from sanare_lab.cluster.faults import Faults
from sanare_lab.cluster.node import DEFAULT_IMAGES, Image, Node
from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.resources import CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, SERVICES
from sanare_lab.cluster.schemas import SchemaBook
from sanare_lab.cluster.store import ApiError, Store
from sanare_lab.cluster.tables import TableBook
from sanare_lab.cluster.validation import validate

_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")


class Cluster:
    """API, controllers and one node in this event loop. `scale` makes waits so many times as short.

    `crds` is a directory of CRD manifests to serve from the start; `port` 0 takes a free one.
    """

    def __init__(
        self,
        *,
        scale: float = 1.0,
        port: int = 0,
        crds: Path | None = None,
        images: Iterable[Image] = DEFAULT_IMAGES,
        faults: Faults | None = None,
    ) -> None:
        self._port = port
        self._crds = crds
        self.faults = faults or Faults()
        self.clock = Clock(scale)
        self.store = Store(self.clock)
        book, tables = SchemaBook(), TableBook(self.clock)
        custom = CustomResources(self.store, book, tables)
        self.store.hooks += [fill_defaults, custom, Addresses(self.store), validate]
        self.controllers = Controllers(self.store, self.clock)
        self.node = Node(self.store, self.clock, images=images)
        self._api = ApiServer(self.store, book, tables, self.node, self.faults)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Serve. Raises OSError where the port is taken, ApiError where a CRD is refused."""
        for name in _NAMESPACES:
            self.store.create(NAMESPACES, {"metadata": {"name": name}})
        for manifest in _manifests(self._crds) if self._crds else ():
            self.store.create(CUSTOM_RESOURCE_DEFINITIONS, manifest)
        await self.controllers.start()
        await self.node.start()
        with contextlib.suppress(ApiError):
            self.store.create(SERVICES, _OWN_SERVICE)
        await self._api.start(self._port)

    async def stop(self) -> None:
        """Stop serving; everything in it is gone."""
        await self._api.stop()
        await self.node.stop()
        await self.controllers.stop()

    async def drop_connections(self) -> None:
        """Cut every connection to the API now, watches too; it goes on serving at the same place."""
        await self._api.restart()

    @property
    def url(self) -> str:
        """Where the API is, once started."""
        return f"http://127.0.0.1:{self._api.port}"

    def kubeconfig(self, namespace: str = "default") -> str:
        """A kubeconfig for it; there are no credentials to hide."""
        context = {"cluster": "embedded", "user": "embedded", "namespace": namespace}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "embedded", "cluster": {"server": self.url}}],
            "users": [{"name": "embedded", "user": {}}],
            "contexts": [{"name": "embedded", "context": context}],
            "current-context": "embedded",
        }
        return str(yaml.safe_dump(config, sort_keys=False))

    def write_kubeconfig(self, path: Path, namespace: str = "default") -> Path:
        """Write the kubeconfig, readable by its owner alone."""
        path.touch(mode=0o600)
        path.write_text(self.kubeconfig(namespace), encoding="utf-8")
        return path


_OWN_SERVICE: Obj = {
    "metadata": {
        "name": "kubernetes",
        "namespace": "default",
        "labels": {"component": "apiserver", "provider": "kubernetes"},
    },
    "spec": {"clusterIP": "10.96.0.1", "ports": [{"name": "https", "port": 443, "targetPort": 6443}]},
}


def _manifests(directory: Path) -> Iterator[Obj]:
    for path in sorted(directory.glob("*.yaml")):
        # the C loader is ten times as fast, and not everywhere
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        yield from (doc for doc in yaml.load_all(path.read_text(encoding="utf-8"), Loader=loader) if doc)
