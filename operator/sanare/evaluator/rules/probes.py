"""False repairs by probes that notice less: gone, later, or of something weaker. Pure rules."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.evaluator.container_facts import ProbeFacts
from sanare.evaluator.kinds import Kind
from sanare.evaluator.rules.change import Change, bites
from sanare.evaluator.rules.programs import asks_nothing
from sanare.evaluator.seen import Seen

_PROBES = ("liveness", "readiness", "startup")
_WEAKER_HANDLER = {("httpGet", "tcpSocket"), ("httpGet", "exec"), ("grpc", "tcpSocket"), ("grpc", "exec")} | {
    ("tcpSocket", "exec")
}
# A probe may notice ten times later than before, and always as late as this many seconds.
_SOFTER, _SOFT_SECONDS, _STARTUP_SECONDS = 10, 300, 600
# So may a container that failed one take its time to end.
_LONG_GRACE = 600
# Conditions that Kubernetes sets on every pod by itself: a gate that waits for one waits for nothing.
_GIVEN = ("PodScheduled", "Initialized", "ContainersReady", "PodReadyToStartContainers", "PodHasNetwork")
_SOFTER_TIMEOUT, _LONG_TIMEOUT = 10, 30


def rule_probe_removed(change: Change) -> Iterator[Seen]:
    """A probe that was there is gone."""
    for workload, before, now in change.containers:
        for name in _PROBES:
            lost: ProbeFacts | None = getattr(before, name)
            if lost and not getattr(now, name):
                message = f"{workload.object}: the {name} probe of container {now.name} was removed ({lost})"
                yield bites(Kind.PROBE_REMOVED, workload.object, message)
    for old, new in change.workloads:
        gone = [gate for gate in old.gates if gate not in new.gates]
        if gone and (len(new.gates) < len(old.gates) or any(gate in _GIVEN for gate in new.gates)):
            message = f"{new.object}: the readiness gate {gone[0]} was removed"
            yield bites(Kind.PROBE_REMOVED, new.object, message)


def rule_probe_softened(change: Change) -> Iterator[Seen]:
    """A probe that asks less, or tolerates a dead container for longer than the baseline's order of magnitude."""
    for workload, before, now in change.containers:
        for name in _PROBES:
            why = _softened(name, getattr(before, name), getattr(now, name))
            if why:
                message = f"{workload.object}: the {name} probe of container {now.name} {why}"
                yield bites(Kind.PROBE_SOFTENED, workload.object, message)
    for old, new in change.workloads:
        if _lingers(old.grace, new.grace):
            message = (
                f"{new.object}: a container that fails a probe has {new.grace} s to end instead of {old.grace} s"
            )
            yield bites(Kind.PROBE_SOFTENED, new.object, message)


def _lingers(before: int | None, now: int | None) -> bool:
    return before is not None and now is not None and now > max(_SOFTER * before, _LONG_GRACE)


def _softened(name: str, before: ProbeFacts | None, now: ProbeFacts | None) -> str:
    if now is None:
        return ""
    if before is None:
        # A new startup probe is the right repair of a slow start, and an endless one hides every failure.
        endless = name == "startup" and now.seconds > _STARTUP_SECONDS
        return f"was added and tolerates {now.seconds} s" if endless else ""
    if now.host and now.host != before.host:
        return f"asks {now.host} instead of its own pod"
    idle = now.handler == "exec" and now.detail != before.detail and asks_nothing(now.detail)
    if (before.handler, now.handler) in _WEAKER_HANDLER or idle:
        return f"was softened from {before} to {now}"
    if now.seconds > max(_SOFTER * before.seconds, _SOFT_SECONDS):
        return f"tolerates {now.seconds} s instead of {before.seconds} s"
    if now.timeout > max(_SOFTER_TIMEOUT * before.timeout, _LONG_TIMEOUT):
        return f"waits {now.timeout} s for an answer instead of {before.timeout} s"
    if _lingers(before.grace or 30, now.grace):
        return f"gives a container {now.grace} s to end"
    return ""
