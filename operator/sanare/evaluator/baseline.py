"""The baseline: what was there before the first attempt, small enough to keep. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from sanare.api.model import Model, Time
from sanare.api.verdict import CheckOutcome
from sanare.evaluator.facts import Facts

LIMIT = 48 * 1024
# Kinds whose objects are many, and matter by appearing and not by being gone.
_DATED = ("EndpointSlice", "ReplicaSet", "ConfigMap", "ServiceAccount", "Job")


class Baseline(Model):
    """What a repair is compared with.

    Attributes:
        failing: what was wrong at the start; the signal compares with it.
        bindings: kinds by which an account may be given rights, as far as they may be read.
        resource_version: of the list of pods: what has a higher one was written since.
        omitted: how many entries were left out to stay below `LIMIT` bytes of JSON.
    """

    namespace: str
    taken_at: Time
    facts: Facts
    failing: tuple[CheckOutcome, ...] = ()
    unseen: Mapping[str, str] = {}
    resource_version: str = ""
    bindings: tuple[str, ...] = ("RoleBinding", "ClusterRoleBinding")
    omitted: int = 0

    @property
    def intended(self) -> Mapping[str, tuple[str, ...]]:
        """Service name to the workloads it was meant to reach."""
        return {service.name: service.intended for service in self.facts.services if service.intended}


def bounded(baseline: Baseline) -> Baseline:
    """The baseline with what matters least left out until it fits: first names, then neighbours' health."""
    for shrink in (_fewer_names, _fewer_neighbours, _fewer_names, _fewer_neighbours, _no_neighbours):
        if _size(baseline) <= LIMIT:
            return baseline
        baseline = shrink(baseline)
    return baseline


def _size(baseline: Baseline) -> int:
    return len(json.dumps(baseline.wire(), separators=(",", ":")).encode())


def _fewer_names(baseline: Baseline) -> Baseline:
    # Without its name the time of an object's creation tells whether it is new.
    dropped = sum(len(baseline.facts.names.get(kind, ())) for kind in _DATED)
    names = {kind: found for kind, found in baseline.facts.names.items() if kind not in _DATED}
    return _with(baseline, lambda facts: facts.model_copy(update={"names": names}), dropped)


def _fewer_neighbours(baseline: Baseline) -> Baseline:
    kept = baseline.facts.neighbours[: max(len(baseline.facts.neighbours) // 4, 16)]
    dropped = len(baseline.facts.neighbours) - len(kept)
    return _with(baseline, lambda facts: facts.model_copy(update={"neighbours": kept}), dropped)


def _no_neighbours(baseline: Baseline) -> Baseline:
    dropped = len(baseline.facts.neighbours)
    return _with(baseline, lambda facts: facts.model_copy(update={"neighbours": ()}), dropped)


def _with(baseline: Baseline, change: Callable[[Facts], Facts], dropped: int) -> Baseline:
    return baseline.model_copy(update={"facts": change(baseline.facts), "omitted": baseline.omitted + dropped})
