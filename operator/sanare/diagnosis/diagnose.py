"""From a snapshot to findings: every analyzer in turn, nothing about what is healthy. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from sanare.api.incident import Incident
from sanare.diagnosis.analyzers.addresses import backend_addresses, resolvers, unexpanded_variables
from sanare.diagnosis.analyzers.aliases import service_aliases
from sanare.diagnosis.analyzers.collisions import port_collisions
from sanare.diagnosis.analyzers.commands import missing_executables
from sanare.diagnosis.analyzers.conditions import kept_distances, probe_schemes, readiness_gates
from sanare.diagnosis.analyzers.files import required_files
from sanare.diagnosis.analyzers.images import unpullable_images
from sanare.diagnosis.analyzers.limits import memory_limits
from sanare.diagnosis.analyzers.loopback import loopback_listeners
from sanare.diagnosis.analyzers.ordinals import governing_services, waiting_updates, with_release
from sanare.diagnosis.analyzers.placement import node_selectors, pauses, quotas, root_images, without_pods
from sanare.diagnosis.analyzers.ports import service_ports
from sanare.diagnosis.analyzers.prefixes import env_prefixes
from sanare.diagnosis.analyzers.probes import probes
from sanare.diagnosis.analyzers.references import missing_keys, missing_objects
from sanare.diagnosis.analyzers.resources import limits_above_range, oversized_requests
from sanare.diagnosis.analyzers.selectors import selectors
from sanare.diagnosis.analyzers.startup import impatient_liveness
from sanare.diagnosis.analyzers.variables import environment_variables
from sanare.diagnosis.finding import Finding
from sanare.diagnosis.view import View
from sanare.evaluator.snapshot import Snapshot

Analyzer = Callable[[View], Iterable[Finding]]

# The order in which repairs are applied: what keeps pods from existing, from starting, from staying up, from being
# reached. A repair further down often depends on one further up.
ANALYZERS: tuple[Analyzer, ...] = (
    unpullable_images,
    missing_objects,
    missing_keys,
    env_prefixes,
    environment_variables,
    required_files,
    root_images,
    missing_executables,
    memory_limits,
    node_selectors,
    kept_distances,
    oversized_requests,
    limits_above_range,
    quotas,
    loopback_listeners,
    port_collisions,
    unexpanded_variables,
    backend_addresses,
    resolvers,
    probes,
    probe_schemes,
    readiness_gates,
    impatient_liveness,
    selectors,
    service_aliases,
    service_ports,
    governing_services,
    without_pods,
    pauses,
    waiting_updates,
)


def diagnose(snapshot: Snapshot, incident: Incident) -> tuple[Finding, ...]:
    """What does not fit, in the order in which it is to be repaired. Objects outside the incident give nothing."""
    view = View.of(snapshot, incident.spec.targets)
    found = (with_release(view, _changeable(finding)) for analyzer in ANALYZERS for finding in analyzer(view))
    return tuple(dict.fromkeys(found))


def _changeable(finding: Finding) -> Finding:
    """A bare pod and a Job keep their template; of a pod the image alone may be changed."""
    fixed = finding.ref.kind == "Job" or (finding.ref.kind == "Pod" and not finding.field.endswith(".image"))
    if not fixed or not finding.candidates:
        return finding
    values = ", ".join(candidate.value for candidate in finding.candidates)
    return replace(
        finding,
        candidates=(),
        missing=f"{finding.ref} cannot be changed in this field, only made anew; {values} would fit",
    )
