"""Container: one container of a pod, from its image to its last exit. Event-driven: timers and calls, no task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from sanare_lab.cluster.node import images
from sanare_lab.cluster.node.config import ConfigError, check_user, environment, expand_all, full_name
from sanare_lab.cluster.node.images import Catalogue, Image, Refusal
from sanare_lab.cluster.node.probes import Finding, Kind, Outcome, ProbeClock, ProbeOwner
from sanare_lab.cluster.node.process import Process, Role
from sanare_lab.cluster.node.run import FOREVER, Listener, Run, StartError
from sanare_lab.cluster.node.shell import container_run
from sanare_lab.cluster.node.volumes import MountError, Mounts
from sanare_lab.cluster.objects import Obj, dig, timestamp
from sanare_lab.cluster.quantity import quantity
from sanare_lab.cluster.recorder import Recorder
from sanare_lab.cluster.store import Store
from sanare_lab.cluster.timers import Timer, Timers

_PULL = 0.6  # seconds that a pull, a creation and one round of the kubelet take
_CREATE = 0.3
_ROUND = 1.0
_CONFIG_RETRY = 12.0
_BACKOFF_FIRST, _BACKOFF_MAX, _BACKOFF_RESET = 10.0, 300.0, 600.0


class Host(Protocol):
    """The pod that a container belongs to, and what its node offers."""

    store: Store
    timers: Timers
    recorder: Recorder
    catalogue: Catalogue
    pod: Obj
    is_closing: bool  # nothing is started again: the pod is being deleted, or has done what it was for

    def now(self) -> float:
        """Seconds of the cluster's own time."""
        ...

    def downward(self) -> dict[str, str]:
        """The status fields that a container may ask for."""
        ...

    def mounts(self, container: Obj) -> Mounts:
        """The files of a container. Raises MountError."""
        ...

    def fetch(self, url: str) -> int:
        """The HTTP status that a request from the pod gets, 0 for none."""
        ...

    def ports_beside(self, container: Container) -> set[int]:
        """The ports that the pod's other containers listen on, or will."""
        ...

    def probe(self, container: Container, probe: Obj) -> Finding:
        """Ask a probe's question."""
        ...

    def changed(self, container: Container) -> None:
        """The container's status is another now."""
        ...


class Container(ProbeOwner):
    """One container; `state` and `last` are as the status tells them."""

    def __init__(self, host: Host, spec: Obj, role: Role) -> None:
        self.host = host
        self.spec = spec
        self.role = role
        self.name: str = spec["name"]
        self.state: Obj = {"waiting": {"reason": "ContainerCreating"}}
        self.last: Obj = {}
        self.restarts = 0
        self.ready = False
        self.started = False
        self.done = False  # ended, and will not be started again
        self.process: Process | None = None
        self.previous: Process | None = None
        self._pull_backoff = 0.0
        self._crash_backoff = 0.0
        self._timer: Timer | None = None
        self._end: Timer | None = None
        self._probes: list[ProbeClock] = []

    @property
    def is_running(self) -> bool:
        """Whether its process lives."""
        return "running" in self.state

    @property
    def is_pending(self) -> bool:
        """Whether a next step is due: it is being created, or waits to be tried again."""
        return self._timer is not None and self._timer.is_due

    @property
    def exit_code(self) -> int | None:
        """The code that it ended with for good."""
        return dig(self.state, "terminated", "exitCode") if self.done else None

    @property
    def field(self) -> str:
        """The fieldPath of its events."""
        return f"spec.{'containers' if self.role is Role.MAIN else 'initContainers'}{{{self.name}}}"

    def listener(self, port: int, *, local: bool) -> Listener | None:
        """What accepts connections at a port now."""
        if self.process is None or not self.is_running:
            return None
        return self.process.run.listener(port, self.process.elapsed(self.host.now()), local=local)

    def begin(self) -> None:
        """Get the image, then create and start the container."""
        reference = self.spec.get("image", "")
        policy = images.pull_policy(self.spec.get("imagePullPolicy", ""), reference)
        image = self.host.catalogue.find(reference)
        if not images.is_valid(reference):
            self._refused(images.invalid_name(reference))
        elif image is not None and image.name in self.host.catalogue.present and policy != "Always":
            self._normal(
                "Pulled", f'Container image "{reference}" already present on machine and can be accessed by the pod'
            )
            self._after(_CREATE, lambda: self._create(image))
        elif policy == "Never":
            self._refused(images.never_pulled(reference))
        else:
            self._normal("Pulling", f'Pulling image "{reference}"')
            self._after(_PULL, self._pulled)

    def _pulled(self) -> None:
        reference = self.spec.get("image", "")
        answer = self.host.catalogue.pull(reference)
        if isinstance(answer, Refusal):
            return self._refused(answer)
        self._pull_backoff = 0.0
        took = f"{_PULL * 1000:.0f}ms"
        self._normal(
            "Pulled",
            f'Successfully pulled image "{reference}" in {took} ({took} including waiting). '
            f"Image size: {answer.size} bytes.",
        )
        return self._after(_CREATE, lambda: self._create(answer))

    def _refused(self, refusal: Refusal) -> None:
        self._warning("Failed" if refusal.reason != "InvalidImageName" else "InspectFailed", refusal.event)
        self._warning("Failed", f"Error: {refusal.reason}")
        self._wait(refusal.reason, refusal.message)
        if refusal.reason == "ErrImagePull":
            self._after(_ROUND, lambda: self._back_off_pull(refusal))
        else:
            self._after(_CONFIG_RETRY, self.begin)

    def _back_off_pull(self, refusal: Refusal) -> None:
        self._pull_backoff = min(self._pull_backoff * 2 or _BACKOFF_FIRST, _BACKOFF_MAX)
        text = f'Back-off pulling image "{self.spec.get("image", "")}"'
        self._normal("BackOff", text)
        self._warning("Failed", "Error: ImagePullBackOff")
        self._wait("ImagePullBackOff", f"{text}: {refusal.reason}: {refusal.message}")
        self._after(self._pull_backoff, self.begin)

    def _create(self, image: Image) -> None:
        host = self.host
        try:
            env = environment(host.store, host.pod, self.spec, host.downward())
            check_user(host.pod, self.spec, image)
            files = host.mounts(self.spec)
        except (ConfigError, MountError) as exc:
            self._warning("Failed", f"Error: {exc}")
            self._wait("CreateContainerConfigError", str(exc))
            return self._after(_CONFIG_RETRY, self.begin)
        command, args = (expand_all(self.spec.get(key), env) for key in ("command", "args"))
        run = container_run(image, command, args, env, files, host.fetch)
        self._normal("Created", "Container created")
        if isinstance(run, StartError):
            return self._not_started(run)
        return self._launch(Process(run.refused(host.ports_beside(self)), host.now(), image, env, files))

    def _not_started(self, error: StartError) -> None:
        self._warning("Failed", f"Error: {error.message}")
        ended = {
            "exitCode": 128,
            "reason": "StartError",
            "message": error.message,
            "startedAt": "1970-01-01T00:00:00Z",
            "finishedAt": timestamp(self.host.store.clock.now()),
        }
        self._rotate(None)
        if not self._restarts_after(128):
            self.state, self.done = {"terminated": ended}, True
            return self.host.changed(self)
        self._wait("RunContainerError", error.message)
        return self._after(_ROUND, lambda: self._again({"terminated": ended}))

    def _launch(self, process: Process) -> None:
        self._rotate(process)
        for item in process.run.writes:
            process.files.write(item)
        self._normal("Started", "Container started")
        self.state = {"running": {"startedAt": timestamp(self.host.store.clock.now())}}
        self._schedule_end(process.run)
        self.started = not self.spec.get("startupProbe")
        self.ready = self.started and not self.spec.get("readinessProbe")
        self._start_probes()
        self.host.changed(self)

    def _schedule_end(self, run: Run) -> None:
        limit = quantity(dig(self.spec, "resources", "limits", "memory") or "0")
        if limit and run.memory > limit:
            self._end = self.host.timers.after(_CREATE, lambda: self._exit(137, "OOMKilled"))
        elif run.exit_at != FOREVER:
            self._end = self.host.timers.after(run.exit_at, lambda: self._exit(run.code))

    def _rotate(self, process: Process | None) -> None:
        if self.process is not None:
            self.previous = self.process
            self.restarts += 1
        elif self.last or "terminated" in self.state:
            self.restarts += 1
        self.process = process

    def _start_probes(self) -> None:
        kinds = (Kind.LIVENESS, Kind.READINESS) if self.started else (Kind.STARTUP,)
        for kind in kinds:
            probe = self.spec.get(kind.field)
            if probe:
                ask = self._asker()
                self._probes.append(ProbeClock(kind, probe, self.host.timers, ask, self))

    def _asker(self) -> Callable[[Obj], Finding]:
        return lambda probe: self.host.probe(self, probe)

    def unhealthy(self, clock: ProbeClock, finding: Finding) -> None:
        """Tell a failed probe as an event."""
        how = "failed" if finding.outcome is Outcome.FAILURE else "errored and resulted in unknown state"
        self._warning("Unhealthy", f"{clock.kind.value} probe {how}: {finding.message}")

    def turned(self, clock: ProbeClock) -> None:
        """Become ready or not, started, or be killed."""
        if clock.kind is Kind.READINESS:
            self.ready = bool(clock.passing)
        elif clock.passing and clock.kind is Kind.STARTUP:
            self.started = True
            self.ready = not self.spec.get("readinessProbe")
            self._start_probes()
        elif not clock.passing:
            self._normal(
                "Killing", f"Container {self.name} failed {clock.kind.value.lower()} probe, will be restarted"
            )
            grace = dig(self.spec, clock.kind.field, "terminationGracePeriodSeconds")
            return self.stop(self._grace() if grace is None else float(grace))
        return self.host.changed(self)

    def is_gone(self, clock: ProbeClock) -> bool:
        """Whether the probe belongs to an earlier start."""
        return clock not in self._probes

    def _grace(self) -> float:
        return float(dig(self.host.pod, "spec", "terminationGracePeriodSeconds") or 30)

    def stop(self, grace: float) -> None:
        """SIGTERM, and SIGKILL after the grace period (seconds). What does not run stops being tried."""
        self._cancel_probes()
        _cancel(self._timer)
        if not self.is_running or self.process is None:
            return
        _cancel(self._end)
        code = self.process.run.term_code
        wait, result = (grace, 137) if code is None else (min(grace, 0.2), code)
        self._end = self.host.timers.after(wait, lambda: self._exit(result))

    def _exit(self, code: int, reason: str = "") -> None:
        process, host = self.process, self.host
        if process is None:
            return
        process.ended = host.now()
        self._cancel_probes()
        self.ready = self.started = False
        ended = {
            "exitCode": code,
            "reason": reason or ("Error" if code else "Completed"),
            "startedAt": dig(self.state, "running", "startedAt"),
            "finishedAt": timestamp(host.store.clock.now()),
            "containerID": process.id,
        }
        self.state = {"terminated": ended}
        if process.elapsed(host.now()) >= _BACKOFF_RESET:
            self._crash_backoff = 0.0
        self.done = not self._restarts_after(code)
        if not self.done:
            self._after(_ROUND, lambda: self._again({"terminated": ended}))
        host.changed(self)

    def _restarts_after(self, code: int) -> bool:
        if self.host.is_closing:
            return False
        policy = dig(self.host.pod, "spec", "restartPolicy") or "Always"
        if self.role is Role.SIDECAR:
            return True
        if self.role is Role.INIT:
            return code != 0 and policy != "Never"
        return policy == "Always" or (policy == "OnFailure" and code != 0)

    def _again(self, ended: Obj) -> None:
        wait, self._crash_backoff = (
            self._crash_backoff,
            min(self._crash_backoff * 2 or _BACKOFF_FIRST, _BACKOFF_MAX),
        )
        self.last = ended
        if not wait:
            return self.begin()
        pod = full_name(self.host.pod)
        self._warning("BackOff", f"Back-off restarting failed container {self.name} in pod {pod}")
        self._wait(
            "CrashLoopBackOff",
            f"back-off {_duration(wait)} restarting failed container={self.name} pod={pod}",
        )
        return self._after(wait, self.begin)

    def redefine(self, spec: Obj) -> None:
        """The pod's spec changed under the container: start it anew where its image is another."""
        changed = spec.get("image") != self.spec.get("image")
        self.spec = spec
        if not changed or self.done:
            return
        self._pull_backoff = 0.0
        if self.is_running:
            self._normal("Killing", f"Container {self.name} definition changed, will be restarted")
            self.stop(self._grace())
        elif self._timer is not None:
            self._after(_ROUND, self.begin)

    def discard(self) -> None:
        """The pod is gone: no timer is left."""
        self._cancel_probes()
        _cancel(self._timer)
        _cancel(self._end)

    def _cancel_probes(self) -> None:
        for clock in self._probes:
            clock.cancel()
        self._probes = []

    def _wait(self, reason: str, message: str) -> None:
        self.state = {"waiting": {"reason": reason, "message": message}}
        self.host.changed(self)

    def _after(self, seconds: float, run: Callable[[], None]) -> None:
        _cancel(self._timer)
        self._timer = self.host.timers.after(seconds, run)

    def _normal(self, reason: str, message: str) -> None:
        self.host.recorder.normal(self.host.pod, reason, message, self.field)

    def _warning(self, reason: str, message: str) -> None:
        self.host.recorder.warning(self.host.pod, reason, message, self.field)


def _cancel(timer: Timer | None) -> None:
    if timer is not None:
        timer.cancel()


def _duration(seconds: float) -> str:
    """As Go prints it: `40s`, `2m40s`."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
