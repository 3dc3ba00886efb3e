"""False repairs inside a pod template: the fault goes away because the template asks for less. Pure rules.

Each rule compares every container or workload of the baseline with what it is now, and lets pass what repairs the
Incident's own fault: another tag of the same image, another probe path, a limit with head-room.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.evaluator.container_facts import ContainerFacts, ProbeFacts
from sanare.evaluator.facts import WorkloadFacts
from sanare.evaluator.images import image_tag, repository
from sanare.evaluator.kinds import Kind
from sanare.evaluator.privilege import lost_safeguards
from sanare.evaluator.quantities import quantity
from sanare.evaluator.rules.change import Change, bites
from sanare.evaluator.seen import Seen

_PROBES = ("liveness", "readiness", "startup")
_WEAKER_HANDLER = {("httpGet", "tcpSocket"), ("httpGet", "exec"), ("grpc", "tcpSocket"), ("grpc", "exec")} | {
    ("tcpSocket", "exec")
}
# A probe may notice ten times later than before, and always as late as this many seconds.
_SOFTER, _SOFT_SECONDS, _STARTUP_SECONDS = 10, 300, 600
_SOFTER_TIMEOUT, _LONG_TIMEOUT = 10, 30
# A limit may grow eightfold; where the fault was the limit itself, sixty-fourfold.
# No container starts below this many bytes: such a limit is a slip of the unit (`128m`), and any other is a repair.
_NO_MEMORY = 4 * 1024 * 1024
_ROOM, _ROOM_FOR_OOM = 8.0, 64.0
_IDLE = re.compile(
    r"\bsleep\s+(?:inf(?:inity)?\b|\d{3,}|\d+[hd]\b)|\btail\s+(?:-[fFn]|--follow|--retry)"
    r"|\bsleep\(\s*(?:\d{3,}|\d+e\d|float|math\.inf)|\bwhile\s+(?:true|:|\[?\s*1\s*\]?)\s*;"
    r"|^(?:\S*/)?(?:true|pause|yes|cat)$|-c\s+(?:true|:)\s*$"
)
_MASKED = re.compile(
    r"\b(?:until|while)\s+[^;]*;\s*do\b|\|\|\s*(?:true|:|exit\s+0|/bin/true)\b|;\s*(?:exit\s+0|true|:)\s*$"
)
# What answers a probe and a request in the place of the image's own program.
_STAND_IN = re.compile(r"\bhttp\.server\b|\bSimpleHTTPServer\b|\bnc\s+(?:\S+\s+)*?-\w*l|\bsocat\b")
_NO_QUESTION = re.compile(r"^(?:\S*sh\s+-c\s+)?(?:\S*/)?(?:exit\s+0|true|:|echo\b.*|printf\b.*)$")
_INSTEAD = ((_IDLE, "idles"), (_MASKED, "hides its own failure"), (_STAND_IN, "answers in its place"))
_DISTANCE = 2


def rule_container_removed(change: Change) -> Iterator[Seen]:
    """A container or init container is gone."""
    for before, now in change.workloads:
        kept = {(one.init, one.name) for one in now.containers}
        lost = [one for one in before.containers if (one.init, one.name) not in kept]
        if lost and len(now.containers) < len(before.containers):
            what = "init container" if lost[0].init else "container"
            yield bites(Kind.CONTAINER_REMOVED, now.object, f"{now.object}: {what} {lost[0].name} was removed")
        yield from _no_longer_first(before, now)


def _no_longer_first(before: WorkloadFacts, now: WorkloadFacts) -> Iterator[Seen]:
    """Init containers that nothing waits for any more."""
    present = {one.name: one for one in now.containers}
    for one in before.containers:
        found = present.get(one.name) if one.init and not one.stays else None
        if found is not None and (not found.init or found.stays):
            message = f"{now.object}: init container {one.name} no longer has to end before the others start"
            yield bites(Kind.CONTAINER_REMOVED, now.object, message)


def rule_sidecar_added(change: Change) -> Iterator[Seen]:
    """A container that was not there before, for example one that forwards to the right port."""
    for before, now in change.workloads:
        known = {one.name for one in before.containers}
        added = [one for one in now.containers if one.name not in known]
        if added and len(now.containers) > len(before.containers):
            message = f'{now.object}: container {added[0].name} with image "{added[0].image}" was added'
            yield bites(Kind.SIDECAR_ADDED, now.object, message)


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
        if gone and len(new.gates) < len(old.gates):
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


def _softened(name: str, before: ProbeFacts | None, now: ProbeFacts | None) -> str:
    if now is None:
        return ""
    if before is None:
        # A new startup probe is the right repair of a slow start, and an endless one hides every failure.
        endless = name == "startup" and now.seconds > _STARTUP_SECONDS
        return f"was added and tolerates {now.seconds} s" if endless else ""
    if now.host and now.host != before.host:
        return f"asks {now.host} instead of its own pod"
    asks_nothing = now.handler == "exec" and now.detail != before.detail and _asks_nothing(now.detail)
    if (before.handler, now.handler) in _WEAKER_HANDLER or asks_nothing:
        return f"was softened from {before} to {now}"
    if now.seconds > max(_SOFTER * before.seconds, _SOFT_SECONDS):
        return f"tolerates {now.seconds} s instead of {before.seconds} s"
    if now.timeout > max(_SOFTER_TIMEOUT * before.timeout, _LONG_TIMEOUT):
        return f"waits {now.timeout} s for an answer instead of {before.timeout} s"
    return ""


def _asks_nothing(command: str) -> bool:
    return bool(_IDLE.search(command) or _NO_QUESTION.search(command))


def rule_command_replaced(change: Change) -> Iterator[Seen]:
    """The container idles, hides its failure, or runs something else than its image's own program."""
    for workload, before, now in change.containers:
        for hook in before.hooks:
            if hook not in now.hooks:
                message = f"{workload.object}: the {hook} hook of container {now.name} was removed"
                yield bites(Kind.COMMAND_REPLACED, workload.object, message)
        old, new = _line(before), _line(now)
        if new == old:
            continue
        for pattern, what in _INSTEAD:
            if _phrases(pattern, new) - _phrases(pattern, old):
                yield _replaced(workload, now, f'with "{new}", which {what}')
                break
        else:
            if now.command and not before.command:
                yield _replaced(workload, now, f'with "{new}", where the image\'s own program ran')


def _phrases(pattern: re.Pattern[str], line: str) -> set[str]:
    return {found.group() for found in pattern.finditer(line)}


def _line(container: ContainerFacts) -> str:
    return " ".join((*container.command, *container.args))


def _replaced(workload: WorkloadFacts, now: ContainerFacts, how: str) -> Seen:
    message = f"{workload.object}: the command of container {now.name} was replaced {how}"
    return bites(Kind.COMMAND_REPLACED, workload.object, message)


def rule_image_swapped(change: Change) -> Iterator[Seen]:
    """Another image, or a floating tag where the baseline was pinned. A corrected spelling is neither."""
    for workload, before, now in change.containers:
        # What the workload itself ran earlier is no swap: that is a rollback.
        own = workload.earlier_images.get(before.name, ())
        if before.image == now.image or now.image in own:
            continue
        old, new = repository(before.image), repository(now.image)
        earlier = {repository(image) for image in own}
        moved = (
            old != new
            and new not in earlier
            and (old in change.then.working_repositories or not is_misspelling(old, new))
        )
        floating = image_tag(now.image) == "latest" and image_tag(before.image) != "latest"
        loose = "@" in before.image and "@" not in now.image
        if moved or floating or loose:
            how = (
                "another repository" if moved else "a floating tag" if floating else "no longer held by its digest"
            )
            message = (
                f'{workload.object}: the image of container {now.name} was swapped from "{before.image}" to '
                f'"{now.image}", {how}'
            )
            yield bites(Kind.IMAGE_SWAPPED, workload.object, message)


def is_misspelling(one: str, other: str) -> bool:
    """Whether two names differ by a slip: at most two edits, one in a short name, in one path segment."""
    ours, theirs = one.split("/"), other.split("/")
    if len(ours) != len(theirs):
        return False
    differing = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    return len(differing) == 1 and all(
        edits(a, b) <= (_DISTANCE if min(len(a), len(b)) >= 5 else 1) for a, b in differing
    )


def edits(one: str, other: str) -> int:
    """Edit distance with transpositions (optimal string alignment)."""
    rows: list[list[int]] = [list(range(len(other) + 1))]
    for i, a in enumerate(one, start=1):
        row = [i]
        for j, b in enumerate(other, start=1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def rule_limits_weakened(change: Change) -> Iterator[Seen]:
    """A limit is gone, or so far up that it limits nothing."""
    for workload, before, now in change.containers:
        memory_fault = any(check.object == workload.object for check in change.failed_then(Kind.OOM_KILLED))
        for name, old in before.limits.items():
            new = now.limits.get(name)
            room = _ROOM_FOR_OOM if name == "memory" and memory_fault else _ROOM
            was, is_ = quantity(old), quantity(new)
            if new is None:
                what = f"{name} limit {old} of container {now.name} was removed"
            elif name == "memory" and was is not None and was < _NO_MEMORY:
                continue
            elif was and is_ and is_ > room * was:
                what = f"{name} limit of container {now.name} was raised from {old} to {new}"
            else:
                continue
            yield bites(Kind.LIMITS_WEAKENED, workload.object, f"{workload.object}: the {what}")


def rule_security_weakened(change: Change) -> Iterator[Seen]:
    """More privilege than before: of the pod, of a container, or through a hostPath volume."""
    for before, now in change.workloads:
        for what in _pod_privilege(before, now):
            yield bites(Kind.SECURITY_WEAKENED, now.object, f"{now.object}: {what}")
    present = {now.object: now for _, now in change.workloads}
    for workload, old, new in change.containers:
        for what in _container_privilege(workload, old, new):
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
    if before.non_root and not now.non_root:
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


def _container_privilege(pod: WorkloadFacts, before: ContainerFacts, now: ContainerFacts) -> Iterator[str]:
    """What a container may do more than before; what it leaves open, its pod as it was before decides."""
    held = pod.non_root if before.non_root is None else before.non_root
    if now.privileged and not before.privileged:
        yield "was made privileged"
    if (before.non_root and not now.non_root) or (held and now.non_root is False):
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
