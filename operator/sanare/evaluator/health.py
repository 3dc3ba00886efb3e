"""Whether the workloads of the scope run: targets exist, pods can be created, containers run, the rollout is done.

Pure. Each check is a function of one look; `CHECKS` is the list that a verdict runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

from sanare.api.manifest import Manifest, items, mapping, number, owners, text
from sanare.evaluator.containers import creation_failure, newest, pod_faults
from sanare.evaluator.kinds import Kind
from sanare.evaluator.look import Look, condition, event_moment, is_ready, moment
from sanare.evaluator.ownership import containers, follows_template, is_terminating
from sanare.evaluator.reach import declared_probes
from sanare.evaluator.seen import Seen, failed, passed, unknown

# Refusals by what the namespace rules out, whatever the moment: a LimitRange, Pod Security.
_RULED_OUT = re.compile(r"usage per (?:Container|Pod) is|violates PodSecurity")

Check = Callable[[Look], Iterator[Seen]]


def check_targets(look: Look) -> Iterator[Seen]:
    """Every target that the Incident names exists."""
    for name in look.scope.missing:
        if look.baseline is None or name not in look.baseline.facts.targets:
            yield failed("targets", Kind.TARGET_MISSING, name, f"{name} does not exist", settles=5.0)


def check_creation(look: Look) -> Iterator[Seen]:
    """The controllers can create the pods that are asked for."""
    for name in look.scope.workloads:
        workload = look.owned.workloads.get(name)
        if workload and len(look.owned.current(name)) < desired_pods(workload):
            yield from _creation_fault(look, name, workload)


def _creation_fault(look: Look, name: str, workload: Manifest) -> Iterator[Seen]:
    message = _refusal(look, workload)
    if not message:
        return
    why = creation_failure(message)
    if "exceeded quota" in message:
        said = f"{name}: no pod can be created: {why}; the controller tries again by itself, with growing back-off"
        yield failed("creation", Kind.QUOTA_EXCEEDED, name, said)
    else:
        # What admission says of a template again after the change it will go on saying.
        settles = 15.0 if _RULED_OUT.search(message) and _is_said_again(look, workload) else None
        yield failed("creation", Kind.FAILED_CREATE, name, f"{name}: no pod can be created: {why}", settles=settles)


def _is_said_again(look: Look, workload: Manifest) -> bool:
    events = [
        event
        for item in look.snapshot.all("ReplicaSet")
        if _is_current(item, workload)
        for event in look.events(text(item, "metadata", "uid"), "FailedCreate")
    ]
    return look.since is not None and any(look.is_fresh(event_moment(event)) for event in events)


def _refusal(look: Look, workload: Manifest) -> str:
    """What the API server said when the controller last tried to create a pod: a condition, else a recent event."""
    creators = [workload, *(item for item in look.snapshot.all("ReplicaSet") if _is_current(item, workload))]
    for creator in reversed(creators):
        failure = condition(creator, "ReplicaFailure")
        if text(failure, "status") == "True":
            return text(failure, "message")
    events = [event for each in creators for event in look.events(text(each, "metadata", "uid"), "FailedCreate")]
    # Creation may have failed before the last change for a reason that is gone: old events are no present cause.
    return text(newest([event for event in events if look.is_fresh(event_moment(event))]), "message")


def _is_current(replica_set: Manifest, deployment: Manifest) -> bool:
    revision = ("metadata", "annotations", "deployment.kubernetes.io/revision")
    owner = next(owners(replica_set), None)
    same = owner is not None and owner.uid == text(deployment, "metadata", "uid")
    return same and text(replica_set, *revision) == text(deployment, *revision)


def check_containers(look: Look) -> Iterator[Seen]:
    """No container of a pod of the present revision waits for something that does not come, or ends."""
    for name in look.scope.workloads:
        workload = look.owned.workloads.get(name)
        if workload is None or text(workload, "kind") in ("Job", "CronJob") or not is_observed(workload):
            continue
        pods = look.owned.current(name)
        found = [fault for pod in pods for fault in pod_faults(look, name, pod)]
        yield from dict.fromkeys(found)
        if pods and not found:
            yield passed("containers", name, f"{name}: {len(pods)} pods run without an error state")


def check_liveness(look: Look) -> Iterator[Seen]:
    """The HTTP probes by which the kubelet kills a container are answered as it wants them, asked from outside."""
    for name in look.scope.workloads:
        pods = look.owned.current(name) if is_observed(look.owned.workloads.get(name, {})) else ()
        for pod in pods:
            for container, field, probe in declared_probes(pod):
                answer = look.snapshot.answers.get(probe)
                if answer is None or not answer.known or not _is_probed(look, pod, container, field):
                    continue
                if 200 <= answer.status < 400:
                    yield passed("probes", name, f"{name}: {field} of container {container} answers")
                elif answer.status:
                    said = f"GET {probe.path} on port {probe.port} is answered with {answer.status}"
                    message = f"{name}: {field} of container {container} fails: {said}"
                    settles = 5.0 if answer.status < 500 else None
                    yield failed("probes", Kind.LIVENESS_FAILING, name, message, settles=settles)


def _is_probed(look: Look, pod: Manifest, container: str, field: str) -> bool:
    """Whether the container has run for longer than the probe's initial delay."""
    spec = next((each for each in items(pod, "spec", "containers") if text(each, "name") == container), {})
    delay = timedelta(seconds=number(spec, field, "initialDelaySeconds"))
    for status in items(pod, "status", "containerStatuses"):
        started = moment(status, "state", "running", "startedAt")
        if text(status, "name") == container and started:
            waited = bool(status.get("started")) or field == "startupProbe"
            return waited and look.now - started >= delay
    return False


def check_rollout(look: Look) -> Iterator[Seen]:
    """The controller has brought about what its spec says, and nothing of before is left."""
    for name in look.scope.workloads:
        workload = look.owned.workloads.get(name)
        if workload is None:
            continue
        judge = _ROLLOUTS.get(text(workload, "kind"))
        found = list(judge(look, name, workload)) if judge else []
        yield from found
        if judge and not found:
            yield passed("rollout", name, f"{name}: the rollout is complete")


def desired_pods(workload: Manifest) -> int:
    """How many pods the workload should have; 0 for kinds that do not say."""
    kind = text(workload, "kind")
    if kind == "DaemonSet":
        return number(workload, "status", "desiredNumberScheduled")
    return number(workload, "spec", "replicas", default=1) if kind in _REPLICATED else 0


_REPLICATED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")


def is_observed(workload: Manifest) -> bool:
    """Whether the controller has acted on the present spec; before that, every pod is one of the spec before."""
    replicated = text(workload, "kind") in (*_REPLICATED, "DaemonSet")
    seen, present = number(workload, "status", "observedGeneration"), number(workload, "metadata", "generation")
    return not replicated or seen >= present


def _unobserved(name: str, workload: Manifest) -> Iterator[Seen]:
    if not is_observed(workload):
        yield _incomplete(name, "its controller has not acted on the present spec yet")


def _incomplete(name: str, what: str, *, settles: float | None = None) -> Seen:
    return failed("rollout", Kind.ROLLOUT_INCOMPLETE, name, f"{name}: {what}", settles=settles)


def _deployment(look: Look, name: str, workload: Manifest) -> Iterator[Seen]:
    desired = desired_pods(workload)
    status = mapping(workload, "status")
    if desired == 0:
        yield failed("rollout", Kind.NO_REPLICAS, name, f"{name}: spec.replicas is 0, nothing runs", settles=5.0)
        return
    if mapping(workload, "spec").get("paused") and number(status, "updatedReplicas") < desired:
        message = f"{name}: spec.paused is true, so the present template is not rolled out"
        yield failed("rollout", Kind.ROLLOUT_PAUSED, name, message, settles=5.0)
        return
    yield from _unobserved(name, workload)
    progressing = condition(workload, "Progressing")
    if text(progressing, "reason") == "ProgressDeadlineExceeded":
        yield _incomplete(name, "the rollout passed its progressDeadlineSeconds", settles=10.0)
    updated, available = number(status, "updatedReplicas"), number(status, "availableReplicas")
    counted = updated == available == number(status, "readyReplicas") == desired
    if not counted:
        yield _incomplete(name, f"{updated} of {desired} replicas are updated, {available} available")
    yield from _pods_fit(look, name, workload, desired, counted=counted)


def _pods_fit(look: Look, name: str, workload: Manifest, desired: int, *, counted: bool) -> Iterator[Seen]:
    """The pods themselves: the controller's counts can be right while pods are old or differ from the template."""
    if not is_observed(workload):
        return
    current, old = look.owned.current(name), look.owned.old(name)
    serving = [pod for pod in old if not text(pod, "metadata", "deletionTimestamp")]
    if serving:
        yield _incomplete(name, f"{len(serving)} pods of an earlier revision still exist")
    ready = sum(is_ready(pod) for pod in current)
    if counted and ready != desired and not serving:
        yield _incomplete(name, f"{ready} of {desired} pods are ready")
    differing = sorted({field for pod in current if (field := follows_template(pod, workload))})
    if differing:
        message = f"{name}: a pod differs from the template in {differing[0]}; it was made before the change"
        yield failed("rollout", Kind.STALE_POD, name, message, settles=10.0)


def _stateful_set(look: Look, name: str, workload: Manifest) -> Iterator[Seen]:
    desired, status = desired_pods(workload), mapping(workload, "status")
    if desired == 0:
        yield failed("rollout", Kind.NO_REPLICAS, name, f"{name}: spec.replicas is 0, nothing runs", settles=5.0)
        return
    yield from _unobserved(name, workload)
    partition = number(workload, "spec", "updateStrategy", "rollingUpdate", "partition")
    ready, updated = number(status, "readyReplicas"), number(status, "updatedReplicas")
    counted = ready == desired and (updated >= desired - partition or not text(status, "updateRevision"))
    if not counted:
        yield _incomplete(name, f"{updated} of {desired} replicas are updated, {ready} ready")
    if not partition:
        yield from _pods_fit(look, name, workload, desired, counted=counted)


def _daemon_set(look: Look, name: str, workload: Manifest) -> Iterator[Seen]:
    desired, status = desired_pods(workload), mapping(workload, "status")
    yield from _unobserved(name, workload)
    if desired == 0:
        message = f"{name}: no node matches it (status.desiredNumberScheduled is 0)"
        yield failed("rollout", Kind.NO_REPLICAS, name, message, settles=5.0)
        return
    updated, ready = number(status, "updatedNumberScheduled"), number(status, "numberReady")
    counted = updated == ready == desired
    if not counted:
        yield _incomplete(name, f"{updated} of {desired} pods are updated, {ready} ready")
    yield from _pods_fit(look, name, workload, desired, counted=counted)


def _replica_set(look: Look, name: str, workload: Manifest) -> Iterator[Seen]:
    desired = desired_pods(workload)
    if desired == 0:
        yield failed("rollout", Kind.NO_REPLICAS, name, f"{name}: spec.replicas is 0, nothing runs", settles=5.0)
        return
    yield from _unobserved(name, workload)
    yield from _pods_fit(look, name, workload, desired, counted=True)


def _pod(look: Look, name: str, workload: Manifest) -> Iterator[Seen]:
    if not is_ready(workload) and text(workload, "status", "phase") != "Succeeded":
        yield failed("rollout", Kind.POD_NOT_READY, name, f"{name}: is not ready")


def _job(look: Look, name: str, workload: Manifest) -> Iterator[Seen]:
    failure = condition(workload, "Failed")
    if text(failure, "status") == "True":
        why = f"{text(failure, 'reason')}: {text(failure, 'message')}"
        yield failed("rollout", Kind.JOB_FAILED, name, f"{name}: has failed ({why})", settles=0.0)
    elif text(condition(workload, "Complete"), "status") != "True":
        yield from (fault for pod in look.owned.current(name) for fault in pod_faults(look, name, pod))
        yield _incomplete(name, "has not completed yet")


def _cron_job(look: Look, name: str, workload: Manifest) -> Iterator[Seen]:
    jobs = [job for job in look.snapshot.all("Job") if str(next(owners(job), "")) == name]
    newest_job = max(jobs, key=lambda job: text(job, "metadata", "creationTimestamp"), default=None)
    found = list(_job(look, name, newest_job)) if newest_job else []
    yield from found
    # A failed Job that is only deleted proves nothing: a run of after the baseline has to complete.
    ran = _ran_since(look, newest_job) and _is_made_from(newest_job, workload)
    if not found and look.failed_before(name) and not ran:
        yield unknown(
            "rollout", Kind.EMPTY, name, f"{name}: no Job of its template has completed since the last one failed"
        )


def _ran_since(look: Look, job: Manifest | None) -> bool:
    created = moment(job, "metadata", "creationTimestamp")
    return bool(look.baseline and created and created >= look.baseline.taken_at.replace(microsecond=0))


_PROGRAM = ("name", "image", "command", "args", "env", "envFrom")


def _is_made_from(job: Manifest | None, cron_job: Manifest) -> bool:
    """Whether a Job runs what its CronJob's template says: anybody can make one that names it as the owner."""
    programs = [
        [[one.get(field) for field in _PROGRAM] for one, _ in containers({"spec": spec})]
        for spec in (
            mapping(job, "spec", "template", "spec"),
            mapping(cron_job, "spec", "jobTemplate", "spec", "template", "spec"),
        )
    ]
    return programs[0] == programs[1]


_ROLLOUTS: dict[str, Callable[[Look, str, Manifest], Iterator[Seen]]] = {
    "Deployment": _deployment,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "ReplicaSet": _replica_set,
    "ReplicationController": _replica_set,
    "Pod": _pod,
    "Job": _job,
    "CronJob": _cron_job,
}

CHECKS: tuple[Check, ...] = (check_targets, check_creation, check_containers, check_liveness, check_rollout)


def is_healthy(look: Look, name: str) -> bool:
    """Whether one workload, inside the scope or not, has all its pods of the present revision ready."""
    return _has_ready(look, name, look.owned.current(name))


def is_available(look: Look, name: str) -> bool:
    """Whether one workload has as many ready pods as it asks for, of whatever revision: it may be rolling out."""
    return _has_ready(look, name, tuple(pod for pod in look.owned.pods.get(name, ()) if not is_terminating(pod)))


def _has_ready(look: Look, name: str, pods: tuple[Manifest, ...]) -> bool:
    workload = look.owned.workloads.get(name)
    if workload is None:
        return False
    kind = text(workload, "kind")
    if kind in ("Job", "CronJob"):
        return text(condition(workload, "Failed"), "status") != "True"
    if kind == "Pod" and text(workload, "status", "phase") == "Succeeded":
        return True
    desired = 1 if kind == "Pod" else desired_pods(workload)
    return desired > 0 and sum(is_ready(pod) for pod in pods) >= desired
