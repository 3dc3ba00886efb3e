"""IncidentRecord: a bounded, owned piece of what a status has no room for: audit entries, baseline, journal."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import ConfigDict, Field

from sanare.api.incident import ObjectMeta
from sanare.api.model import API_VERSION, Model, rules

RecordType: TypeAlias = Literal["Audit", "Baseline", "Journal", "AlertEnd"]


class RecordSpec(Model):
    """`part` numbers the pieces of one type from 0; `data` is JSON text of at most 64 KiB."""

    model_config = ConfigDict(json_schema_extra=rules(("self == oldSelf", "a record is written once")))

    type: RecordType
    """Audit for entries of the audit chain, Baseline for what the scope looked like before the
    first attempt, Journal for the writes of an attempt in full, AlertEnd for when the alert ended."""
    incident: str = Field(max_length=253)
    """Name of the Incident that the piece belongs to."""
    part: int = Field(ge=0, le=4095)
    """Position of the piece among those of its type, from 0."""
    data: str = Field(max_length=65536)
    """The piece itself: JSON text."""


class IncidentRecord(Model):
    """A piece of an Incident's record; deleted with the Incident that owns it."""

    api_version: str = API_VERSION
    kind: Literal["IncidentRecord"] = "IncidentRecord"
    metadata: ObjectMeta
    spec: RecordSpec
