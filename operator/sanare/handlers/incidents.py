"""The informer: every watch event of an Incident makes its key due. kopf persists nothing on the object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import kopf

from sanare.api.model import GROUP, VERSION
from sanare.kube.client import KubeClient
from sanare.reconcile.queue import Key


def informer(kube: KubeClient, changed: Callable[[Key], object]) -> kopf.OperatorRegistry:
    """A registry with the login and the one event handler; `changed` is called in kopf's thread."""
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    async def login(**_: Any) -> kopf.ConnectionInfo:
        credentials = await kube.credentials()
        return kopf.ConnectionInfo(
            server=credentials.server,
            ca_path=credentials.ca_path,
            insecure=credentials.insecure,
            certificate_path=credentials.certificate_path,
            private_key_path=credentials.key_path,
            scheme="Bearer",
            token=credentials.token,
        )

    @kopf.on.event(GROUP, VERSION, "incidents", registry=registry)
    async def incident_changed(*, namespace: str | None, name: str, **_: Any) -> None:
        if namespace is not None:
            changed(Key(namespace, name))

    return registry


def informer_settings() -> kopf.OperatorSettings:
    """kopf as informer alone: no scanning, no peering, no events of its own, bounded retries and reconnects."""
    settings = kopf.OperatorSettings()
    settings.scanning.disabled = True
    settings.peering.standalone = True
    settings.posting.enabled = False
    settings.watching.server_timeout = 600
    settings.watching.connect_timeout = 10
    settings.networking.error_backoffs = [1, 2, 4]
    return settings
