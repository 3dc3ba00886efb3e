"""Evicting a pod: a deletion that the API server holds to every PodDisruptionBudget."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sanare.api.manifest import text
from sanare.kube.client import KubeClient, RawAnswer, kube_error
from sanare.kube.resources import BY_KIND
from sanare.text import one_line

_GATEWAY = (502, 503, 504)  # nobody can say whether the pod was evicted


class EvictionEnd(StrEnum):
    """What became of an eviction."""

    EVICTED = "Evicted"
    GONE = "Gone"  # that very pod does not exist any more
    BLOCKED = "Blocked"  # a budget, a right or the API server's own trouble is in the way


@dataclass(frozen=True, slots=True)
class Eviction:
    """The end of one eviction, in the API server's words, with the HTTP status."""

    end: EvictionEnd
    status: int
    message: str = ""


def eviction_path(namespace: str, pod: str) -> str:
    """The path that an eviction is posted to."""
    return BY_KIND["Pod"].path(namespace, pod, "eviction")


async def evict(kube: KubeClient, namespace: str, pod: str, *, uid: str, impersonate: str = "") -> Eviction:
    """Evict this very pod, as `impersonate` where given. Raises Unreachable where the end of it is not known."""
    path = eviction_path(namespace, pod)
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod, "namespace": namespace},
        "deleteOptions": {"preconditions": {"uid": uid}},
    }
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    headers |= {"Impersonate-User": impersonate} if impersonate else {}
    answer = await kube.raw("POST", path, body=body, headers=headers)
    if answer.status in _GATEWAY:
        raise kube_error(answer.status, answer.body, what=f"POST {path}")
    return Eviction(_end(answer), answer.status, "" if answer.ok else _words(answer, pod, impersonate))


def _end(answer: RawAnswer) -> EvictionEnd:
    if answer.ok:
        return EvictionEnd.EVICTED
    return EvictionEnd.GONE if answer.status in (404, 409) else EvictionEnd.BLOCKED


def _words(answer: RawAnswer, pod: str, impersonate: str) -> str:
    said = one_line(text(answer.manifest(), "message") or f"HTTP {answer.status}", 300)
    if answer.status in (401, 403):
        who = impersonate or "the operator's account"
        return f"{who} may not evict pods ({said}); give it the verb create on pods/eviction"
    return f"pod {pod} may not be evicted now: {said}"
