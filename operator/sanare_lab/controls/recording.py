"""Recordings: what a control ended with, small enough to keep, so that the rules are tested without a cluster.

A recording holds the Incident, the baseline, the last look and when the repair was made. What no check reads is
left out; uids, the namespace and the nonce get short names that are the same in every run.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sanare.api.incident import Incident
from sanare.api.manifest import Manifest, items, mapping, text
from sanare.api.policy import PolicySpec, Verify
from sanare.api.verdict import CheckResult, Verdict
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.judge import judge
from sanare.evaluator.kinds import Kind
from sanare.evaluator.seen import Seen
from sanare.evaluator.snapshot import Answer, Probe, Snapshot

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_METADATA = (
    "name",
    "namespace",
    "uid",
    "labels",
    "annotations",
    "ownerReferences",
    "creationTimestamp",
    "deletionTimestamp",
    "generation",
    "resourceVersion",
)
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_EVERYWHERE = "kube-root-ca.crt"
_TOKEN_VOLUME = "kube-api-access-"  # noqa: S105 - the start of a volume's name
_EVENTS = 30


@dataclass(frozen=True, slots=True)
class Recording:
    """One control as it ended.

    Attributes:
        since: when the last step of the repair was made.
        hold: for how long health had to last.
        result: what the evaluator said then, and `kind` its word for the reason.
    """

    scenario: str
    control: str
    incident: Incident
    baseline: Baseline
    snapshot: Snapshot
    since: datetime
    hold: timedelta
    result: str
    kind: str

    @property
    def name(self) -> str:
        """Scenario and control, as the file is called."""
        return f"{self.scenario}.{self.control}"

    def judged(self) -> Verdict:
        """What the evaluator says of it now."""
        policy = PolicySpec(verify=Verify(hold=self.hold))
        taken = self.snapshot.taken_at
        return judge(self.snapshot, self.baseline, self.incident, policy, now=taken, since=self.since)


def write(folder: Path, recording: Recording, *, nonce: str) -> Path:
    """Keep a recording as `SCENARIO.CONTROL.json.gz`."""
    document = json.dumps(_wire(recording), sort_keys=True, separators=(",", ":"))
    document = document.replace(recording.snapshot.namespace, "shop").replace(nonce, "nonce")
    numbers: dict[str, str] = {}
    document = _UID.sub(lambda found: numbers.setdefault(found[0], f"uid-{len(numbers)}"), document)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{recording.name}.json.gz"
    path.write_bytes(gzip.compress(document.encode(), mtime=0))
    return path


def read(path: Path) -> Recording:
    """Read what `write` kept. Raises KeyError, TypeError or ValueError on anything else."""
    kept = json.loads(gzip.decompress(path.read_bytes()))
    taken = kept["snapshot"]
    return Recording(
        scenario=kept["scenario"],
        control=kept["control"],
        incident=Incident.parse(kept["incident"]),
        baseline=Baseline.parse(kept["baseline"]),
        snapshot=Snapshot(
            namespace=taken["namespace"],
            taken_at=datetime.fromisoformat(taken["takenAt"]),
            objects={kind: tuple(found) for kind, found in taken["objects"].items()},
            answers={Probe(**probe): Answer(**answer) for probe, answer in taken["answers"]},
            logs=taken["logs"],
            unseen=taken["unseen"],
            declared={name: _seen(seen) for name, seen in taken["declared"].items()},
        ),
        since=datetime.fromisoformat(kept["since"]),
        hold=timedelta(seconds=kept["hold"]),
        result=kept["result"],
        kind=kept["kind"],
    )


def _wire(recording: Recording) -> dict[str, Any]:
    snapshot = recording.snapshot
    return {
        "scenario": recording.scenario,
        "control": recording.control,
        "incident": recording.incident.wire(),
        "baseline": recording.baseline.wire(),
        "since": recording.since.isoformat(),
        "hold": recording.hold.total_seconds(),
        "result": recording.result,
        "kind": recording.kind,
        "snapshot": {
            "namespace": snapshot.namespace,
            "takenAt": snapshot.taken_at.isoformat(),
            "objects": {
                kind: _kept(kind, found, namespace=snapshot.namespace) for kind, found in snapshot.objects.items()
            },
            "answers": [[asdict(probe), asdict(answer)] for probe, answer in snapshot.answers.items()],
            "logs": dict(snapshot.logs),
            "unseen": dict(snapshot.unseen),
            "declared": {name: asdict(seen) for name, seen in snapshot.declared.items()},
        },
    }


def _kept(kind: str, found: tuple[Manifest, ...], *, namespace: str) -> list[dict[str, Any]]:
    if kind == "ClusterRoleBinding":
        found = tuple(each for each in found if any(_is_near(s, namespace) for s in items(each, "subjects")))
    shorten = _SHORT.get(kind, dict)
    if kind == "Event":
        found = found[-_EVENTS:]
    return [{**shorten(item), "metadata": _metadata(item)} for item in found]


def _is_near(subject: Manifest, namespace: str) -> bool:
    """Whether a binding may be about an account of the namespace; those of the cluster's own parts are many."""
    name = text(subject, "name")
    own = text(subject, "namespace") == namespace or name.endswith(f":{namespace}")
    return own or name in ("system:serviceaccounts", "system:authenticated")


def _metadata(item: Manifest) -> dict[str, Any]:
    metadata = {name: value for name, value in mapping(item, "metadata").items() if name in _METADATA}
    if "annotations" in metadata:
        metadata["annotations"] = {k: v for k, v in metadata["annotations"].items() if k != _APPLIED}
    return metadata


def _pod(pod: Manifest) -> dict[str, Any]:
    status = {k: v for k, v in mapping(pod, "status").items() if k in ("phase", "podIP", "reason", "message")}
    conditions = [
        {k: v for k, v in each.items() if k in ("type", "status", "reason", "message")}
        for each in items(pod, "status", "conditions")
    ]
    statuses = {
        part: [_container_status(each) for each in items(pod, "status", part)]
        for part in ("containerStatuses", "initContainerStatuses")
        if items(pod, "status", part)
    }
    return {
        **pod,
        "spec": _pod_spec(mapping(pod, "spec")),
        "status": {**status, "conditions": conditions, **statuses},
    }


def _pod_spec(spec: Manifest) -> dict[str, Any]:
    kept = {name: value for name, value in spec.items() if name not in ("nodeName", "tolerations", "schedulerName")}
    kept["volumes"] = [each for each in items(spec, "volumes") if not text(each, "name").startswith(_TOKEN_VOLUME)]
    for part in ("containers", "initContainers"):
        if part in spec:
            kept[part] = [_container(each) for each in items(spec, part)]
    return kept


def _container(container: Manifest) -> dict[str, Any]:
    mounts = items(container, "volumeMounts")
    kept = {k: v for k, v in container.items() if not k.startswith("terminationMessage")}
    return {**kept, "volumeMounts": [each for each in mounts if not text(each, "name").startswith(_TOKEN_VOLUME)]}


def _container_status(status: Manifest) -> dict[str, Any]:
    wanted = ("name", "ready", "started", "restartCount", "state", "lastState", "imageID")
    kept = {name: value for name, value in status.items() if name in wanted}
    if kept.get("imageID"):
        kept["imageID"] = "sha256:0"  # that there is one says that the image was pulled
    return kept


def _replica_set(item: Manifest) -> dict[str, Any]:
    template = mapping(item, "spec", "template")
    containers = [{"name": c.get("name"), "image": c.get("image")} for c in items(template, "spec", "containers")]
    spec = {**mapping(item, "spec"), "template": {**template, "spec": {"containers": containers}}}
    return {**item, "spec": spec}


def _event(event: Manifest) -> dict[str, Any]:
    wanted = ("kind", "reason", "message", "lastTimestamp", "eventTime", "series", "type")
    about = {k: v for k, v in mapping(event, "involvedObject").items() if k in ("uid", "fieldPath", "kind", "name")}
    return {**{k: v for k, v in event.items() if k in wanted}, "involvedObject": about}


def _config_map(item: Manifest) -> dict[str, Any]:
    known = text(item, "metadata", "name") == _EVERYWHERE
    return {**item, "data": {}} if known else dict(item)


_SHORT: Mapping[str, Callable[[Manifest], dict[str, Any]]] = {
    "Pod": _pod,
    "ReplicaSet": _replica_set,
    "Event": _event,
    "ConfigMap": _config_map,
}


def _seen(recorded: dict[str, Any]) -> Seen:
    kind = Kind(recorded["kind"]) if recorded["kind"] else None
    return Seen(**{**recorded, "result": CheckResult(recorded["result"]), "kind": kind})
