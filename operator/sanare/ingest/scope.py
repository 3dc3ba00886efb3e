"""Which namespaces an alert may open an Incident in: what the administrator configured, never the alert."""

from __future__ import annotations

from dataclasses import dataclass

from sanare.settings import Settings


@dataclass(frozen=True, slots=True)
class Scope:
    """The namespaces that are watched (empty: all but Kubernetes' own), and the operator's own, which never is."""

    own: str
    watched: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Settings) -> Scope:
        """The scope that the settings describe."""
        return cls(own=settings.namespace, watched=settings.watch_namespaces)

    def refusal(self, namespace: str) -> str:
        """Why the namespace is out of scope; empty where it is in scope."""
        if namespace == self.own:
            return f"namespace {namespace} is the operator's own"
        if self.watched:
            return "" if namespace in self.watched else f"namespace {namespace} is not watched"
        return f"namespace {namespace} is Kubernetes' own" if namespace.startswith("kube-") else ""
