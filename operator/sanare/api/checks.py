"""Checks that people declare, in an Incident or in a policy: what healthy means to them. Never a model's words."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from sanare.api.duration import Duration
from sanare.api.model import Model, Name, PortName, rules

MEMBERS = ("rollout", "endpoints", "http", "tcp", "promql", "cel", "job")


class Origin(StrEnum):
    """From where a request is made."""

    API_SERVER_PROXY = "APIServerProxy"
    OPERATOR = "Operator"
    PROBE_POD = "ProbePod"


class RolloutCheck(Model):
    """The workload's rollout is complete and its pods are ready."""

    kind: Literal["Deployment", "StatefulSet", "DaemonSet"] = "Deployment"
    """Kind of the workload."""
    name: Name
    """Name of the workload."""


class EndpointsCheck(Model):
    """The Service has at least `minReady` ready endpoints."""

    service: Name
    """Name of the Service."""
    min_ready: int = Field(default=1, ge=1, le=1000)
    """How many endpoints must be ready."""


class HttpCheck(Model):
    """A GET to a Service answers as stated. Redirects are not followed."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            (
                "!has(self.matches) || ''.matches(self.matches) in [true, false]",
                "matches is a regular expression in RE2 syntax",
            )
        )
    )

    service: Name
    """Name of the Service."""
    port: PortName = Field(default="", max_length=63)
    """Port of the Service, by name or number; empty means its first one."""
    scheme: Literal["HTTP", "HTTPS"] = "HTTP"
    """HTTP or HTTPS; as with a kubelet's probes, the certificate is not verified."""
    path: str = Field(default="/", max_length=1024, pattern=r"^/[^\s]*$")
    """Path and query of the request."""
    status: int = Field(default=200, ge=100, le=599)
    """The status code that means healthy."""
    contains: str = Field(default="", max_length=256)
    """Text that the first 64 KiB of the answer's body must contain; empty means any."""
    matches: str = Field(default="", max_length=256)
    """RE2 regular expression that must match somewhere in the first 64 KiB of the body; empty means any."""
    origin: Origin = Field(default=Origin.API_SERVER_PROXY, alias="from")
    """Who asks: APIServerProxy through the API server, Operator from the operator's own pod, ProbePod from a pod
    made for it in the Incident's namespace, where the policy allows pods.
    """


class TcpCheck(Model):
    """A port of a Service accepts a connection."""

    service: Name
    """Name of the Service."""
    port: PortName = Field(min_length=1, max_length=63)
    """Port of the Service, by name or number."""
    origin: Origin = Field(default=Origin.API_SERVER_PROXY, alias="from")
    """Who connects: APIServerProxy through the API server, Operator from the operator's own pod, ProbePod from a
    pod made for it in the Incident's namespace, where the policy allows pods.
    """


class PromqlCheck(Model):
    """Every series of a query compares as stated, now or over a time. No data is not healthy: it is unknown."""

    query: str = Field(min_length=1, max_length=2048)
    """The PromQL query; its result is an instant vector or a scalar."""
    op: Literal[">", ">=", "<", "<=", "==", "!="]
    """How every value must compare with `value`."""
    value: float
    """What every value is compared with."""
    lasting: Duration = Field(default=timedelta(), alias="for")
    """How long, up to now, the comparison must have held at every step; 0s means now alone. It must end within the
    policy's convergeTimeout.
    """


class CelObject(Model):
    """An object of the Incident's namespace that an expression reads."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            ("self.kind != 'Secret'", "Secrets are not read"),
        )
    )

    variable: str = Field(alias="as", min_length=1, max_length=63, pattern=r"^[a-z][A-Za-z0-9_]*$")
    """The variable that holds the object."""
    api_version: str = Field(default="apps/v1", min_length=1, max_length=128)
    """API version of the kind, for example `apps/v1` or `v1`."""
    kind: str = Field(min_length=1, max_length=63)
    """Kind of the object; never Secret."""
    name: Name
    """Name of the object."""


class CelCheck(Model):
    """A CEL expression over named objects is true."""

    expression: str = Field(min_length=1, max_length=2048)
    """The expression; its result must be a boolean."""
    objects: tuple[CelObject, ...] = Field(min_length=1, max_length=8)
    """The objects that the expression reads."""


class JobCheck(Model):
    """A command, run to its end in the Incident's namespace, exits as stated. Needs a policy that allows pods."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            (
                "!has(self.timeout) || (duration(self.timeout) >= duration('1s') && "
                "duration(self.timeout) <= duration('10m'))",
                "a job's timeout is from 1s to 10m",
            )
        )
    )

    image: str = Field(min_length=1, max_length=512)
    """The image. It runs as user 65532 with a read-only root file system, and `/tmp` to write to."""
    command: tuple[Annotated[str, Field(max_length=4096)], ...] = Field(default=(), max_length=32)
    """The command and its arguments; empty means the image's own."""
    timeout: Duration = timedelta(seconds=60)
    """The longest that the Job may take, pulling its image included."""
    exit_code: int = Field(default=0, ge=0, le=255)
    """The exit code that means healthy."""


class Check(Model):
    """What healthy means, declared by a person; exactly one of the members is set."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            (
                f"[{', '.join(f'has(self.{member})' for member in MEMBERS)}].filter(x, x).size() == 1",
                f"a check sets exactly one of {', '.join(MEMBERS[:-1])} and {MEMBERS[-1]}",
            )
        )
    )

    name: str = Field(min_length=1, max_length=63, pattern=r"^[^/]+$")
    """Name of the check, as the verdict shows it; without `/`, which marks a policy's."""
    rollout: RolloutCheck | None = None
    """The workload's rollout is complete and its pods are ready."""
    endpoints: EndpointsCheck | None = None
    """The Service has enough ready endpoints."""
    http: HttpCheck | None = None
    """A GET to the Service answers as stated."""
    tcp: TcpCheck | None = None
    """The Service's port accepts a connection."""
    promql: PromqlCheck | None = None
    """Every series of a Prometheus query compares as stated."""
    cel: CelCheck | None = None
    """A CEL expression over named objects is true."""
    job: JobCheck | None = None
    """A command exits as stated."""

    def is_from(self, origin: Origin) -> bool:
        """Whether it is a request from there."""
        asked = self.http or self.tcp
        return asked is not None and asked.origin is origin

    @property
    def needs_pods(self) -> bool:
        """Whether a pod is made to answer it, which a policy must allow."""
        return self.job is not None or self.is_from(Origin.PROBE_POD)

    @property
    def is_costly(self) -> bool:
        """Whether it is worth asking only when everything else is healthy."""
        return self.needs_pods or self.promql is not None
