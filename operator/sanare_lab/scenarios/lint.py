"""What a scenario must have before it counts. Pure: a scenario in, complaints out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sanare.api.manifest import Manifest, items, labels, mapping, text
from sanare.api.status import Result
from sanare_lab.scenarios.scenario import Control, ControlKind, End, Scenario

NONCE = "@NONCE@"

# Words that tell a reader of the cluster that something was broken on purpose, or how.
_HINTS = re.compile(
    r"(?i)(?<!de)fault|broken|scenario|wrong|incorrect|misspel|mismatch|answer|chaos|inject|\bbug\b|\bfixme\b"
)
_COMMENT = re.compile(r"(?m)(?:^|\s)#.*$")
_WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")


def complaints(scenario: Scenario) -> tuple[str, ...]:
    """Everything that is unsound about a scenario, each as one sentence; empty means sound."""
    return tuple(complaint for rule in RULES for complaint in rule(scenario))


def _has_controls(scenario: Scenario) -> Iterator[str]:
    if scenario.end is not End.UNTOUCHED and not scenario.of_kind(ControlKind.REFERENCE):
        yield "no reference repair: add repairs/reference.yaml"
    if len(scenario.of_kind(ControlKind.FALSE)) < 2:
        yield "fewer than two false repairs: add repairs/false-*.yaml"


def _expects_what_its_kind_means(scenario: Scenario) -> Iterator[str]:
    for control in scenario.controls:
        leaves_well = control.kind is ControlKind.NOTHING and not scenario.is_broken
        right = Result.FIXED if control.kind is ControlKind.REFERENCE or leaves_well else Result.NOT_FIXED
        if control.expect.result is not right:
            yield f"{control.name}: expects {control.expect.result}, a {control.kind} control must end {right}"
        if right is Result.NOT_FIXED and not _states_reason(control):
            yield f"{control.name}: states no kind and no words of the reason for which it must fail"


def _names_its_faults(scenario: Scenario) -> Iterator[str]:
    """A fault has a field that scores it; only where nothing is wrong is there none, and nothing to do."""
    if bool(scenario.faults) is not scenario.is_broken:
        yield "scenario.yaml: faults: name them, or the symptom None where nothing is wrong"
    if (scenario.end is End.UNTOUCHED) is scenario.is_broken:
        yield "scenario.yaml: end: Untouched goes with the symptom None, and with no other"


def _states_reason(control: Control) -> bool:
    return bool(control.expect.kinds and control.expect.reason)


def _is_neutral(scenario: Scenario) -> Iterator[str]:
    """No answer in the open: the id, a hint or a comment where whoever repairs can read it."""
    for comment in _COMMENT.findall(scenario.broken):
        yield f"broken.yaml: a comment that the cluster does not need: {comment.strip()!r}"
    for hint in sorted({*_HINTS.findall(scenario.broken)}):
        yield f"broken.yaml: the word {hint!r} gives the exercise away"
    for place, what in (("broken.yaml", scenario.broken), ("incident.yaml", str(scenario.incident.wire()))):
        if scenario.id in what:
            yield f"{place}: the scenario's id stands in it"


def _answers_with_nonce(scenario: Scenario) -> Iterator[str]:
    if NONCE not in scenario.broken:
        yield f"broken.yaml: no {NONCE}: without it no answer proves that this very app gave it"
    services = [text(manifest, "metadata", "name") for manifest in _of_kinds(scenario, ("Service",))]
    if scenario.function.service not in services:
        yield f"scenario.yaml: function.service: broken.yaml has no Service {scenario.function.service!r}"


def _has_what_can_be_lost(scenario: Scenario) -> Iterator[str]:
    """Probes, limits and a security context: what is not there cannot be weakened by a false repair."""
    for workload in _of_kinds(scenario, _WORKLOADS):
        name = text(workload, "metadata", "name")
        for container in items(workload, "spec", "template", "spec", "containers"):
            if not mapping(container, "readinessProbe"):
                yield f"broken.yaml: {name}: a container without readinessProbe"
            if not mapping(container, "resources", "limits"):
                yield f"broken.yaml: {name}: a container without limits"
            if not mapping(container, "securityContext"):
                yield f"broken.yaml: {name}: a container without securityContext"


def _has_neighbour(scenario: Scenario) -> Iterator[str]:
    if len(_of_kinds(scenario, _WORKLOADS)) < 2:
        yield "broken.yaml: no neighbour: a second workload shows whether a repair harms others"


def _is_unplaced(scenario: Scenario) -> Iterator[str]:
    for manifest in scenario.manifests:
        if text(manifest, "metadata", "namespace"):
            yield f"broken.yaml: {text(manifest, 'metadata', 'name')}: names a namespace; a run gives it one"
        if any("scenario" in key for key in labels(manifest)):
            yield f"broken.yaml: {text(manifest, 'metadata', 'name')}: a label that names the exercise"


def _of_kinds(scenario: Scenario, kinds: tuple[str, ...]) -> list[Manifest]:
    return [manifest for manifest in scenario.manifests if text(manifest, "kind") in kinds]


RULES: tuple[Callable[[Scenario], Iterator[str]], ...] = (
    _has_controls,
    _expects_what_its_kind_means,
    _names_its_faults,
    _is_neutral,
    _answers_with_nonce,
    _has_what_can_be_lost,
    _has_neighbour,
    _is_unplaced,
)
