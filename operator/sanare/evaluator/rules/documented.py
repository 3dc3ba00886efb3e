"""What the namespace itself says about values: the texts that were there before the first attempt. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.api.manifest import items, mapping, text
from sanare.evaluator.ownership import pod_template
from sanare.evaluator.rules.change import Change

# Kubernetes puts this ConfigMap into every namespace; it documents no application.
EVERYWHERE = "kube-root-ca.crt"


def documented(change: Change, *, but: tuple[str, str] = ("", "")) -> str:
    """Every text that was in the namespace before: values and annotations of ConfigMaps and workloads.

    `but` names a ConfigMap and the key of it that says nothing.
    """
    return "\n".join(_texts(change, but))


def _texts(change: Change, but: tuple[str, str]) -> Iterator[str]:
    for item in change.look.snapshot.all("ConfigMap"):
        name = text(item, "metadata", "name")
        if name != EVERYWHERE and not change.is_new("ConfigMap", name):
            yield from (str(value) for key, value in mapping(item, "data").items() if (name, key) != but)
            yield from (str(value) for value in mapping(item, "metadata", "annotations").values())
    scope = {each.object for each in change.then.workloads}
    for name, workload in change.look.owned.workloads.items():
        if name not in scope:
            for container in items(pod_template(workload), "spec", "containers"):
                yield from (text(entry, "value") for entry in items(container, "env"))
    yield change.look.incident.spec.summary


def stands_in(value: str, texts: str) -> bool:
    """Whether a value stands in a text: as a word of its own or, of several words, whatever the white space."""
    if len(value.split()) > 1:
        return "".join(value.split()) in "".join(texts.split())
    return bool(re.search(rf"(?<![\w.-]){re.escape(value.strip())}(?![\w-]|\.\w)", texts))
