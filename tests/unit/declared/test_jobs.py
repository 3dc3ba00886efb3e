"""What is made for a check: as little as possible, and nothing that an agent could pass off as ours."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sanare.api.incident import ObjectMeta
from sanare.api.manifest import dig
from sanare.evaluator.declared.jobs import job_manifest
from sanare.kubectl.judge import Limits, judge_change

INCIDENT = ObjectMeta(name="one", namespace="shop", uid="uid-1")
JOB = job_manifest(INCIDENT, "tools:1", ("sh", "-c", "true"), timeout=timedelta(seconds=1.5))
POD = ("spec", "template", "spec")
CONTAINER = (*POD, "containers", 0)

RESTRICTED: list[tuple[str, tuple[str | int, ...], Any]] = [
    ("a generated name", ("metadata", "name"), None),
    ("one try", ("spec", "backoffLimit"), 0),
    ("an end in any case", ("spec", "activeDeadlineSeconds"), 7),
    ("gone afterwards", ("spec", "ttlSecondsAfterFinished"), 120),
    ("never again", (*POD, "restartPolicy"), "Never"),
    ("no token", (*POD, "automountServiceAccountToken"), False),
    ("no root", (*POD, "securityContext", "runAsNonRoot"), True),
    ("a plain user", (*POD, "securityContext", "runAsUser"), 65532),
    ("the runtime's seccomp profile", (*POD, "securityContext", "seccompProfile", "type"), "RuntimeDefault"),
    ("no escalation", (*CONTAINER, "securityContext", "allowPrivilegeEscalation"), False),
    ("a read-only root", (*CONTAINER, "securityContext", "readOnlyRootFilesystem"), True),
    ("no capabilities", (*CONTAINER, "securityContext", "capabilities"), {"drop": ["ALL"]}),
    ("limits", (*CONTAINER, "resources", "limits"), {"cpu": "500m", "memory": "256Mi"}),
    ("the command", (*CONTAINER, "command"), ["sh", "-c", "true"]),
    ("no labels that a Service could select", ("spec", "template", "metadata"), None),
]


@pytest.mark.parametrize(("path", "value"), [case[1:] for case in RESTRICTED], ids=[case[0] for case in RESTRICTED])
def test_a_job_is_restricted(path: tuple[str | int, ...], value: Any) -> None:
    assert dig(JOB, *path) == value


def test_the_incident_owns_the_job() -> None:
    (owner,) = JOB["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"], owner["controller"]) == ("Incident", "one", "uid-1", True)
    assert JOB["metadata"]["generateName"].startswith("sanare-check-")


def test_an_image_without_a_command_runs_as_it_is() -> None:
    assert "command" not in dig(job_manifest(INCIDENT, "tools:1", (), timeout=timedelta(seconds=1)), *CONTAINER)  # type: ignore[operator]


@pytest.mark.parametrize("kind", ["Job", "Deployment"])
def test_an_agent_makes_nothing_that_an_incident_owns(kind: str) -> None:
    made = {**JOB, "kind": kind}
    concerns = judge_change(kind, None, made, Limits(max_replicas=1))
    assert [concern.approval for concern in concerns if concern.rule == "OwnerReferences"] == [False]
