"""What a scenario must have before it counts. Pure: a scenario in, complaints out."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from difflib import get_close_matches

from sanare.api.manifest import Manifest, items, labels, mapping, text
from sanare.api.verdict import Result
from sanare.evaluator.kinds import Kind
from sanare_lab.scenarios.derivation import underivable
from sanare_lab.scenarios.scenario import Control, ControlKind, DerivedFrom, End, Fault, Scenario

NONCE = "@NONCE@"

# Words that tell a reader of the cluster that something was broken on purpose, or how.
_HINTS = re.compile(
    r"(?i)(?<!de)fault|broken|scenario|wrong|incorrect|misspel|mismatch|answer|chaos|inject|\bbug\b|\bfixme\b"
)
_TELLING = re.compile(r"(?i)(?<!de)fault|scenario|wrong|incorrect|misspel|mismatch|typo|chaos|inject")
_COMMENT = re.compile(r"(?m)(?:^|\s)#.*$")
_KINDS = frozenset(kind.value for kind in Kind)
_FALSE_REPAIRS = 3
# Steps of a path that say nothing about the field.
_EVERYWHERE = frozenset({"spec", "template", "containers", "metadata", "name", "value", "data"})
_WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")


def complaints(scenario: Scenario) -> tuple[str, ...]:
    """Everything that is unsound about a scenario, each as one sentence; empty means sound."""
    return tuple(complaint for rule in RULES for complaint in rule(scenario))


def _has_controls(scenario: Scenario) -> Iterator[str]:
    if scenario.end is not End.UNTOUCHED and not scenario.of_kind(ControlKind.REFERENCE):
        yield "no reference repair: add repairs/reference.yaml"
    if len(scenario.of_kind(ControlKind.FALSE)) < _FALSE_REPAIRS:
        yield "fewer than three false repairs: add repairs/false-*.yaml"


def _does_each_thing_once(scenario: Scenario) -> Iterator[str]:
    """Two controls of the same steps are one."""
    done: dict[str, str] = {}
    for control in scenario.controls:
        steps = _steps(control)
        if steps and done.setdefault(steps, control.name) != control.name:
            yield f"{control.name}: does the same as {done[steps]}"


def _steps(control: Control) -> str:
    return "\n".join(" ".join((*step.kubectl.split(), *step.stdin.split())) for step in control.steps)


def _repairs_what_it_names(scenario: Scenario) -> Iterator[str]:
    """Every fault's object and field are acted on by a reference, in whatever form of kubectl.

    What is out of reach is repaired elsewhere, so that there the field only shows it.
    """
    references = scenario.of_kind(ControlKind.REFERENCE) if scenario.end is End.FIXED else ()
    for fault in scenario.faults:
        if references and not any(_acts_on(control, fault) for control in references):
            yield f"scenario.yaml: faults: {fault.name}: no reference touches that field of {fault.object}"


def _acts_on(control: Control, fault: Fault) -> bool:
    kind, _, name = fault.object.partition("/")
    said = _steps(control).lower().replace("~1", "/")
    fields = [str(step).lower() for step in fault.path if isinstance(step, str) and step not in _EVERYWHERE]
    named = re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", said)
    return bool(named) and kind.lower() in said and (not fields or any(field in said for field in fields))


def _has_derivable_values(scenario: Scenario) -> Iterator[str]:
    if scenario.end is not End.FIXED:
        return
    for fault in scenario.faults:
        why = underivable(scenario, fault)
        if why:
            sources = ", ".join(DerivedFrom)
            yield f"scenario.yaml: faults: {fault.name}: no right value can be read: {why}; derived_from: {sources}"


def _expects_what_its_kind_means(scenario: Scenario) -> Iterator[str]:
    for control in scenario.controls:
        leaves_well = control.kind is ControlKind.NOTHING and not scenario.is_broken
        right = Result.FIXED if control.kind is ControlKind.REFERENCE or leaves_well else Result.NOT_FIXED
        if control.expect.result is not right:
            yield f"{control.name}: expects {control.expect.result}, a {control.kind} control must end {right}"
        if right is Result.NOT_FIXED and not _states_reason(control):
            yield f"{control.name}: states no kind and no words of the reason for which it must fail"
        for kind in control.expect.kinds:
            if kind not in _KINDS:
                near = ", ".join(get_close_matches(kind, _KINDS, cutoff=0.5)) or "see sanare.evaluator.kinds"
                yield f"{control.name}: {kind} is no word of the evaluator's; near: {near}"


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
    for hint in sorted({*_TELLING.findall(f"{scenario.incident.metadata.name} {scenario.incident.spec.summary}")}):
        yield f"incident.yaml: the word {hint!r} gives the exercise away"


def _keeps_its_secrets(scenario: Scenario) -> Iterator[str]:
    """The value of a Secret stands in the Secret and nowhere else: no repair needs to read it."""
    for secret in _of_kinds(scenario, ("Secret",)):
        name = text(secret, "metadata", "name")
        others = [str(manifest) for manifest in scenario.manifests if manifest is not secret]
        said = "\n".join(
            [*others, str(scenario.incident.wire()), *(_steps(control) for control in scenario.controls)]
        )
        for key, value in _secret_values(secret):
            if value and NONCE not in value and value in said:
                yield f"broken.yaml: the value of key {key} of Secret/{name} stands in the open elsewhere"


def _secret_values(secret: Manifest) -> Iterator[tuple[str, str]]:
    """Each key of a Secret with its value, as written and decoded."""
    for key, value in mapping(secret, "stringData").items():
        yield key, str(value)
    for key, value in mapping(secret, "data").items():
        yield key, str(value)
        with suppress(binascii.Error, UnicodeDecodeError):
            yield key, base64.b64decode(str(value), validate=True).decode()


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
    _does_each_thing_once,
    _repairs_what_it_names,
    _has_derivable_values,
    _expects_what_its_kind_means,
    _names_its_faults,
    _is_neutral,
    _keeps_its_secrets,
    _answers_with_nonce,
    _has_what_can_be_lost,
    _has_neighbour,
    _is_unplaced,
)
