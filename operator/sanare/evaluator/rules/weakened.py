"""False repairs inside a pod template: the fault goes away because the template asks for less. Pure rules.

Each rule compares every container or workload of the baseline with what it is now, and lets pass what repairs the
Incident's own fault: another tag of the same image, another probe path, a limit with head-room.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sanare.evaluator.container_facts import ContainerFacts
from sanare.evaluator.facts import WorkloadFacts
from sanare.evaluator.kinds import Kind
from sanare.evaluator.privilege import lost_safeguards
from sanare.evaluator.quantities import quantity
from sanare.evaluator.rules.change import Change, bites
from sanare.evaluator.seen import Seen

# No container starts below this many bytes, or gets anywhere with so few cores: such a limit is a slip of the unit
# (`128m` of memory, `2m` of CPU), and any other is a repair.
_NO_ROOM = {"memory": 4.0 * 1024 * 1024, "cpu": 0.005}
# A limit may grow eightfold; where the fault was the limit itself, sixty-fourfold.
_ROOM, _ROOM_FOR_OOM = 8.0, 64.0
# Cores and bytes below which a request keeps nothing free.
_NEXT_TO_NOTHING = {"cpu": 0.002, "memory": 1024.0 * 1024}


def rule_limits_weakened(change: Change) -> Iterator[Seen]:
    """A limit is gone, or so far up that it limits nothing; a request is gone, so that nothing is kept free."""
    starved = {check.object for check in change.failed_then(Kind.OOM_KILLED)}
    for workload, before, now in change.containers:
        holder = f"container {now.name}"
        weaker = list(_limits(holder, before.limits, now.limits, memory_fault=workload.object in starved))
        for what in weaker or _requests(holder, before, now):
            yield bites(Kind.LIMITS_WEAKENED, workload.object, f"{workload.object}: the {what}")
    for pod, present in change.workloads:
        for what in _limits("the pod", pod.limits, present.limits, memory_fault=pod.object in starved):
            yield bites(Kind.LIMITS_WEAKENED, present.object, f"{present.object}: the {what}")


def _limits(holder: str, before: Mapping[str, str], now: Mapping[str, str], *, memory_fault: bool) -> Iterator[str]:
    """Each resource whose limit is weaker, and how."""
    for name, old in before.items():
        new = now.get(name)
        room = _ROOM_FOR_OOM if name == "memory" and memory_fault else _ROOM
        was, is_ = quantity(old), quantity(new)
        if new is None:
            yield f"{name} limit {old} of {holder} was removed"
        elif was is not None and was < _NO_ROOM.get(name, 0.0):
            continue
        elif was and is_ and is_ > room * was:
            yield f"{name} limit of {holder} was raised from {old} to {new}"


def _requests(holder: str, before: ContainerFacts, now: ContainerFacts) -> Iterator[str]:
    """Each resource of which nothing is kept free any more; without a request a container asks for its limit."""
    for name, old in before.requests.items():
        new = now.requests.get(name, now.limits.get(name))
        if _asks_for_nothing(name, new) and not _asks_for_nothing(name, old):
            yield f"{name} request {old} of {holder} was " + ("removed" if new is None else f"lowered to {new}")


def _asks_for_nothing(name: str, value: str | None) -> bool:
    asked = quantity(value) if value is not None else 0.0
    return asked is not None and asked < _NEXT_TO_NOTHING.get(name, 0.0)


def rule_security_weakened(change: Change) -> Iterator[Seen]:
    """More privilege than before: of the pod, of a container, or through a hostPath volume."""
    for before, now in change.workloads:
        for what in _pod_privilege(before, now):
            yield bites(Kind.SECURITY_WEAKENED, now.object, f"{now.object}: {what}")
    present = {now.object: now for _, now in change.workloads}
    for workload, old, new in change.containers:
        for what in _container_privilege(workload, old, present[workload.object], new):
            message = f"{workload.object}: container {new.name} {what}"
            yield bites(Kind.SECURITY_WEAKENED, workload.object, message)
        if _lost_user(workload, old, present[workload.object], new):
            what = "no longer runs as a user that is set: it may be root"
            message = f"{workload.object}: container {new.name} {what}"
            yield bites(Kind.SECURITY_WEAKENED, workload.object, message)


def _pod_privilege(before: WorkloadFacts, now: WorkloadFacts) -> Iterator[str]:
    yield from (f"{name} was turned on" for name in now.host if name not in before.host)
    yield from (f"{what} now" for what in now.privileges if what not in before.privileges)
    yield from (f"{what} no longer" for what in lost_safeguards(before.safeguards, now.safeguards))
    if before.non_root and not (now.non_root or all(one.non_root for one in now.containers)):
        yield "runAsNonRoot was turned off"
    if now.user == 0 and before.user != 0:
        yield "runAsUser was set to 0"
    known = {volume.name for volume in before.volumes if volume.source == "hostPath"}
    yield from (
        f"a hostPath volume ({volume.name}) was added"
        for volume in now.volumes
        if volume.source == "hostPath" and volume.name not in known
    )


def _lost_user(pod_before: WorkloadFacts, before: ContainerFacts, pod: WorkloadFacts, now: ContainerFacts) -> bool:
    """Whether only a user other than root held the container, and now nothing does."""
    was = pod_before.user if before.user is None else before.user
    is_ = pod.user if now.user is None else now.user
    held = [
        of_pod.non_root if of_container.non_root is None else of_container.non_root
        for of_pod, of_container in ((pod_before, before), (pod, now))
    ]
    return bool(was) and is_ is None and not any(held)


def _container_privilege(
    pod_before: WorkloadFacts, before: ContainerFacts, pod: WorkloadFacts, now: ContainerFacts
) -> Iterator[str]:
    """What a container may do more than before; what it leaves open, its pod decides."""
    held = pod_before.non_root if before.non_root is None else before.non_root
    is_held = pod.non_root if now.non_root is None else now.non_root
    if now.privileged and not before.privileged:
        yield "was made privileged"
    if (before.non_root and not is_held) or (held and now.non_root is False):
        yield "has runAsNonRoot turned off"
    if now.user == 0 and before.user != 0:
        yield "has runAsUser set to 0"
    if before.escalation is False and now.escalation is not False:
        yield "may escalate its privileges"
    if before.read_only and not now.read_only:
        yield "has a writable root file system"
    yield from (f"has the capability {name}" for name in now.capabilities if name not in before.capabilities)
    yield from (f"was weakened: {what} now" for what in now.privileges if what not in before.privileges)
    yield from (f"was weakened: {what} no longer" for what in lost_safeguards(before.safeguards, now.safeguards))


def rule_optional_added(change: Change) -> Iterator[Seen]:
    """A reference that had to exist may now be missing: the container starts without it."""
    for workload, before, now in change.containers:
        for name in now.optional:
            if name not in before.optional:
                message = f"{workload.object}: {name} of container {now.name} was made optional"
                yield bites(Kind.OPTIONAL_ADDED, workload.object, message)
    for old, new in change.workloads:
        known = {volume.volume for volume in old.volumes if volume.optional}
        for volume in new.volumes:
            if volume.optional and volume.volume not in known:
                message = f"{new.object}: volume {volume.volume} ({volume.source} {volume.name}) was made optional"
                yield bites(Kind.OPTIONAL_ADDED, new.object, message)
