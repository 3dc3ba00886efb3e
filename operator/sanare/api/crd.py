"""The CustomResourceDefinitions, made from the models. Pure; `write.py` writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from sanare.api.incident import IncidentSpec
from sanare.api.model import GROUP, VERSION, Model
from sanare.api.policy import PolicySpec
from sanare.api.record import RecordSpec
from sanare.api.schema import structural
from sanare.api.status import IncidentStatus

_HEADER = "# Made by `make crds` from the models in operator/sanare/api. Change those, not this file.\n"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`; a wide one shows with `-o wide` alone."""

    name: str
    path: str
    type: str = "string"
    description: str = ""
    wide: bool = False

    def wire(self) -> dict[str, Any]:
        """As additionalPrinterColumns has it."""
        stated = {"name": self.name, "type": self.type, "jsonPath": self.path, "description": self.description}
        return {key: value for key, value in stated.items() if value} | ({"priority": 1} if self.wide else {})


@dataclass(frozen=True, slots=True)
class Definition:
    """What a CRD says beyond the schema of its models."""

    kind: str
    plural: str
    short: str
    description: str
    spec: type[Model]
    columns: tuple[Column, ...]
    status: type[Model] | None = None
    rules: tuple[tuple[str, str], ...] = ()


_AGE = Column("Age", ".metadata.creationTimestamp", "date")

DEFINITIONS = (
    Definition(
        kind="Incident",
        plural="incidents",
        short="inc",
        description="Something that is broken, from the alert to the verdict on its repair.",
        spec=IncidentSpec,
        status=IncidentStatus,
        rules=(
            (
                "self.metadata.name.size() <= 200",
                "the name is at most 200 characters, so that its records have room",
            ),
        ),
        columns=(
            Column("Phase", ".status.phase", description="Where the Incident stands"),
            Column("Outcome", ".status.outcome", description="How it ended"),
            Column("Severity", ".spec.severity", description="How bad it is"),
            Column("Target", ".status.target", description="The first target"),
            Column("Tier", ".status.tier", description="The step of the ladder"),
            Column("Attempts", ".status.attemptCount", "integer", "How many attempts there have been"),
            Column("Alert", ".spec.source.alertName", description="The alert's name", wide=True),
            Column("Reason", ".status.verdict.reason", description="The evaluator's last reason", wide=True),
            Column("Progress", ".status.verdict.progress.share", description="Faults repaired, of all", wide=True),
            Column("Cost", ".status.usage.costUSD", "number", "US dollars spent on model calls", wide=True),
            Column("Approver", ".status.approver", description="Who decided on the last proposal", wide=True),
            _AGE,
        ),
    ),
    Definition(
        kind="RemediationPolicy",
        plural="remediationpolicies",
        short="rpol",
        description="What may be done about the Incidents that name it, in which order, at what price.",
        spec=PolicySpec,
        columns=(
            Column("Mode", ".spec.mode", description="Enforce, Propose or Observe"),
            Column("Ladder", ".spec.ladder[*].tier", description="The steps, in order"),
            Column("Budget", ".spec.budget.attempts", "integer", "Retries of one Incident"),
            Column("Rollback", ".spec.rollback", description="What becomes of a failed attempt", wide=True),
            _AGE,
        ),
    ),
    Definition(
        kind="IncidentRecord",
        plural="incidentrecords",
        short="increc",
        description="A piece of an Incident's record, owned by it. Written once.",
        spec=RecordSpec,
        columns=(
            Column("Incident", ".spec.incident", description="The Incident it belongs to"),
            Column("Type", ".spec.type", description="What it holds"),
            Column("Part", ".spec.part", "integer", "Its position among its type"),
            _AGE,
        ),
    ),
)


def crd(definition: Definition) -> dict[str, Any]:
    """The CustomResourceDefinition as the API server takes it."""
    version: dict[str, Any] = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [column.wire() for column in definition.columns],
        "schema": {"openAPIV3Schema": _root(definition)},
    }
    if definition.status:
        version["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{definition.plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": definition.kind,
                "listKind": f"{definition.kind}List",
                "plural": definition.plural,
                "singular": definition.kind.lower(),
                "shortNames": [definition.short],
            },
            "versions": [version],
        },
    }


def _root(definition: Definition) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "apiVersion": {"type": "string", "description": f"{GROUP}/{VERSION}"},
        "kind": {"type": "string", "description": definition.kind},
        "metadata": {"type": "object"},  # the API server knows it, and allows nothing more here
        "spec": structural(definition.spec, defaults=True),
    }
    if definition.status:
        properties["status"] = structural(definition.status, defaults=False)
    root: dict[str, Any] = {
        "type": "object",
        "description": definition.description,
        "required": ["spec"],
        "properties": properties,
    }
    if definition.rules:
        root["x-kubernetes-validations"] = [{"rule": rule, "message": text} for rule, text in definition.rules]
    return root


def rendered() -> Iterator[tuple[str, str]]:
    """File name and YAML text of each definition."""
    for definition in DEFINITIONS:
        unshared = json.loads(json.dumps(crd(definition)))  # a value used twice would become a YAML anchor
        text = yaml.safe_dump(unshared, sort_keys=False, width=116, allow_unicode=True)
        yield f"{definition.plural}.{GROUP}.yaml", _HEADER + text


def policy_values(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A policy's schema as values.schema.json has it: unknown fields refused, no Kubernetes extensions."""
    kept = {key: value for key, value in schema.items() if not key.startswith("x-") and key != "format"}
    if "properties" in schema:
        kept["properties"] = {name: policy_values(child) for name, child in schema["properties"].items()}
        kept["additionalProperties"] = False
    if "items" in schema:
        kept["items"] = policy_values(schema["items"])
    return kept
