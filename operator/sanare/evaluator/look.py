"""One look: everything a check may read, and the readings that several checks share. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sanare.api.allowed import AllowedChange
from sanare.api.incident import Incident
from sanare.api.manifest import Manifest, items, number, text
from sanare.api.policy import PolicySpec
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.ownership import Ownership
from sanare.evaluator.scope import Scope
from sanare.evaluator.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Look:
    """A snapshot with its readings, and what it is judged against.

    Attributes:
        since: moment of the last change; older evidence does not settle anything. None: nothing was changed.
        allowed: who allows changes that a rule would call a false repair (`the Incident`), and which.
        hold: how long a healthy state must last; a container that restarted less than that ago is not healthy.
    """

    snapshot: Snapshot
    incident: Incident
    owned: Ownership
    scope: Scope
    now: datetime
    baseline: Baseline | None = None
    since: datetime | None = None
    hold: timedelta = timedelta(seconds=15)
    allowed: Mapping[str, tuple[AllowedChange, ...]] = field(default_factory=dict)
    _events: dict[str, list[Manifest]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def events(self, uid: str, *reasons: str) -> list[Manifest]:
        """Warnings about one object, oldest first."""
        if not self._events:
            for event in sorted(self.snapshot.all("Event"), key=event_time):
                self._events.setdefault(text(event, "involvedObject", "uid"), []).append(event)
        return [event for event in self._events.get(uid, ()) if not reasons or text(event, "reason") in reasons]

    def is_fresh(self, moment: datetime | None) -> bool:
        """Whether something happened after the last change. Kubernetes' times are whole seconds, cut off."""
        return self.since is None or (moment is not None and moment >= self.since.replace(microsecond=0))

    def failed_before(self, name: str) -> bool:
        """Whether something of that object had failed at the start."""
        return self.baseline is not None and any(check.object == name for check in self.baseline.failing)

    def log_line(self, pod: Manifest, container: str) -> str:
        """The last line of a container's log tail."""
        tail = self.snapshot.logs.get(f"{text(pod, 'metadata', 'name')}/{container}", "")
        return next((line.strip() for line in reversed(tail.splitlines()) if line.strip()), "")


def moment(manifest: object, *path: str | int) -> datetime | None:
    """A Kubernetes time at a path, None where there is none."""
    try:
        return datetime.fromisoformat(text(manifest, *path))
    except ValueError:
        return None


def event_time(event: Manifest) -> str:
    """When an event was last seen, as text that sorts."""
    return (
        text(event, "series", "lastObservedTime")
        or text(event, "lastTimestamp")
        or text(event, "eventTime")
        or text(event, "metadata", "creationTimestamp")
    )


def event_moment(event: Manifest) -> datetime | None:
    """When an event was last seen."""
    try:
        return datetime.fromisoformat(event_time(event))
    except ValueError:
        return None


def condition(manifest: Manifest, kind: str) -> Manifest:
    """The condition of that type, empty where there is none."""
    return next((item for item in items(manifest, "status", "conditions") if text(item, "type") == kind), {})


def is_ready(pod: Manifest) -> bool:
    """Whether the pod's Ready condition is True."""
    return text(condition(pod, "Ready"), "status") == "True"


def restarts(pods: Iterator[Manifest] | tuple[Manifest, ...]) -> dict[str, int]:
    """Restart count of every container, by pod uid and container name."""
    return {
        f"{text(pod, 'metadata', 'uid')}/{text(status, 'name')}": number(status, "restartCount")
        for pod in pods
        for part in ("initContainerStatuses", "containerStatuses")
        for status in items(pod, "status", part)
    }


def allowances(incident: Incident, policy: PolicySpec) -> dict[str, tuple[AllowedChange, ...]]:
    """The changes that people allow, by who does."""
    return {"the Incident": incident.spec.allowed_changes, "the policy": policy.verify.allowed_changes}
