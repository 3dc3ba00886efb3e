"""What keeps a pod's containers from running, with the event, message or log line that says why. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from sanare.api.manifest import Manifest, dig, items, mapping, number, text
from sanare.evaluator.kinds import Kind
from sanare.evaluator.look import Look, condition, event_moment, event_time, is_ready, moment
from sanare.evaluator.reach import declared_probes
from sanare.evaluator.seen import Seen, failed
from sanare.text import one_line

CHECK = "containers"

_PULL = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable"}
_CONFIG = {"CreateContainerConfigError"}
_START = {"CreateContainerError", "RunContainerError", "StartError", "ContainerCannotRun", "PostStartHookError"}
_MOUNT = ("FailedMount", "FailedAttachVolume", "FailedMapVolume")
# A scheduler's refusal for these words does not go away with time.
_NO_NODE_EVER = ("node affinity", "node selector", "taint", "not found")
# Claims are matched with volumes four times a minute.
_UNBOUND, _BINDING_SECONDS = "unbound immediate", 40.0
_HOPELESS_SECONDS = 10.0
_NAMED_POD = re.compile(r'^(?:pods? "[^"]*" is forbidden: |Error creating: )+')
_MISSING_CONFIG_MAP = re.compile(r'configmap "([^"]+)" not found')
_SETTLED_RESTARTS = 2
_CRASH_WINDOW = timedelta(seconds=60)
_LONGEST_WINDOW = timedelta(minutes=5)


def pod_faults(look: Look, workload: str, pod: Manifest) -> Iterator[Seen]:
    """Everything that is wrong with one pod of the present revision, or nothing."""
    if text(pod, "status", "phase") == "Succeeded":
        return
    found = [
        fault
        for part in ("initContainerStatuses", "containerStatuses")
        for status in items(pod, "status", part)
        for fault in _container_faults(look, workload, pod, status)
    ]
    yield from found
    if not found:
        yield from _pod_fault(look, workload, pod)


def _pod_fault(look: Look, workload: str, pod: Manifest) -> Iterator[Seen]:
    scheduled = condition(pod, "PodScheduled")
    if text(scheduled, "status") == "False":
        why = one_line(text(scheduled, "message"), 200)
        settles = _unplaced_patience(text(scheduled, "message"), why)
        yield failed(
            CHECK, Kind.UNSCHEDULABLE, workload, f"{workload}: no node takes its pod: {why}", settles=settles
        )
        return
    mounts = look.events(text(pod, "metadata", "uid"), *_MOUNT)
    waiting = text(pod, "status", "phase") == "Pending"
    if waiting and mounts:
        why = one_line(text(mounts[-1], "message"), 220)
        settles = 10.0 if _is_new(look, pod) or _is_absent(look, why) else None
        yield failed(
            CHECK, Kind.FAILED_MOUNT, workload, f"{workload}: a volume cannot be mounted: {why}", settles=settles
        )
    elif text(pod, "status", "phase") == "Failed":
        why = one_line(f"{text(pod, 'status', 'reason')} {text(pod, 'status', 'message')}", 200) or "phase Failed"
        yield failed(CHECK, Kind.CRASH, workload, f"{workload}: a pod has failed: {why}")
    elif not is_ready(pod):
        yield failed(CHECK, Kind.POD_NOT_READY, workload, f"{workload}: {_unready(pod)}")


def _unplaced_patience(message: str, why: str) -> float | None:
    """How long the scheduler may go on refusing before it is final; `why` is the beginning of its message."""
    if _UNBOUND in why:
        return _BINDING_SECONDS
    if _is_hopeless(message):
        return _HOPELESS_SECONDS
    return 5.0 if any(words in why for words in _NO_NODE_EVER) else None


def _is_hopeless(why: str) -> bool:
    """Whether the end of no other pod would make room on any node: the scheduler calls preemption of no help."""
    return "Preemption is not helpful" in why and "No preemption victims" not in why


def _is_absent(look: Look, why: str) -> bool:
    """Whether the ConfigMap that a message says was not found is still not there: trying again finds nothing."""
    named = _MISSING_CONFIG_MAP.search(why)
    if named is None or not look.snapshot.is_listed("ConfigMap"):
        return False
    return look.snapshot.find("ConfigMap", named[1]) is None


def _unready(pod: Manifest) -> str:
    phase = text(pod, "status", "phase") or "Unknown"
    reasons = {text(status, "state", "waiting", "reason") for status in items(pod, "status", "containerStatuses")}
    said = ", ".join(sorted(filter(None, reasons))) or one_line(text(condition(pod, "Ready"), "message"), 120)
    return f"a pod is not ready (phase {phase}{', ' + said if said else ''})"


def _container_faults(look: Look, workload: str, pod: Manifest, status: Manifest) -> Iterator[Seen]:
    name = text(status, "name")
    waiting = text(status, "state", "waiting", "reason")
    if waiting in _PULL:
        yield _pull(look, workload, pod, status)
    elif waiting in _CONFIG:
        why = one_line(text(status, "state", "waiting", "message"), 200)
        message = f"{workload}: container {name} cannot be created: {why} ({waiting})"
        # The kubelet tries again every ten seconds or so: a pod of before the change may still get what it lacks.
        settles = 8.0 if _is_new(look, pod) else 30.0
        yield failed(CHECK, Kind.CONFIG_ERROR, workload, message, settles=settles)
    elif waiting in _START:
        why = _runtime_message(text(status, "state", "waiting", "message"))
        message = f"{workload}: container {name} cannot start: {why} ({waiting})"
        yield failed(CHECK, Kind.CONTAINER_START, workload, message, settles=8.0 if _is_new(look, pod) else None)
    elif waiting == "CrashLoopBackOff":
        yield _ended(look, workload, pod, status, mapping(status, "lastState", "terminated"))
    elif _is_bad_end(mapping(status, "state", "terminated"), pod, name):
        yield _ended(look, workload, pod, status, mapping(status, "state", "terminated"))
    elif dig(status, "state", "running") is not None:
        yield from _running_faults(look, workload, pod, status)


def _is_bad_end(terminated: Manifest, pod: Manifest, name: str) -> bool:
    """Whether a container should not have ended so: with an error, or at all. An init container is to end."""
    if not terminated:
        return False
    stays = text(pod, "spec", "restartPolicy") == "Always" and not _is_init(pod, name)
    return number(terminated, "exitCode") != 0 or (stays and not is_ready(pod))


def _pull(look: Look, workload: str, pod: Manifest, status: Manifest) -> Seen:
    name = text(status, "name")
    image = text(_spec_of(pod, name), "image")
    reason = _pull_reason(status)
    why = one_line(text(status, "state", "waiting", "message"), 600).rpartition(": ")[2]
    pulls = [event_moment(event) for event in look.events(text(pod, "metadata", "uid"), "Failed")]
    fresh = _is_new(look, pod) or any(when and look.is_fresh(when) for when in pulls)
    return failed(
        CHECK,
        Kind.IMAGE_PULL,
        workload,
        f'{workload}: container {name} cannot pull image "{image}" ({": ".join(filter(None, (reason, why)))})',
        settles=2.0 if fresh else None,
    )


def _pull_reason(status: Manifest) -> str:
    # The two names alternate while the kubelet backs off; one wording keeps the verdict the same.
    reason = text(status, "state", "waiting", "reason")
    return "ErrImagePull" if reason == "ImagePullBackOff" else reason


def _ended(look: Look, workload: str, pod: Manifest, status: Manifest, end: Manifest) -> Seen:
    """A container whose run ended badly: by memory, by its probe, by the runtime or by itself."""
    name = text(status, "name")
    ran_after = look.is_fresh(_began(end))
    settles = 0.0 if ran_after and number(status, "restartCount") >= _SETTLED_RESTARTS else None
    # Events are rate-limited: that of the last run may be missing, and an earlier one of this pod says the same.
    by_signal = number(end, "exitCode") in (137, 143)
    # A probe may fail in the moment in which a process ends by itself; that did not end it.
    stopped = by_signal or number(end, "exitCode") == 0 or _is_killing(look, pod, name, moment(end, "startedAt"))
    since = None if by_signal else moment(end, "startedAt")
    killed = _probe_failure(look, pod, name, since, "Liveness", "Startup") if stopped else ""
    killed = killed or (_refused_probe(look, pod, name) if by_signal else "")
    if text(end, "reason") == "OOMKilled":
        limit = text(_spec_of(pod, name), "resources", "limits", "memory") or "none"
        message = f"{workload}: container {name} is killed at its memory limit {limit} (OOMKilled)"
        return failed(CHECK, Kind.OOM_KILLED, workload, message, settles=settles)
    if text(end, "reason") in _START:
        message = f"{workload}: container {name} cannot start: {_runtime_message(text(end, 'message'))}"
        return failed(CHECK, Kind.CONTAINER_START, workload, message, settles=settles)
    if killed:
        message = f"{workload}: the kubelet restarts container {name}: {killed}"
        return failed(CHECK, Kind.LIVENESS_FAILING, workload, message, settles=settles)
    said = look.log_line(pod, name) or one_line(text(end, "message"), 200)
    init = "init container" if _is_init(pod, name) else "container"
    message = f"{workload}: {init} {name} exits with code {number(end, 'exitCode')}"
    if said:
        message += f'; its log ends with "{one_line(said, 160)}"'
    return failed(CHECK, Kind.CRASH, workload, message, settles=settles)


def _running_faults(look: Look, workload: str, pod: Manifest, status: Manifest) -> Iterator[Seen]:
    name = text(status, "name")
    started = moment(status, "state", "running", "startedAt")
    end = mapping(status, "lastState", "terminated")
    container = _spec_of(pod, name)
    alive = _probe_failure(look, pod, name, started, "Liveness", "Startup", within=_probe_patience(container))
    if alive:
        message = f"{workload}: the kubelet is about to restart container {name}: {alive}"
        yield failed(CHECK, Kind.LIVENESS_FAILING, workload, message)
    elif end and started and look.now - started < _window(container, look):
        if look.is_fresh(moment(end, "startedAt")):
            yield _ended(look, workload, pod, status, end)
        else:
            yield failed(CHECK, Kind.RESTARTING, workload, f"{workload}: container {name} restarted a moment ago")
    elif not status.get("ready") and not _is_init(pod, name):
        yield _not_ready(look, workload, pod, name, started)


def _not_ready(look: Look, workload: str, pod: Manifest, name: str, started: datetime | None) -> Seen:
    why = _probe_failure(look, pod, name, started, "Readiness")
    message = f"{workload}: container {name} runs but is not ready" + (f": {why}" if why else "")
    # An answer such as 404 comes from a running server: it will say the same in a minute.
    settles = 20.0 if "statuscode: 4" in why else None
    return failed(CHECK, Kind.READINESS_FAILING, workload, message, settles=settles)


def _is_killing(look: Look, pod: Manifest, container: str, since: datetime | None) -> bool:
    """Whether the kubelet said that it stops this run of the container because of a probe."""
    return any(
        f"Container {container} failed" in text(event, "message")
        for event in look.events(text(pod, "metadata", "uid"), "Killing")
        if since is None or ((seen := event_moment(event)) is not None and seen >= since)
    )


def _began(end: Manifest) -> datetime | None:
    """When a run that ended began; one that could not be started says 1970, and began as it ended."""
    return moment(end, "finishedAt" if text(end, "reason") in _START else "startedAt")


def _probe_failure(
    look: Look,
    pod: Manifest,
    container: str,
    started: datetime | None,
    *probes: str,
    within: timedelta | None = None,
) -> str:
    """What the kubelet said about a failing probe of this run of the container, or an empty string."""
    for event in reversed(look.events(text(pod, "metadata", "uid"), "Unhealthy")):
        about = text(event, "involvedObject", "fieldPath")
        if about and not about.endswith(f"{{{container}}}"):
            continue
        seen, said = event_moment(event), one_line(text(event, "message"), 200)
        late = started is None or (seen is not None and seen >= started)
        recent = within is None or (seen is not None and look.now - seen <= within)
        if late and recent and said.startswith(probes):
            return said
    return ""


def _refused_probe(look: Look, pod: Manifest, name: str) -> str:
    """What a liveness or startup probe of the container met when asked from outside, where that is a failure."""
    for container, field, probe in declared_probes(pod):
        for asked, answer in look.snapshot.answers.items():
            same = container == name and (asked.kind, asked.port, asked.path) == ("Pod", probe.port, probe.path)
            if same and answer.known and answer.status >= 400:
                return f"{field} GET {probe.path} on port {probe.port} is answered with {answer.status}"
        # The event may be late and the container down: a signal that no memory limit explains is the kubelet's.
        if container == name and not text(_spec_of(pod, name), "resources", "limits", "memory"):
            return f"it is stopped by a signal, and its {field} asks GET {probe.path} on port {probe.port}"
    return ""


def _probe_patience(container: Manifest) -> timedelta:
    """How long a failed liveness probe counts as failing now: two periods and some slack."""
    period = number(container, "livenessProbe", "periodSeconds", default=10)
    return timedelta(seconds=2 * period + 5)


def liveness_deadline(container: Manifest) -> timedelta:
    """How long the kubelet may take to kill a container whose liveness probe never succeeds, at most 5 min."""
    seconds = 0
    for probe in (mapping(container, "startupProbe"), mapping(container, "livenessProbe")):
        if probe:
            period, threshold = (
                number(probe, "periodSeconds", default=10),
                number(probe, "failureThreshold", default=3),
            )
            seconds += number(probe, "initialDelaySeconds") + period * threshold
    return min(timedelta(seconds=seconds + 2 if seconds else 0), _LONGEST_WINDOW)


def _window(container: Manifest, look: Look) -> timedelta:
    """How long a restarted container must have run to count as stable."""
    return max(_CRASH_WINDOW if look.since is None else look.hold, liveness_deadline(container))


def _is_new(look: Look, pod: Manifest) -> bool:
    return look.is_fresh(moment(pod, "metadata", "creationTimestamp"))


def _spec_of(pod: Manifest, name: str) -> Manifest:
    for part in ("containers", "initContainers"):
        for container in items(pod, "spec", part):
            if text(container, "name") == name:
                return container
    return {}


def _is_init(pod: Manifest, name: str) -> bool:
    return any(text(container, "name") == name for container in items(pod, "spec", "initContainers"))


def _runtime_message(message: str) -> str:
    """The part of a container runtime's message that names the cause: after the last `error: ` or `process: `."""
    line = one_line(message, 900)
    for words in (
        "unable to start container process: ",
        "OCI runtime create failed: ",
        "failed to create containerd task: ",
    ):
        line = line.rpartition(words)[2]
    return one_line(line, 180) or "no message"


def creation_failure(message: str) -> str:
    """A controller's refusal to create a pod, without the pod's generated name."""
    return one_line(_NAMED_POD.sub("", one_line(message, 900)), 220)


def newest(events: list[Manifest]) -> Manifest | None:
    """The newest of some events."""
    return max(events, key=event_time, default=None)
