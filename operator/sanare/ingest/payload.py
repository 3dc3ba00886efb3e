"""Alertmanager's webhook payload, version 4, as far as it is read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

_Text = Annotated[str, Field(max_length=65536)]
_Pairs = Annotated[dict[Annotated[str, Field(max_length=1024)], _Text], Field(max_length=256)]

_UNSET = datetime(1970, 1, 1, tzinfo=UTC)  # Go's zero time, year 1, is what an alert without an end carries


class _Payload(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, frozen=True, extra="ignore")


class Alert(_Payload):
    """One alert. `fingerprint` is Alertmanager's hash of the labels."""

    status: Literal["firing", "resolved"]
    labels: _Pairs = Field(default_factory=dict)
    annotations: _Pairs = Field(default_factory=dict)
    starts_at: AwareDatetime
    ends_at: AwareDatetime | None = None
    fingerprint: str = Field(min_length=1, max_length=64)

    @property
    def name(self) -> str:
        """The label `alertname`."""
        return self.labels.get("alertname", "")

    def end(self, now: datetime) -> datetime:
        """When it ended, as far as it says."""
        return self.ends_at if self.ends_at is not None and _UNSET < self.ends_at <= now else now

    def is_firing(self, now: datetime) -> bool:
        """Whether it still fires: a late delivery may say so of an alert whose end has passed."""
        has_ended = self.ends_at is not None and _UNSET < self.ends_at <= now
        return self.status == "firing" and not has_ended


class Payload(_Payload):
    """One notification: a group of alerts. `truncatedAlerts` more were left out by the receiver's max_alerts."""

    version: Literal["4"]
    group_key: str = Field(default="", max_length=65536)
    truncated_alerts: int = Field(default=0, ge=0)
    alerts: tuple[Alert, ...] = Field(max_length=10000)
