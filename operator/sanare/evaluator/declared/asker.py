"""Asks what the snapshot does not answer: each check its own way, all at once, each within its time.

Cheap checks are asked at every look. Those that make pods or query Prometheus are asked when everything else is
healthy, and the answer of a pod is kept for as long as that lasts.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Self

from sanare.api.checks import Check, HttpCheck, JobCheck, Origin, PromqlCheck, TcpCheck
from sanare.api.incident import Incident
from sanare.api.manifest import dig, number, text
from sanare.api.verdict import CheckResult
from sanare.evaluator.declared import direct, expression, prometheus, proxied
from sanare.evaluator.declared.destination import destination
from sanare.evaluator.declared.jobs import Ended, Jobs
from sanare.evaluator.declared.prometheus import Server
from sanare.evaluator.declared.reply import Reply, check_name, judge_http, judge_tcp
from sanare.evaluator.kinds import Kind
from sanare.evaluator.seen import Seen, failed, passed, unknown
from sanare.evaluator.snapshot import Snapshot
from sanare.kube.client import KubeClient
from sanare.settings import Settings
from sanare.text import one_line

NO_PODS = "no pod is made for it: the policy does not say verify.allowPods"
OUTSIDE = "it is asked from the operator's own pod, and this process does not run in the cluster"
NO_SERVER = "no Prometheus is configured: set checks.prometheus.url of the chart, or SANARE_PROMETHEUS_URL"
NO_IMAGE = "no image for probe pods is configured: set SANARE_PROBE_IMAGE"
_PROGRAM = files("sanare.evaluator.declared").joinpath("program.py").read_text()
_PROBE_SECONDS = timedelta(minutes=2)  # a probe pod's whole life: its image may have to be pulled
_AGAIN = timedelta(seconds=30)  # how long the answer of a pod that was not the right one stands


@dataclass(frozen=True, slots=True)
class Means:
    """What the operator's configuration gives to ask with.

    Attributes:
        server: the Prometheus that is queried; None: promql checks cannot be asked.
        probe_image: an image with Python 3 for probe pods; empty: they cannot be made.
        may_create: False makes no pods at all: for those who only look.
        in_cluster: False where the cluster's own addresses cannot be reached: `from: Operator` cannot be asked.
        cluster_wide: False where only some namespaces may be read: bindings of the cluster's scope are left out.
    """

    server: Server | None = None
    probe_image: str = ""
    may_create: bool = True
    in_cluster: bool = True
    cluster_wide: bool = True

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """What these settings give."""
        url = settings.prometheus_url
        return cls(
            server=Server(url, settings.prometheus_token_file) if url else None,
            probe_image=settings.probe_image,
            in_cluster=settings.in_cluster,
            cluster_wide=not settings.watch_namespaces,
        )


@dataclass(slots=True)
class Kept:
    """Answers of pods during one verification, and when each was given."""

    answers: dict[str, tuple[datetime, Seen]] = field(default_factory=dict)

    def forget(self) -> None:
        """Something else is wrong: what pods said before says nothing about the time after."""
        self.answers.clear()

    def standing(self, name: str, now: datetime) -> Seen | None:
        """An answer that need not be asked again yet."""
        given, seen = self.answers.get(name, (now, None))
        stands = seen is not None and (seen.result is CheckResult.PASSED or now - given < _AGAIN)
        return seen if stands else None


class Asker:
    """Asks declared checks of one cluster."""

    def __init__(self, kube: KubeClient, means: Means | None = None) -> None:
        self._kube = kube
        self.means = means or Means()
        self.jobs = Jobs(kube)
        self._processes = asyncio.Semaphore(expression.AT_ONCE)

    async def look(self, incident: Incident, snapshot: Snapshot) -> Mapping[str, Seen]:
        """The outcomes, by name, of what is asked at every look. Never raises."""
        checks = [check for check in incident.spec.checks if not check.is_costly]
        return await _together((check_name(check), self._cheap(check, snapshot)) for check in checks)

    async def look_further(
        self, incident: Incident, snapshot: Snapshot, *, allow_pods: bool, kept: Kept
    ) -> Mapping[str, Seen]:
        """The outcomes, by name, of what is asked when everything else is healthy. Never raises."""
        now = datetime.now(UTC)
        costly = [check for check in incident.spec.checks if check.is_costly]
        standing = {
            name: seen for check in costly if (seen := kept.standing(name := check_name(check), now)) is not None
        }
        asked = await _together(
            (name, self._costly(check, incident, snapshot, allow_pods=allow_pods))
            for check in costly
            if (name := check_name(check)) not in standing
        )
        with_pods = {check_name(check) for check in costly if check.needs_pods}
        answered = datetime.now(UTC)
        kept.answers.update({name: (answered, seen) for name, seen in asked.items() if name in with_pods})
        return {**standing, **asked}

    async def _cheap(self, check: Check, snapshot: Snapshot) -> Seen | None:
        name = check_name(check)
        if check.is_from(Origin.OPERATOR) and not self.means.in_cluster:
            return unknown(name, Kind.NOT_ASKED, name, f"{name}: {OUTSIDE}")
        if check.http:
            through = check.http.origin is Origin.API_SERVER_PROXY
            asking = proxied.ask_http(self._kube, snapshot, check.http) if through else None
            return _http(name, check.http, await (asking or direct.ask_http(snapshot, check.http)))
        if check.tcp:
            through = check.tcp.origin is Origin.API_SERVER_PROXY
            asking = proxied.ask_tcp(self._kube, snapshot, check.tcp) if through else None
            return judge_tcp(name, check.tcp, await (asking or direct.ask_tcp(snapshot, check.tcp)))
        if check.cel:
            async with self._processes:
                value = await expression.ask(self._kube, snapshot.namespace, check.cel)
            return expression.judge(name, check.cel, value)
        return None

    async def _costly(
        self, check: Check, incident: Incident, snapshot: Snapshot, *, allow_pods: bool
    ) -> Seen | None:
        name = check_name(check)
        if check.promql:
            return await self._promql(name, check.promql)
        if not allow_pods:
            return unknown(name, Kind.FORBIDDEN, name, f"{name}: {NO_PODS}")
        if not self.means.may_create:
            return unknown(name, Kind.NOT_ASKED, name, f"{name}: it needs a pod, and nothing is created here")
        if check.job:
            job = check.job
            ended = await self.jobs.run(incident.metadata, job.image, job.command, timeout=job.timeout)
            return judge_job(name, job, ended)
        if check.http:
            return _http(name, check.http, await self._from_pod(incident, snapshot, check.http))
        if check.tcp:
            return judge_tcp(name, check.tcp, await self._from_pod(incident, snapshot, check.tcp))
        return None

    async def _promql(self, name: str, check: PromqlCheck) -> Seen:
        if self.means.server is None:
            return unknown(name, Kind.UNKNOWN, name, f"{name}: {NO_SERVER}")
        when = prometheus.window(check, datetime.now(UTC))
        return prometheus.judge(name, check, when, await prometheus.ask(self.means.server, check, when))

    async def _from_pod(self, incident: Incident, snapshot: Snapshot, check: HttpCheck | TcpCheck) -> Reply:
        where = destination(snapshot, check.service, check.port)
        if isinstance(where, Reply):
            return where
        if not self.means.probe_image:
            return Reply(failure=NO_IMAGE, unknown=Kind.UNKNOWN)
        http = (check.scheme, check.path) if isinstance(check, HttpCheck) else ()
        mode = "http" if http else "tcp"
        asked = (mode, where.address, str(where.port), where.host, *http)
        command = ("python3", "-c", _PROGRAM, *asked)
        image, life = self.means.probe_image, _PROBE_SECONDS
        ended = await self.jobs.run(incident.metadata, image, command, timeout=life, output=True)
        return ended if isinstance(ended, Reply) else read_output(ended)


def read_output(ended: Ended) -> Reply:
    """What a probe pod's program printed. A line that is not its own tells nothing, not even an open port."""
    try:
        said = json.loads(ended.output.strip().splitlines()[-1])
        body = base64.b64decode(text(said, "body"), validate=True)
    except (ValueError, IndexError):
        said, body = None, b""
    status, failure = number(said, "status"), one_line(text(said, "failure"), 200)
    if not (status or failure or dig(said, "open") is True):
        printed = one_line(ended.output.decode("utf-8", "replace"), 200)
        why = f"the probe pod ended with exit code {ended.exit_code}: {printed}"
        return Reply(failure=why, unknown=Kind.UNKNOWN)
    return Reply(status, body, failure)


def judge_job(name: str, check: JobCheck, ended: Ended | Reply) -> Seen:
    """The exit code decides."""
    if isinstance(ended, Reply):
        kind = ended.unknown or Kind.UNKNOWN
        return unknown(name, kind, name, f"{name}: the command could not be run to its end: {ended.failure}")
    if ended.exit_code != check.exit_code:
        message = f"{name}: {check.image} exited with {ended.exit_code}, not {check.exit_code}"
        return failed(name, Kind.DECLARED, name, message)
    return passed(name, name, f"{name}: {check.image} exited with {ended.exit_code}")


def _http(name: str, check: HttpCheck, reply: Reply) -> Seen:
    try:
        return judge_http(name, check, reply)
    except ValueError as error:
        message = f"{name}: matches is no regular expression in RE2 syntax: {error}"
        return unknown(name, Kind.UNKNOWN, f"Service/{check.service}", message)


async def _together(asked: Iterable[tuple[str, Awaitable[Seen | None]]]) -> dict[str, Seen]:
    pairs = list(asked)
    found = await asyncio.gather(*(each for _, each in pairs))
    return {name: seen for (name, _), seen in zip(pairs, found, strict=True) if seen is not None}
