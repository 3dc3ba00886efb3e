"""Status: what a pod's status says, computed from its containers. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from sanare_lab.cluster.node.container import Container
from sanare_lab.cluster.node.process import Role
from sanare_lab.cluster.objects import Obj, dig
from sanare_lab.cluster.quantity import quantity


def pod_phase(pod: Obj, containers: Sequence[Container]) -> str:
    """Pending, Running, Succeeded or Failed."""
    inits = [item for item in containers if item.role is Role.INIT]
    mains = [item for item in containers if item.role is Role.MAIN]
    if any(item.exit_code not in (None, 0) for item in inits):
        return "Failed"
    if all(item.done for item in mains):
        return "Failed" if any(item.exit_code for item in mains) else "Succeeded"
    if any(not item.done for item in inits):
        return "Pending"
    never_started = [item for item in mains if item.process is None and not item.last]
    return "Pending" if never_started else "Running"


def container_status(container: Container) -> Obj:
    """One entry of containerStatuses."""
    status: Obj = {
        "name": container.name,
        "image": container.spec.get("image", ""),
        "imageID": "",
        "state": container.state,
        "lastState": container.last,
        "ready": container.ready or (container.role is Role.INIT and container.exit_code == 0),
        "restartCount": container.restarts,
        "started": container.started,
    }
    if container.process is not None:
        status["imageID"] = f"sha256:{sha256(container.process.image.name.encode()).hexdigest()}"
        status["containerID"] = container.process.id
    return status


def pod_status(
    pod: Obj, containers: Sequence[Container], *, ip: str, host_ip: str, has_sandbox: bool, start: str, now: str
) -> Obj:
    """The whole status; conditions keep the time of their last transition from the pod's present one."""
    phase = pod_phase(pod, containers)
    old = pod.get("status") or {}
    status: Obj = {
        "observedGeneration": pod["metadata"].get("generation", 1),
        "phase": phase,
        "conditions": _conditions(pod, containers, phase, has_sandbox=has_sandbox, now=now),
        "hostIP": host_ip,
        "hostIPs": [{"ip": host_ip}],
        "startTime": start,
        "qosClass": old.get("qosClass") or qos_class(pod),
    }
    if ip:
        status |= {"podIP": ip, "podIPs": [{"ip": ip}]}
    inits = [container_status(item) for item in containers if item.role is not Role.MAIN]
    if inits:
        status["initContainerStatuses"] = inits
    status["containerStatuses"] = [container_status(item) for item in containers if item.role is Role.MAIN]
    return status


def _conditions(pod: Obj, containers: Sequence[Container], phase: str, *, has_sandbox: bool, now: str) -> list[Obj]:
    before = {item["type"]: item for item in dig(pod, "status", "conditions") or []}
    ready = _ready(containers, phase)
    own = (
        _sandbox(has_sandbox and phase not in ("Succeeded", "Failed")),
        _initialized(containers, phase),
        ("Ready", *(_gates(pod, before) if ready[0] else ready)),
        ("ContainersReady", *ready),
        ("PodScheduled", True, "", ""),
    )
    others = [item for kind, item in before.items() if kind not in {entry[0] for entry in own}]
    return [*others, *(_condition(before, now, pod, *entry) for entry in own)]


def _gates(pod: Obj, conditions: dict[str, Obj]) -> tuple[bool, str, str]:
    """Whether the conditions that the pod's readiness gates name are true: others than the kubelet set them."""
    closed = [
        f'corresponding condition of pod readiness gate "{kind}" does not exist.'
        if kind not in conditions
        else f'the status of pod readiness gate "{kind}" is not "True", but {conditions[kind]["status"]}'
        for gate in dig(pod, "spec", "readinessGates") or []
        if conditions.get(kind := gate["conditionType"], {}).get("status") != "True"
    ]
    return not closed, "ReadinessGatesNotReady" if closed else "", ", ".join(closed)


def _condition(before: dict[str, Obj], now: str, pod: Obj, kind: str, is_true: bool, reason: str, text: str) -> Obj:
    status = "True" if is_true else "False"
    old = before.get(kind, {})
    condition: Obj = {
        "type": kind,
        "status": status,
        "lastProbeTime": None,
        "lastTransitionTime": old["lastTransitionTime"] if old.get("status") == status else now,
        "observedGeneration": pod["metadata"].get("generation", 1),
    }
    return condition | ({"reason": reason} if reason else {}) | ({"message": text} if text else {})


def _sandbox(is_up: bool) -> tuple[str, bool, str, str]:
    reason, text = ("", "") if is_up else ("PodSandboxNotReady", "no pod sandbox exists")
    return "PodReadyToStartContainers", is_up, reason, text


def _initialized(containers: Sequence[Container], phase: str) -> tuple[str, bool, str, str]:
    waiting = [item.name for item in containers if item.role is not Role.MAIN and not is_past(item)]
    if phase == "Succeeded":
        return "Initialized", True, "PodCompleted", ""
    if not waiting:
        return "Initialized", True, "", ""
    return "Initialized", False, "ContainersNotInitialized", f"containers with incomplete status: {_list(waiting)}"


def _ready(containers: Sequence[Container], phase: str) -> tuple[bool, str, str]:
    if phase in ("Succeeded", "Failed"):
        return False, "PodCompleted" if phase == "Succeeded" else "PodFailed", ""
    unready = [item.name for item in containers if item.role is not Role.INIT and not item.ready]
    if not unready:
        return True, "", ""
    return False, "ContainersNotReady", f"containers with unready status: {_list(unready)}"


def is_past(container: Container) -> bool:
    """Whether the init sequence may go on after this one."""
    return container.started if container.role is Role.SIDECAR else container.exit_code == 0


def _list(names: Iterable[str]) -> str:
    return f"[{' '.join(names)}]"


def qos_class(pod: Obj) -> str:
    """Guaranteed, Burstable or BestEffort, from requests and limits."""
    found = [item.get("resources") or {} for item in dig(pod, "spec", "containers") or []]
    if not any(item.get("requests") or item.get("limits") for item in found):
        return "BestEffort"
    return "Guaranteed" if all(_is_guaranteed(item) for item in found) else "Burstable"


def _is_guaranteed(resources: Obj) -> bool:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    return all(
        key in limits and quantity(requests.get(key, limits[key])) == quantity(limits[key])
        for key in ("cpu", "memory")
    )
