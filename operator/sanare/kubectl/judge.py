"""Judges what a write would change: refused, for a person to approve, or fine. Pure; the list of rules is `RULES`.

`judge_change` sees the live object and the object as the API server's own dry run would leave it, so that no trick
of a patch format matters. `judge_fragment` sees only what a command says and is stricter for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sanare.api.manifest import Manifest, dig, mapping
from sanare.kubectl.facts import GUARDED_KINDS, POD_SPEC, Fact, Rule, facts_of, images_of
from sanare.kubectl.image import corrects_repository, from_registries, repository
from sanare.kubectl.likeness import is_near_miss, is_small_correction

APPROVAL = "NeedsApproval"


@dataclass(frozen=True, slots=True)
class Concern:
    """What is wrong with a write. With `approval` a person's approved plan may do it; without, nobody's may."""

    rule: str
    message: str
    approval: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds a judgement needs: most replicas, and registries that new images may come from.

    Without registries an image of another repository is for a person to approve.
    """

    max_replicas: int = 50
    registries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Word:
    """How a rule is told: the sentence, and whether a person may approve it."""

    sentence: str
    approval: bool = False


RULES: Mapping[Rule, _Word] = {
    Rule.HOST_ACCESS: _Word("access to the node ({slot}) is not given to pods here"),
    Rule.VOLUME_TYPE: _Word("{slot} of type {value} is not allowed; use a configMap, emptyDir or existing claim"),
    Rule.SECURITY_CONTEXT: _Word("{slot} = {value} loosens the security context; only tightening it is allowed"),
    Rule.SERVICE_ACCOUNT_TOKEN: _Word("{slot} would hand the pod a service account token"),
    Rule.SECRET_REFERENCE: _Word("{slot} would newly refer to Secret {value}; Secrets are out of reach"),
    Rule.SERVICE_ACCOUNT: _Word("the pod would run as another service account ({value})"),
    Rule.PLACEMENT: _Word("{slot} ({value}) decides where pods run past the scheduler's rules"),
    Rule.PRIORITY: _Word("{slot} ({value}) may evict other pods", approval=True),
    Rule.EPHEMERAL_CONTAINER: _Word("ephemeral containers are not allowed"),
    Rule.RESERVED_KEY: _Word("{slot} belongs to an operator or to the cluster's security settings"),
    Rule.SNIPPET: _Word("{slot} carries configuration code for the ingress controller"),
    Rule.FINALIZERS: _Word("finalizers are not changed here: they guard what must be cleaned up first"),
    Rule.OWNERS: _Word("ownerReferences are not changed here"),
    Rule.OUTSIDE_TRAFFIC: _Word("{slot} would send the Service's traffic outside of the cluster"),
    Rule.NAME_RESOLUTION: _Word("{slot} = {value} changes where the pod's names lead", approval=True),
    Rule.PROBE_HOST: _Word("{slot} would send the node's probes to {value}, out of the pod"),
    Rule.IMAGE_REGISTRY: _Word("image {value} does not come from an allowed registry"),
    Rule.IMAGE_REPOSITORY: _Word("{slot}: image {value} is of another repository", approval=True),
    Rule.COMMAND: _Word("{slot} would run another command: {value}", approval=True),
    Rule.CONTAINERS: _Word("{slot}: container {value} would be added or removed", approval=True),
    Rule.EXPOSURE: _Word("{slot} = {value} changes what is reachable from outside", approval=True),
    Rule.REPLICAS: _Word("{slot} = {value} stops the workload or is above the limit", approval=True),
    Rule.GUARDED_KIND: _Word("a {value} guards others", approval=True),
    Rule.NEW_WORKLOAD: _Word("a new {value} would run; repair the one that is there", approval=True),
}

# What only the live object can decide: a reference or command that is already there, or is merely corrected.
NEEDS_LIVE = frozenset(
    {
        Rule.SECRET_REFERENCE,
        Rule.SERVICE_ACCOUNT,
        Rule.COMMAND,
        Rule.EXPOSURE,
        Rule.SECURITY_CONTEXT,
        Rule.NAME_RESOLUTION,
        Rule.PROBE_HOST,
    }
)

_REFERENCES = frozenset({Rule.SECRET_REFERENCE, Rule.SERVICE_ACCOUNT})
_SAFE_OFF = frozenset({"privileged", "allowPrivilegeEscalation"})
_EXPANDED = re.compile(r"\$\(")


def judge_fragment(kind: str, fragment: Manifest, limits: Limits) -> tuple[Concern, ...]:
    """Judge what a manifest or patch body says by itself, without knowing the live object."""
    facts = facts_of(kind, fragment)
    told = [concern_of(fact) for fact in sorted(facts) if _matters(fact, limits)]
    return tuple(_strictest_first([*told, *_by_kind(kind), *_images(images_of(kind, fragment), limits)]))


def judge_change(
    kind: str,
    before: Manifest | None,
    after: Manifest,
    limits: Limits,
    *,
    standing: frozenset[Fact] = frozenset(),
) -> tuple[Concern, ...]:
    """Judge a write by its effect. `before` is None for a new object; `after` what the API server would store.

    `standing` holds the references of `before` that are known to lead somewhere: no slip that may be corrected.
    """
    old = facts_of(kind, before) if before else frozenset()
    new = facts_of(kind, after)
    kept = new | standing
    added = [fact for fact in sorted(new - old) if _matters(fact, limits) and not _corrects(fact, old, kept)]
    lost = _lost(old, new) if before else ()
    known = images_of(kind, before) if before else {}
    images = {name: image for name, image in images_of(kind, after).items() if image not in known.values()}
    concerns = [*map(concern_of, added), *map(concern_of, lost), *_by_kind(kind), *_images(images, limits)]
    if before is None and kind in POD_SPEC:
        concerns.append(concern_of(Fact(Rule.NEW_WORKLOAD, kind, kind)))
    if before and not limits.registries:
        concerns += _repositories(known, images)
    if before:
        concerns += [*_containers(kind, before, after), *_type_change(kind, before, after)]
    return tuple(_strictest_first(concerns))


def concern_of(fact: Fact) -> Concern:
    """The concern that a fact is, told in its rule's words."""
    word = RULES[fact.rule]
    value = fact.value if len(fact.value) <= 160 else fact.value[:160] + "…"
    return Concern(fact.rule, word.sentence.format(slot=fact.slot, value=value), word.approval)


def _strictest_first(concerns: Iterable[Concern]) -> list[Concern]:
    return sorted(concerns, key=lambda concern: concern.approval)


def _matters(fact: Fact, limits: Limits) -> bool:
    """Whether a fact is a concern by itself. Replica counts are only at zero and above the limit."""
    if fact.rule is not Rule.REPLICAS:
        return True
    try:
        count = int(fact.value)
    except ValueError:
        return True
    stops = count <= 0 and not (fact.slot == "spec.parallelism" and count == 0)
    return stops or count > limits.max_replicas


def corrected_references(kind: str, before: Manifest, after: Manifest) -> frozenset[Fact]:
    """The references of `before` that `after` replaces with a near miss of theirs."""
    old, new = facts_of(kind, before), facts_of(kind, after)
    return frozenset(
        other
        for other in old - new
        for fact in new - old
        if fact.rule in _REFERENCES
        and (fact.rule, fact.slot) == (other.rule, other.slot)
        and is_near_miss(other.value, fact.value)
    )


def _corrects(fact: Fact, old: frozenset[Fact], kept: frozenset[Fact]) -> bool:
    """Whether a fact corrects the spelling of one in the same place that is not to be kept."""
    alike = [other for other in old if other.rule is fact.rule]
    if fact.rule in _REFERENCES and not _EXPANDED.search(fact.value):
        return any(_corrects_reference(fact, other, stays=other in kept) for other in alike)
    if fact.rule is Rule.COMMAND:
        return any(is_small_correction(other.value, fact.value) for other in alike if other.slot == fact.slot)
    return False


def _corrects_reference(fact: Fact, other: Fact, *, stays: bool) -> bool:
    """The same place with its value's name corrected, or the same value where the place's own name is corrected.

    Volumes are one place: a Secret that is mounted may be mounted under another volume's name, or less of it.
    """
    volumes = fact.slot.startswith("volume ") and other.slot.startswith("volume ")
    if volumes and (fact.value == other.value or fact.value.startswith(f"{other.value}/")):
        return True
    if fact.slot == other.slot:
        return not stays and is_near_miss(other.value, fact.value)
    return fact.value == other.value and is_near_miss(other.slot, fact.slot)


def _lost(old: frozenset[Fact], new: frozenset[Fact]) -> Iterator[Fact]:
    """Facts whose removal is itself a concern."""
    for fact in sorted(old - new):
        kept = any(other.rule is fact.rule for other in new)
        if fact.rule in (Rule.FINALIZERS, Rule.OWNERS) and not kept:
            yield replace(fact, value="removed")


def _by_kind(kind: str) -> Iterator[Concern]:
    if kind in GUARDED_KINDS:
        yield concern_of(Fact(Rule.GUARDED_KIND, kind, kind))


def _images(images: Mapping[str, str], limits: Limits) -> Iterator[Concern]:
    for name, image in images.items():
        if image and not from_registries(image, limits.registries):
            yield concern_of(Fact(Rule.IMAGE_REGISTRY, name, image))


def _repositories(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Concern]:
    """Without a list of registries: images of a repository that the object does not use yet."""
    used = {repository(image) for image in before.values()}
    for name, image in after.items():
        if repository(image) not in used and not corrects_repository(before.get(name, ""), image):
            yield concern_of(Fact(Rule.IMAGE_REPOSITORY, name, image))


def _containers(kind: str, before: Manifest, after: Manifest) -> Iterator[Concern]:
    path = POD_SPEC.get(kind)
    if not path:
        return
    for field in ("containers", "initContainers"):
        names = [_names(mapping(manifest, *path), field) for manifest in (before, after)]
        for name in sorted(names[0] ^ names[1]):
            yield concern_of(Fact(Rule.CONTAINERS, field, name))
    yield from _hardening(mapping(before, *path), mapping(after, *path))


def _names(pod: Mapping[str, object], field: str) -> set[str]:
    value = dig(pod, field)
    return {str(dig(item, "name")) for item in value} if isinstance(value, list) else set()


def _hardening(before: Manifest, after: Manifest) -> Iterator[Concern]:
    """Settings that tightened a pod and would be gone."""
    unmounted = [pod.get("automountServiceAccountToken") is False for pod in (before, after)]
    if unmounted == [True, False]:
        yield concern_of(Fact(Rule.SERVICE_ACCOUNT_TOKEN, "removing automountServiceAccountToken", "false"))
    apart = [pod.get("hostUsers") is False for pod in (before, after)]
    if apart == [True, False]:
        yield concern_of(Fact(Rule.SECURITY_CONTEXT, "pod.hostUsers", _told(after.get("hostUsers"))))
    for slot, old, new in _contexts(before, after):
        for key, value in old.items():
            removed = (
                key not in new and value not in (None, {}, [], "") and (value is not False or key in _SAFE_OFF)
            )
            kept = set(_list(mapping(new, key), "drop")) >= set(_list(mapping(old, key), "drop"))
            if removed or not kept:
                yield concern_of(Fact(Rule.SECURITY_CONTEXT, f"{slot}.securityContext.{key}", "removed"))


def _told(value: object) -> str:
    return "removed" if value is None else str(value).lower()


def _contexts(before: Manifest, after: Manifest) -> Iterator[tuple[str, Manifest, Manifest]]:
    yield "pod", mapping(before, "securityContext"), mapping(after, "securityContext")
    for field in ("containers", "initContainers"):
        new = {str(dig(c, "name")): c for c in _list(after, field)}
        for container in _list(before, field):
            name = str(dig(container, "name"))
            if name in new:
                yield name, mapping(container, "securityContext"), mapping(new[name], "securityContext")


def _list(manifest: Manifest, field: str) -> list[object]:
    value = manifest.get(field)
    return value if isinstance(value, list) else []


def _type_change(kind: str, before: Manifest, after: Manifest) -> Iterator[Concern]:
    old, new = (dig(manifest, "spec", "type") or "ClusterIP" for manifest in (before, after))
    if kind == "Service" and old != new and new == "ClusterIP":
        yield concern_of(Fact(Rule.EXPOSURE, "spec.type", f"{old} to {new}"))
