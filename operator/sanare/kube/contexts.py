"""The namespace that a kubeconfig's context names, as kubectl takes it where `-n` is left out."""

from __future__ import annotations

import yaml
from kubernetes.aio import config as kubernetes_config

from sanare.api.manifest import text

FALLBACK = "default"

# What the client library raises for a kubeconfig that is missing, no YAML, or of another form.
UNREADABLE = (
    kubernetes_config.ConfigException, OSError, ValueError, TypeError, AttributeError, KeyError, yaml.YAMLError,
)  # fmt: skip


def namespace_of_context(kubeconfig: str | None, context: str | None) -> str:
    """The namespace of the named context, of the current one where none is named.

    `default` where the context names none, and where there is no kubeconfig to read: whoever connects is told then.
    """
    try:
        contexts, current = kubernetes_config.list_kube_config_contexts(kubeconfig)
    except UNREADABLE:
        return FALLBACK
    chosen = next((known for known in contexts if text(known, "name") == context), None) if context else current
    return text(chosen, "context", "namespace") or FALLBACK
