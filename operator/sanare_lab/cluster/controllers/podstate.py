"""Pod state: the questions that controllers ask about a pod. Pure."""

from __future__ import annotations

import datetime as dt

from sanare_lab.cluster.objects import Obj, dig, parse_timestamp

_RANK = {"Pending": 0, "Unknown": 1, "Running": 2}


def condition(obj: Obj, kind: str) -> Obj | None:
    """The status condition of that type."""
    for item in dig(obj, "status", "conditions") or []:
        if item.get("type") == kind:
            found: Obj = item
            return found
    return None


def phase(pod: Obj) -> str:
    """status.phase, Pending where it is not set yet."""
    return str(dig(pod, "status", "phase") or "Pending")


def is_finished(pod: Obj) -> bool:
    """Whether its containers have ended for good."""
    return phase(pod) in ("Succeeded", "Failed")


def is_active(pod: Obj) -> bool:
    """Whether a controller counts it: neither finished nor being deleted."""
    return not is_finished(pod) and not pod["metadata"].get("deletionTimestamp")


def is_ready(pod: Obj) -> bool:
    """Whether its Ready condition is True."""
    return (condition(pod, "Ready") or {}).get("status") == "True"


def ready_for(pod: Obj, now: dt.datetime, scale: float) -> float:
    """Seconds of the cluster's time that it has been ready; stamps are wall time, hence the scale."""
    found = condition(pod, "Ready")
    if found is None or found.get("status") != "True":
        return -1.0
    return max(0.0, (now - parse_timestamp(found["lastTransitionTime"])).total_seconds() * scale)


def deletion_order(pod: Obj) -> tuple[bool, int, bool, int, str]:
    """Sort key: which pod goes first when there are too many: the least useful, the youngest."""
    restarts = sum(item.get("restartCount", 0) for item in dig(pod, "status", "containerStatuses") or [])
    created = pod["metadata"].get("creationTimestamp", "")
    return (
        bool(dig(pod, "spec", "nodeName")),
        _RANK.get(phase(pod), 2),
        is_ready(pod),
        -restarts,
        "".join(chr(0x10FFFF - ord(char)) for char in created),
    )
