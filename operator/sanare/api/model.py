"""The base of every API model: camelCase on the wire, frozen in memory, unknown fields ignored.

The models are the one source of the CRDs (`crd.py`): types, bounds and defaults from the fields, descriptions from
the text below each field, and what only the API server can hold (transitions, relations of fields) from `rules`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel

GROUP = "sanare.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"

# Unknown fields are ignored on reading: an older operator must be able to read what a newer one wrote.
WIRE = ConfigDict(
    alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore", use_attribute_docstrings=True
)


def to_rfc3339(moment: datetime) -> str:
    """Kubernetes' time format: UTC, whole seconds, `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def rules(*pairs: tuple[str, str]) -> dict[str, Any]:
    """CEL rules for the API server, each with the message that a refused writer reads; for `json_schema_extra`."""
    return {"x-kubernetes-validations": [{"rule": rule, "message": message} for rule, message in pairs]}


INT_OR_STRING: dict[str, JsonValue] = {"x-kubernetes-int-or-string": True}

Time = Annotated[
    datetime,
    PlainSerializer(to_rfc3339, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
Name = Annotated[str, StringConstraints(min_length=1, max_length=253)]
PortName = Annotated[  # of a port, or its number, which people write without quotes
    str,
    BeforeValidator(lambda port: str(port) if type(port) is int else port),
    Field(json_schema_extra=INT_OR_STRING),
]
ObjectName = Annotated[str, StringConstraints(max_length=320)]  # Kind/name


class Model(BaseModel):
    """A frozen value that reads and writes the API's JSON."""

    model_config = WIRE

    @classmethod
    def parse(cls, data: object) -> Self:
        """Read the wire form. Raises pydantic.ValidationError naming the field."""
        return cls.model_validate(data)

    def wire(self) -> dict[str, Any]:
        """The wire form: camelCase, unset and null fields left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
