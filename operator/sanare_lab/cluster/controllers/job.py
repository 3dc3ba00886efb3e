"""Job: pods that run to their end, so many times, with so many failures allowed."""

from __future__ import annotations

from collections.abc import Iterable

from sanare_lab.cluster.controllers.controller import (
    Controller,
    Key,
    is_going,
    is_owned,
    key_of,
    owner_key,
    pod_from,
)
from sanare_lab.cluster.controllers.podstate import condition, is_active, is_ready, phase
from sanare_lab.cluster.objects import Obj, dig, name_of, namespace_of, parse_timestamp
from sanare_lab.cluster.resources import JOBS, PODS
from sanare_lab.cluster.store import ApiError, Change, Store

_BACKOFF_FIRST, _BACKOFF_MAX = 10.0, 600.0


class JobController(Controller):
    """completions, parallelism, backoffLimit with growing pauses, activeDeadlineSeconds, suspend, TTL."""

    component = "job-controller"
    watches = (JOBS, PODS)

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._since: dict[Key, float] = {}
        self._failed: dict[Key, tuple[int, float]] = {}

    def keys(self, change: Change) -> Iterable[Key]:
        """The Job itself, or a pod's owner."""
        return [key_of(change.object)] if change.resource is JOBS else owner_key(change.object, "Job")

    def reconcile(self, key: Key) -> float | None:
        """Start pods, or end the Job."""
        job = self.store.get(JOBS, *key)
        if job is None or is_going(job):
            self._since.pop(key, None)
            self._failed.pop(key, None)
            return None
        pods = [pod for pod in self.store.list(PODS, key[0]) if is_owned(pod, job)]
        if condition(job, "Complete") or condition(job, "Failed"):
            return self._expire(job)
        return self._advance(job, pods)

    def _expire(self, job: Obj) -> float | None:
        ttl = job["spec"].get("ttlSecondsAfterFinished")
        if ttl is None:
            return None
        ended = (condition(job, "Complete") or condition(job, "Failed") or {})["lastTransitionTime"]
        clock = self.store.clock
        left = float(ttl) - (clock.now() - parse_timestamp(ended)).total_seconds() * clock.scale
        if left > 0:
            return left
        self.store.delete(JOBS, *key_of(job), propagation="Background")
        return None

    def _advance(self, job: Obj, pods: list[Obj]) -> float | None:
        key, spec = key_of(job), job["spec"]
        since = self._since.setdefault(key, self.seconds())
        succeeded = sum(phase(pod) == "Succeeded" for pod in pods)
        failed = [pod for pod in pods if phase(pod) == "Failed"]
        active = [pod for pod in pods if is_active(pod)]
        deadline = spec.get("activeDeadlineSeconds")
        left = float(deadline) - (self.seconds() - since) if deadline is not None else None
        if left is not None and left <= 0:
            self._end(job, active, "DeadlineExceeded", "Job was active longer than specified deadline")
        elif _retries(failed, active, spec) > int(spec.get("backoffLimit", 6)):
            self._end(job, active, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        elif succeeded >= int(spec.get("completions") or 1):
            self._end(job, active, "", "Reached expected number of succeeded pods")
        else:
            return _soonest(left, self._start(job, succeeded, len(failed), active))
        return None

    def _start(self, job: Obj, succeeded: int, failed: int, active: list[Obj]) -> float | None:
        spec = job["spec"]
        if spec.get("suspend"):
            for pod in active:
                self.store.delete(PODS, *key_of(pod))
            self._report(job, [], None)
            return None
        wait = self._pause(key_of(job), failed)
        wanted = min(int(spec.get("parallelism", 1)), int(spec.get("completions") or 1) - succeeded)
        refused = None
        if wait <= 0:
            for _ in range(wanted - len(active)):
                refused = self._create(job)
                if refused:
                    break
        self._report(job, [], None)
        return refused or (wait if wait > 0 and len(active) < wanted else None)

    def _pause(self, key: Key, failed: int) -> float:
        """Seconds until the next pod may start: 10 after the first failure, then doubling."""
        known, when = self._failed.get(key, (0, 0.0))
        if failed > known:
            when = self.seconds()
            self._failed[key] = (failed, when)
        if not failed:
            return 0.0
        return when + min(_BACKOFF_FIRST * 2.0 ** (failed - 1), _BACKOFF_MAX) - self.seconds()

    def _create(self, job: Obj) -> float | None:
        pod = pod_from(job["spec"]["template"], job)
        pod["metadata"]["generateName"] = f"{name_of(job)}-"
        try:
            created = self.store.create(PODS, pod)
        except ApiError as exc:
            self.events.warning(job, "FailedCreate", f"Error creating: {exc.message}")
            return _BACKOFF_FIRST
        self.events.normal(job, "SuccessfulCreate", f"Created pod: {name_of(created)}")
        return None

    def _end(self, job: Obj, active: list[Obj], failure: str, message: str) -> None:
        for pod in active:
            self.store.delete(PODS, *key_of(pod))
        kinds = ("FailureTarget", "Failed") if failure else ("SuccessCriteriaMet", "Complete")
        reason, now = failure or "CompletionsReached", self.now()
        conditions = [
            {
                "type": kind,
                "status": "True",
                "reason": reason,
                "message": message,
                "lastProbeTime": now,
                "lastTransitionTime": now,
            }
            for kind in kinds
        ]
        self._report(job, conditions, None if failure else now)
        if failure:
            self.events.warning(job, failure, message)
        else:
            self.events.normal(job, "Completed", "Job completed")

    def _report(self, job: Obj, conditions: list[Obj], completed: str | None) -> None:
        job = self.store.get(JOBS, *key_of(job)) or job
        pods = [pod for pod in self.store.list(PODS, namespace_of(job)) if is_owned(pod, job)]
        active = [pod for pod in pods if is_active(pod)]
        counts = {
            "active": len(active),
            "succeeded": sum(phase(pod) == "Succeeded" for pod in pods),
            "failed": sum(phase(pod) == "Failed" for pod in pods),
        }
        status: Obj = {key: value for key, value in counts.items() if value}
        status["ready"] = sum(is_ready(pod) for pod in active)
        status["terminating"] = sum(is_going(pod) for pod in pods)
        status["uncountedTerminatedPods"] = {}
        status["startTime"] = dig(job, "status", "startTime") or self.now()
        if completed:
            status["completionTime"] = completed
        if conditions:
            status["conditions"] = conditions
        self.write_status(JOBS, job, status)


def _retries(failed: list[Obj], active: list[Obj], spec: Obj) -> int:
    if dig(spec, "template", "spec", "restartPolicy") != "OnFailure":
        return len(failed)
    statuses = [item for pod in active for item in dig(pod, "status", "containerStatuses") or []]
    return len(failed) + sum(int(item.get("restartCount", 0)) for item in statuses)


def _soonest(*waits: float | None) -> float | None:
    return min((wait for wait in waits if wait is not None), default=None)
