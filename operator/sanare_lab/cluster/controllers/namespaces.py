"""Namespaces: one that is being deleted loses its content, and then itself."""

from __future__ import annotations

from collections.abc import Iterable

from sanare_lab.cluster.controllers.controller import Controller, Key, is_going, key_of
from sanare_lab.cluster.objects import name_of, namespace_of
from sanare_lab.cluster.resources import NAMESPACES
from sanare_lab.cluster.store import Change

_AGAIN = 2.0


class NamespaceController(Controller):
    """Deletes everything in it in the background, and waits for what takes its time."""

    component = "namespace-controller"
    watches = (NAMESPACES,)

    def keys(self, change: Change) -> Iterable[Key]:
        """The namespace."""
        yield "", name_of(change.object)

    def reconcile(self, key: Key) -> float | None:
        """Delete what is left; the namespace where nothing is."""
        namespace = self.store.get(NAMESPACES, *key)
        if namespace is None or not is_going(namespace):
            return None
        left = 0
        for resource in {item.key: item for item in self.store.registry if item.namespaced}.values():
            for obj in self.store.list(resource, key[1]):
                if not is_going(obj):
                    self.store.delete(resource, *key_of(obj), propagation="Background")
                left += self.store.get(resource, namespace_of(obj), name_of(obj)) is not None
        if left:
            return _AGAIN
        self.store.remove(NAMESPACES, *key)
        return None
