"""Progress: a Deployment's status, with its conditions and the progress deadline."""

from __future__ import annotations

from sanare_lab.cluster.controllers.controller import Key, key_of
from sanare_lab.cluster.controllers.podstate import condition
from sanare_lab.cluster.controllers.rollout import bounds_of, size
from sanare_lab.cluster.objects import Obj, dig, name_of, timestamp
from sanare_lab.cluster.store import Store

_COUNTS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas")


class Progress:
    """Remembers when each Deployment last got on: the deadline runs in the cluster's time, stamps are wall time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: dict[Key, float] = {}
        self._created: dict[Key, str] = {}
        self._current: dict[Key, str] = {}

    def created(self, key: Key, name: str) -> None:
        """A new ReplicaSet was made for the Deployment."""
        self._created[key] = name
        self._last[key] = self._store.clock.monotonic()

    def forget(self, key: Key) -> None:
        """The Deployment is gone."""
        self._last.pop(key, None)
        self._created.pop(key, None)
        self._current.pop(key, None)

    def judge(self, deployment: Obj, new: Obj | None, sets: list[Obj]) -> tuple[Obj, float | None]:
        """The status now, and seconds until the deadline where it runs."""
        status = _counts(deployment, new, sets)
        kept = {item["type"]: item for item in dig(deployment, "status", "conditions") or []}
        self._set(kept, _availability(deployment, status))
        self._set_failure(kept, new, sets)
        wait = self._progressing(kept, deployment, status, new)
        order = ("Available", "ReplicaFailure", "Progressing")
        status["conditions"] = [kept[kind] for kind in order if kind in kept]
        return status, wait

    def is_complete(self, deployment: Obj, status: Obj) -> bool:
        """Whether every pod is a new one, and available."""
        wanted = int(deployment["spec"].get("replicas", 1))
        return all(status.get(name, 0) == wanted for name in ("updatedReplicas", "replicas", "availableReplicas"))

    def _progressing(self, kept: dict[str, Obj], deployment: Obj, status: Obj, new: Obj | None) -> float | None:
        key, now = key_of(deployment), self._store.clock.monotonic()
        name = name_of(new) if new else ""
        about = f'ReplicaSet "{name}"' if name else f'Deployment "{name_of(deployment)}"'
        if self._paused(kept, deployment):
            return None
        made = self._created.pop(key, None)
        if made:
            self._set(
                kept, ("Progressing", True, "NewReplicaSetCreated", f'Created new replica set "{made}"'), fresh=True
            )
        old = kept.get("Progressing", {})
        if _is_told(old, about) and status.get("replicas", 0) == status.get("updatedReplicas", 0):
            return None
        if self.is_complete(deployment, status):
            text = f"{about} has successfully progressed."
            self._set(kept, ("Progressing", True, "NewReplicaSetAvailable", text), fresh=True)
            return None
        is_other = self._current.get(key) != name
        self._current[key] = name
        if _has_moved(deployment.get("status") or {}, status) or is_other:
            self._last[key] = now
            if not made and not (is_other and old):
                text = f"{about} is progressing."
                self._set(kept, ("Progressing", True, "ReplicaSetUpdated", text), fresh=True)
        return self._deadline(kept, deployment, about, now - self._last[key])

    def _deadline(self, kept: dict[str, Obj], deployment: Obj, about: str, elapsed: float) -> float | None:
        if kept.get("Progressing", {}).get("reason") == "NewReplicaSetAvailable":
            return None
        left = float(deployment["spec"].get("progressDeadlineSeconds") or 600) - elapsed
        if left > 0:
            return left
        text = f"{about} has timed out progressing."
        self._set(kept, ("Progressing", False, "ProgressDeadlineExceeded", text))
        return None

    def _paused(self, kept: dict[str, Obj], deployment: Obj) -> bool:
        is_paused = bool(dig(deployment, "spec", "paused"))
        reason = kept.get("Progressing", {}).get("reason")
        if is_paused:
            if reason != "ProgressDeadlineExceeded":
                self._set(kept, ("Progressing", None, "DeploymentPaused", "Deployment is paused"))
        elif reason == "DeploymentPaused":
            self._last[key_of(deployment)] = self._store.clock.monotonic()
            self._set(kept, ("Progressing", None, "DeploymentResumed", "Deployment is resumed"))
        return is_paused

    def _set_failure(self, kept: dict[str, Obj], new: Obj | None, sets: list[Obj]) -> None:
        ordered = [*([new] if new else []), *sets]
        found = next((item for item in (condition(one, "ReplicaFailure") for one in ordered) if item), None)
        if found is None:
            kept.pop("ReplicaFailure", None)
        else:
            self._set(kept, ("ReplicaFailure", True, found["reason"], found["message"]))

    def _set(self, kept: dict[str, Obj], wanted: tuple[str, bool | None, str, str], *, fresh: bool = False) -> None:
        kind, value, reason, message = wanted
        status = "Unknown" if value is None else str(value)
        old, now = kept.get(kind, {}), timestamp(self._store.clock.now())
        if (old.get("status"), old.get("reason")) == (status, reason) and not fresh:
            return
        kept[kind] = {
            "type": kind,
            "status": status,
            "lastUpdateTime": now,
            "lastTransitionTime": old["lastTransitionTime"] if old.get("status") == status else now,
            "reason": reason,
            "message": message,
        }


def _counts(deployment: Obj, new: Obj | None, sets: list[Obj]) -> Obj:
    def total(field: str) -> int:
        return sum(int(dig(item, "status", field) or 0) for item in sets)

    available = total("availableReplicas")
    counts = (
        total("replicas"),
        int(dig(new, "status", "replicas") or 0) if new else 0,
        total("readyReplicas"),
        available,
        max(0, sum(size(item) for item in sets) - available),
    )
    status: Obj = {name: count for name, count in zip(_COUNTS, counts, strict=True) if count}
    status["terminatingReplicas"] = total("terminatingReplicas")
    status["observedGeneration"] = deployment["metadata"].get("generation", 1)
    return status


def _is_told(progressing: Obj, about: str) -> bool:
    """Whether the condition already says that this ReplicaSet has progressed."""
    is_done = progressing.get("reason") == "NewReplicaSetAvailable"
    return is_done and str(progressing.get("message") or "").startswith(about)


def _availability(deployment: Obj, status: Obj) -> tuple[str, bool, str, str]:
    if status.get("availableReplicas", 0) >= bounds_of(deployment).minimum:
        return "Available", True, "MinimumReplicasAvailable", "Deployment has minimum availability."
    return "Available", False, "MinimumReplicasUnavailable", "Deployment does not have minimum availability."


def _has_moved(old: Obj, new: Obj) -> bool:
    """Whether more pods are new, ready or available, or fewer are old, than before."""

    def leftovers(status: Obj) -> int:
        return int(status.get("replicas", 0)) - int(status.get("updatedReplicas", 0))

    return leftovers(new) < leftovers(old) or any(
        new.get(name, 0) > old.get(name, 0) for name in ("updatedReplicas", "readyReplicas", "availableReplicas")
    )
