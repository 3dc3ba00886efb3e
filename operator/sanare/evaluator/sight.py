"""Whether what a verdict rests on could be looked at. Pure.

A kind that was refused, that did not answer or that nobody asked for leaves the verdict open.
"""

from __future__ import annotations

from collections.abc import Iterator

from sanare.evaluator.baseline import Baseline
from sanare.evaluator.kinds import Kind, blindness
from sanare.evaluator.look import Look
from sanare.evaluator.seen import Seen, unknown
from sanare.evaluator.wanted import GUARDS, guard_kinds, reads_config


def check_sight(look: Look) -> Iterator[Seen]:
    """What the verdict rests on was listed."""
    for kind in dict.fromkeys((*_needed(look), *(_compared(look.baseline) if look.baseline else ()))):
        why = look.snapshot.unseen.get(kind)
        if why:
            yield unknown("list", blindness(why), kind, f"{kind} objects could not be listed: {why}")


def check_baseline_sight(look: Look) -> Iterator[Seen]:
    """What rules compare with was listed when the baseline was taken."""
    unseen = look.baseline.unseen if look.baseline else {}
    for kind in GUARDS:
        if kind in unseen:
            message = f"{kind} objects could not be listed for the baseline: {unseen[kind]}"
            yield unknown("list", blindness(unseen[kind]), kind, message)


def check_guards_seen(look: Look) -> Iterator[Seen]:
    """The guards were looked at, which is left out where something else stands against Fixed."""
    kinds = guard_kinds(look.baseline) if look.baseline else ()
    left_out = [kind for kind in kinds if kind not in look.snapshot.objects and kind not in look.snapshot.unseen]
    if left_out:
        message = (
            f"{', '.join(left_out)} objects were not looked at: they decide only where everything else is well"
        )
        yield unknown("guards", Kind.NOT_ASKED, look.snapshot.namespace, message)


def _needed(look: Look) -> Iterator[str]:
    kinds = {*(name.partition("/")[0] for name in look.scope.workloads)}
    kinds |= {target.kind for target in look.incident.spec.targets}
    yield from ("Pod", "Service", *sorted(kinds))
    if "Deployment" in kinds:
        yield "ReplicaSet"
    if look.scope.services or "Service" in kinds:
        yield "EndpointSlice"


def _compared(baseline: Baseline) -> Iterator[str]:
    """The kinds that rules compare with the baseline."""
    facts = baseline.facts
    if reads_config(facts.workloads):
        yield "ConfigMap"
    if facts.names.get("PersistentVolumeClaim"):
        yield "PersistentVolumeClaim"
    yield from guard_kinds(baseline)
