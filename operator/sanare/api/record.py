"""IncidentRecord: a bounded, owned piece of what an Incident's status has no room for (audit entries, baseline)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sanare.api.incident import ObjectMeta
from sanare.api.model import API_VERSION, Model


class RecordSpec(Model):
    """`part` numbers the pieces of one type from 0; `data` is JSON text of at most 64 KiB."""

    type: Literal["Audit", "Baseline"]
    incident: str = Field(max_length=253)
    part: int = Field(ge=0, le=63)
    data: str = Field(max_length=65536)


class IncidentRecord(Model):
    """A piece of an Incident's record; deleted with the Incident that owns it."""

    api_version: str = API_VERSION
    kind: Literal["IncidentRecord"] = "IncidentRecord"
    metadata: ObjectMeta
    spec: RecordSpec
