"""Accounts: what every namespace is given: a default ServiceAccount, and a ConfigMap for the root certificate."""

from __future__ import annotations

from collections.abc import Iterable

from sanare_lab.cluster.controllers.controller import Controller, Key, is_going
from sanare_lab.cluster.objects import name_of, namespace_of
from sanare_lab.cluster.resources import CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS
from sanare_lab.cluster.store import Change

ROOT_CA = "kube-root-ca.crt"


class AccountController(Controller):
    """Makes both again where they were deleted."""

    component = "serviceaccount-controller"
    watches = (NAMESPACES, SERVICE_ACCOUNTS, CONFIG_MAPS)

    def keys(self, change: Change) -> Iterable[Key]:
        """The namespace, also when one of the two went."""
        if change.resource is NAMESPACES:
            yield "", name_of(change.object)
        elif change.type == "DELETED" and name_of(change.object) in ("default", ROOT_CA):
            yield "", namespace_of(change.object)

    def reconcile(self, key: Key) -> float | None:
        """Create what is missing."""
        namespace = self.store.get(NAMESPACES, *key)
        if namespace is None or is_going(namespace):
            return None
        if self.store.get(SERVICE_ACCOUNTS, key[1], "default") is None:
            self.store.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default", "namespace": key[1]}})
        if self.store.get(CONFIG_MAPS, key[1], ROOT_CA) is None:
            metadata = {"name": ROOT_CA, "namespace": key[1]}
            self.store.create(CONFIG_MAPS, {"metadata": metadata, "data": {"ca.crt": ""}})
        return None
