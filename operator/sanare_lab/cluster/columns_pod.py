"""The cells of a Pod's row: the status word that people read first, as the real server derives it."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sanare_lab.cluster.durations import human_duration
from sanare_lab.cluster.objects import Obj, dig, parse_timestamp


def pod_ready(obj: Obj, _: dt.datetime) -> str:
    """`ready/all` containers."""
    statuses = dig(obj, "status", "containerStatuses") or []
    ready = sum(1 for status in statuses if status.get("ready") and dig(status, "state", "running") is not None)
    return f"{ready}/{len(dig(obj, 'spec', 'containers') or ())}"


def pod_restarts(obj: Obj, now: dt.datetime) -> str:
    """Restarts of all containers, and when the last was."""
    status = obj.get("status") or {}
    statuses = status.get("containerStatuses") or []
    if _is_initializing(obj):
        statuses = status.get("initContainerStatuses") or []
    restarts = sum(item.get("restartCount", 0) for item in statuses)
    ends = [end for item in statuses if (end := dig(item, "lastState", "terminated", "finishedAt"))]
    if not restarts or not ends:
        return str(restarts)
    last = max(parse_timestamp(end) for end in ends)
    return f"{restarts} ({human_duration((now - last).total_seconds())} ago)"


def _is_initializing(obj: Obj) -> bool:
    return _init_word(obj) is not None


def pod_status(obj: Obj, _: dt.datetime) -> str:
    """Phase, or the reason of the container that matters, or Terminating."""
    status = obj.get("status") or {}
    word = status.get("reason") or status.get("phase") or "Pending"
    gated = any(
        c["type"] == "PodScheduled" and c.get("reason") == "SchedulingGated" for c in status.get("conditions") or ()
    )
    word = "SchedulingGated" if gated else word
    init = _init_word(obj)
    word = init if init is not None else _container_word(status, word)
    if dig(obj, "metadata", "deletionTimestamp"):
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating" if not _is_done(status) else word
    return str(word)


def _is_done(status: Obj) -> bool:
    return status.get("phase") in ("Succeeded", "Failed")


def _init_word(obj: Obj) -> str | None:
    """The word of the init container that is not over, None where all are."""
    wanted = dig(obj, "spec", "initContainers") or []
    sidecars = {item["name"] for item in wanted if item.get("restartPolicy") == "Always"}
    for index, item in enumerate(dig(obj, "status", "initContainerStatuses") or ()):
        state = item.get("state") or {}
        if dig(state, "terminated", "exitCode") == 0 and state.get("terminated"):
            continue
        if item["name"] in sidecars and item.get("started"):
            continue
        if state.get("terminated"):
            return "Init:" + _terminated_word(state["terminated"])
        reason = dig(state, "waiting", "reason")
        if reason and reason != "PodInitializing":
            return f"Init:{reason}"
        return f"Init:{index}/{len(wanted)}"
    return None


def _terminated_word(state: Any) -> str:
    if state.get("reason"):
        return str(state["reason"])
    signal = state.get("signal")
    return f"Signal:{signal}" if signal else f"ExitCode:{state.get('exitCode', 0)}"


def _container_word(status: Obj, word: str) -> str:
    is_running = False
    for item in reversed(status.get("containerStatuses") or []):
        state = item.get("state") or {}
        if dig(state, "waiting", "reason"):
            word = state["waiting"]["reason"]
        elif state.get("terminated"):
            word = _terminated_word(state["terminated"])
        elif item.get("ready") and state.get("running") is not None:
            is_running = True
    if word == "Completed" and is_running:
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions") or ())
        return "Running" if ready else "NotReady"
    return word
