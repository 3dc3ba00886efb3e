"""Services of type ExternalName that select pods: an alias where a way to the pods was meant."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.manifest import Ref, items, text
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View


def service_aliases(view: View) -> Iterator[Finding]:
    """Services of the incident that send their clients elsewhere although they select pods and name their ports."""
    for service in view.services:
        behind = view.behind(service)
        if text(service, "spec", "type") != "ExternalName" or not behind or not items(service, "spec", "ports"):
            continue
        alias = text(service, "spec", "externalName")
        command = patch(
            Ref.of(service),
            Change(("spec", "type"), "ExternalName", "ClusterIP"),
            Change(("spec", "externalName"), alias, None),
        )
        evidence = f"it selects the pods of {behind[0].ref} and names their port"
        yield Finding(
            kind="ServiceIsAlias",
            ref=Ref.of(service),
            field="spec.type",
            observed=f"ExternalName of {alias}",
            expected="a type that leads to the pods it selects",
            confidence=Confidence.HIGH,
            candidates=(Candidate("ClusterIP", evidence, (command,)),),
        )
