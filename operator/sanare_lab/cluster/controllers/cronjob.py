"""CronJob: a Job at each time of a schedule, in wall time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from sanare_lab.cluster.controllers.controller import (
    Controller,
    Key,
    is_going,
    is_owned,
    key_of,
    owner_key,
    reference_to,
)
from sanare_lab.cluster.controllers.podstate import condition
from sanare_lab.cluster.controllers.schedule import parse_schedule
from sanare_lab.cluster.objects import Obj, clone, dig, name_of, namespace_of, parse_timestamp, timestamp
from sanare_lab.cluster.resources import CRON_JOBS, JOBS
from sanare_lab.cluster.store import ApiError, Change


class CronJobController(Controller):
    """Concurrency policy, suspend, history limits, starting deadline."""

    component = "cronjob-controller"
    watches = (CRON_JOBS, JOBS)

    def keys(self, change: Change) -> Iterable[Key]:
        """The CronJob itself, or a Job's owner."""
        return [key_of(change.object)] if change.resource is CRON_JOBS else owner_key(change.object, "CronJob")

    def reconcile(self, key: Key) -> float | None:
        """Start the Job that is due, clear away old ones; seconds until the next time."""
        found = self.store.get(CRON_JOBS, *key)
        if found is None or is_going(found):
            return None
        jobs = [job for job in self.store.list(JOBS, key[0]) if is_owned(job, found)]
        self._clean_up(found, jobs)
        try:
            schedule = parse_schedule(found["spec"].get("schedule", ""))
        except ValueError as exc:
            text = f"unparseable schedule: {found['spec'].get('schedule')} : {exc}"
            self.events.warning(found, "UnparseableSchedule", text)
            return None
        now = self.store.clock.now()
        last = dig(found, "status", "lastScheduleTime") or found["metadata"]["creationTimestamp"]
        due = schedule.latest(parse_timestamp(last), now)
        if due is not None and not found["spec"].get("suspend"):
            self._start(found, jobs, due, now)
        else:
            self._report(found, jobs, dig(found, "status", "lastScheduleTime"))
        following = schedule.next_after(now)
        return (following - now).total_seconds() * self.store.clock.scale if following else None

    def _start(self, owner: Obj, jobs: list[Obj], due: dt.datetime, now: dt.datetime) -> None:
        deadline = owner["spec"].get("startingDeadlineSeconds")
        if deadline is not None and (now - due).total_seconds() > float(deadline):
            self.events.warning(owner, "MissSchedule", f"Missed scheduled time to start a job: {timestamp(due)}")
            return
        active = [job for job in jobs if not is_over(job)]
        policy = owner["spec"].get("concurrencyPolicy")
        if active and policy == "Forbid":
            self.events.normal(
                owner,
                "JobAlreadyActive",
                "Not starting job because prior execution is running and concurrency policy is Forbid",
            )
            return
        if policy == "Replace":
            for job in active:
                self.store.delete(JOBS, *key_of(job), propagation="Background")
        created = self._create(owner, due)
        self._report(owner, [*jobs, *([created] if created else [])], timestamp(due))

    def _create(self, owner: Obj, due: dt.datetime) -> Obj | None:
        template = owner["spec"]["jobTemplate"]
        metadata = clone(template.get("metadata") or {})
        metadata |= {
            "name": f"{name_of(owner)}-{int(due.timestamp()) // 60}",
            "namespace": namespace_of(owner),
            "ownerReferences": [reference_to(owner)],
        }
        metadata["annotations"] = {
            **(metadata.get("annotations") or {}),
            "batch.kubernetes.io/cronjob-scheduled-timestamp": timestamp(due),
        }
        try:
            created = self.store.create(JOBS, {"metadata": metadata, "spec": clone(template["spec"])})
        except ApiError as exc:
            self.events.warning(owner, "FailedCreate", f"Error creating job: {exc.message}")
            return None
        self.events.normal(owner, "SuccessfulCreate", f"Created job {name_of(created)}")
        return created

    def _clean_up(self, owner: Obj, jobs: list[Obj]) -> None:
        for kind, field, default in (
            ("Complete", "successfulJobsHistoryLimit", 3),
            ("Failed", "failedJobsHistoryLimit", 1),
        ):
            ended = sorted(
                (job for job in jobs if condition(job, kind)), key=lambda job: str(job["metadata"]["name"])
            )
            limit = int(owner["spec"].get(field, default))
            for job in ended[: max(0, len(ended) - limit)]:
                if not is_going(job):
                    self.store.delete(JOBS, *key_of(job), propagation="Background")

    def _report(self, owner: Obj, jobs: list[Obj], last: str | None) -> None:
        status: Obj = {"lastScheduleTime": last} if last else {}
        finished = [str(dig(job, "status", "completionTime")) for job in jobs if condition(job, "Complete")]
        before = dig(owner, "status", "lastSuccessfulTime")
        newest = max([*finished, *([before] if before else [])], default=None)
        if newest:
            status["lastSuccessfulTime"] = newest
        active = [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": name_of(job),
                "namespace": namespace_of(job),
                "uid": job["metadata"]["uid"],
            }
            for job in jobs
            if not is_over(job)
        ]
        if active:
            status["active"] = active
        self.write_status(CRON_JOBS, owner, status)


def is_over(job: Obj) -> bool:
    """Whether the Job has completed or failed."""
    return bool(condition(job, "Complete") or condition(job, "Failed"))
