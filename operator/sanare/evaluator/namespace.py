"""Whether the namespace that is to be looked at is there: lists of an absent one are empty, not refused."""

from __future__ import annotations

from sanare import errors
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND


async def refuse_missing_namespace(kube: KubeClient, namespace: str) -> None:
    """Raise InvalidIncident for a namespace that does not exist.

    Any other error passes: namespaces may not be readable, and an API server that fails is told by the lists.
    """
    try:
        await kube.get(BY_KIND["Namespace"], "", namespace)
    except errors.NotFound as error:
        raise errors.InvalidIncident("NamespaceGone", f"namespace {namespace} does not exist") from error
    except errors.KubeError:
        return
