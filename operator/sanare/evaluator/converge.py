"""When a verification ends: healthy for the hold, hopeless, or out of time. No I/O; time comes with each look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sanare.api.duration import format_duration
from sanare.api.manifest import items, mapping, number, text
from sanare.api.policy import PolicySpec
from sanare.api.verdict import CheckResult, Result, Verdict
from sanare.evaluator.kinds import Kind
from sanare.evaluator.look import Look, moment, restarts
from sanare.evaluator.seen import Seen, failed
from sanare.text import one_line

_POLL = 5.0  # seconds: some of what is checked (the requests, other kinds) announces no change
_LONGEST_HOLD = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a verification: the outcomes it rests on, and since when the scope has been healthy."""

    seen: Sequence[Seen]
    since: datetime
    now: datetime
    healthy_since: datetime | None = None
    waited: timedelta | None = None

    def stamped(self, verdict: Verdict) -> Verdict:
        """The verdict with its times, and with a word on having waited in vain."""
        seconds = max(((self.healthy_since or self.now) - self.since).total_seconds(), 0.0)
        reason = verdict.reason
        if self.waited is not None and verdict.result is not Result.FIXED:
            reason = one_line(f"{reason}; still so after {format_duration(self.waited)}", 1024)
        times = {"healthy_since": self.healthy_since, "observed_seconds": round(seconds, 3), "reason": reason}
        return verdict.model_copy(update=times)


@dataclass(slots=True)
class Convergence:
    """What is remembered from look to look of one verification."""

    policy: PolicySpec
    since: datetime
    started: datetime | None = None
    healthy_since: datetime | None = None
    counts: dict[str, int] = field(default_factory=dict)
    first_seen: dict[tuple[str, str, str], datetime] = field(default_factory=dict)

    def advance(self, look: Look, seen: Sequence[Seen]) -> Ended | float:
        """Take in one look: the end, or how many seconds to wait at most for the next."""
        started = self.started = self.started or look.now
        if _is_settled_health(seen):
            again = self._restarted(look)
            if not again:
                return self._hold(look, seen)
            seen = [again, *seen]
        self.healthy_since, self.counts = None, {}
        return self._wait(look, seen, started)

    def _hold(self, look: Look, seen: Sequence[Seen]) -> Ended | float:
        if self.healthy_since is None:
            self.healthy_since, self.first_seen = look.now, {}
            self.counts = _counts(look)
        left = max(self.policy.verify.hold - (look.now - self.healthy_since), first_probes_left(look))
        if left <= timedelta():
            return Ended(seen, self.since, look.now, self.healthy_since)
        return min(left.total_seconds(), _POLL)

    def _restarted(self, look: Look) -> Seen | None:
        """Whether a container restarted during the hold: then the window was none."""
        for at, count in _counts(look).items():
            if self.healthy_since and count > self.counts.get(at, 0):
                name = at.partition("/")[2]
                where = look.scope.workloads[0] if look.scope.workloads else look.snapshot.namespace
                message = f"{where}: container {name} restarted while its health was being watched"
                return failed("restarts", Kind.RESTARTING, where, message)
        return None

    def _wait(self, look: Look, seen: Sequence[Seen], started: datetime) -> Ended | float:
        failing = {each.key: each for each in seen if each.result is CheckResult.FAILED}
        self.first_seen = {key: self.first_seen.get(key, look.now) for key in failing}
        due = [
            self.first_seen[key] + timedelta(seconds=each.settles) - look.now
            for key, each in failing.items()
            if each.settles is not None
        ]
        if any(left <= timedelta() for left in due):
            return Ended(seen, self.since, look.now)
        limit = self.policy.verify.converge_timeout
        left = started + limit - look.now
        if left <= timedelta():
            return Ended(seen, self.since, look.now, waited=limit)
        return min(_POLL, left.total_seconds(), *(each.total_seconds() for each in due))


def _is_settled_health(seen: Sequence[Seen]) -> bool:
    """Nothing failed, and what is unknown will not be known by waiting."""
    passing = {Kind.TIMEOUT, Kind.UNKNOWN, Kind.NOT_FOUND, Kind.EMPTY}
    return bool(seen) and not any(
        each.result is CheckResult.FAILED or (each.result is CheckResult.UNKNOWN and each.kind in passing)
        for each in seen
    )


def _counts(look: Look) -> dict[str, int]:
    return restarts(tuple(pod for name in look.scope.workloads for pod in look.owned.current(name)))


def first_probes_left(look: Look) -> timedelta:
    """How long until the kubelet has run each liveness probe once on every container; HTTP ones are asked by us.

    A hold shorter than that proves nothing about such a probe. At most two minutes.
    """
    latest = timedelta()
    for name in look.scope.workloads:
        for pod in look.owned.current(name):
            started = {
                text(status, "name"): moment(status, "state", "running", "startedAt")
                for status in items(pod, "status", "containerStatuses")
            }
            for container in items(pod, "spec", "containers"):
                probe, at = mapping(container, "livenessProbe"), started.get(text(container, "name"))
                if probe and "httpGet" not in probe and at:
                    seconds = number(probe, "initialDelaySeconds") + number(probe, "periodSeconds", default=10)
                    seconds += number(probe, "timeoutSeconds", default=1) + 1
                    latest = max(latest, min(timedelta(seconds=seconds), _LONGEST_HOLD) - (look.now - at))
    return latest
