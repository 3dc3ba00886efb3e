"""References to ConfigMaps, keys, Secrets, claims and service accounts that do not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.api.manifest import Manifest, mapping, text
from sanare.diagnosis.documents import Documented, documented_config_maps
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.likeness import nearest
from sanare.diagnosis.patch import Change, create, patch
from sanare.diagnosis.reference import Reference, references
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Workload

# What every namespace has without anybody having made it.
_BUILT_IN = frozenset({("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")})
_WORDS = {
    "ConfigMap": "configmap",
    "Secret": "secret",
    "PersistentVolumeClaim": "persistentvolumeclaim",
    "ServiceAccount": "serviceaccount",
}


def missing_objects(view: View) -> Iterator[Finding]:
    """References whose object is not there."""
    for workload in view.troubled:
        by_object: dict[tuple[str, str], list[Reference]] = {}
        for reference in references(workload):
            if not reference.optional and _is_absent(view, workload, reference):
                by_object.setdefault((reference.kind, reference.name), []).append(reference)
        for group in by_object.values():
            yield from _missing_object(view, workload, group)


def missing_keys(view: View) -> Iterator[Finding]:
    """References to a key that its ConfigMap or Secret does not have."""
    for workload in view.troubled:
        for reference in references(workload):
            if reference.key and not reference.optional and not _is_absent(view, workload, reference):
                yield from _missing_key(view, workload, reference)


def _is_absent(view: View, workload: Workload, reference: Reference) -> bool:
    if view.is_listed(reference.kind):
        return view.snapshot.find(reference.kind, reference.name) is None
    pattern = rf'{_WORDS[reference.kind]} "(?:[a-z0-9-]+/)?{re.escape(reference.name)}" not found'
    return re.search(pattern, view.complaints(workload)) is not None


def _missing_object(view: View, workload: Workload, group: list[Reference]) -> Iterator[Finding]:
    first = group[0]
    needed = frozenset(key for reference in group for key in reference.needed)
    documented = _documented(view, first, needed)
    if documented:
        candidates = tuple(_create(item) for item in documented)
        yield _finding(workload, first, candidates, "is documented with different contents")
        return
    names, why = _existing(view, workload, first, needed)
    candidates = tuple(_rename(workload, group, name, f"{first.kind}/{name} exists and is {why}") for name in names)
    yield _finding(workload, first, candidates, f"may stand for {', '.join(names)}")


def _finding(workload: Workload, reference: Reference, candidates: tuple[Candidate, ...], doubt: str) -> Finding:
    nothing = f"nothing in the namespace is known to be what {reference.where} means by {reference.name}"
    return Finding(
        kind=f"{reference.kind}Missing",
        ref=workload.ref,
        field=reference.field,
        observed=reference.name,
        expected=f"a {reference.kind} that exists",
        confidence=Confidence.MEDIUM if reference.kind == "Secret" else Confidence.HIGH,
        candidates=candidates,
        missing="" if len(candidates) == 1 else f"{reference.name} {doubt}" if candidates else nothing,
    )


def _documented(view: View, reference: Reference, needed: frozenset[str]) -> list[Documented]:
    if reference.kind != "ConfigMap":
        return []
    found = documented_config_maps(view.snapshot.all("ConfigMap"), reference.name)
    return [item for item in found if needed <= {key for key, _ in item.data}]


def _create(item: Documented) -> Candidate:
    return Candidate(item.name, f"{item.place} holds its manifest", (create(item.manifest()),))


def _rename(workload: Workload, group: list[Reference], name: str, evidence: str) -> Candidate:
    changes = (Change(reference.pointer, reference.name, name) for reference in group)
    return Candidate(name, evidence, (patch(workload.ref, *changes),))


def _existing(
    view: View, workload: Workload, reference: Reference, needed: frozenset[str]
) -> tuple[tuple[str, ...], str]:
    """Names of objects that the reference may mean, and why: a near miss, else the only one that fits the need."""
    if reference.kind == "Secret":
        return nearest(
            reference.name, _secrets_in_use(view, workload)
        ), "one that running pods use, with a name like it"
    # What a claim holds cannot be seen, and an account holds nothing.
    needed = needed if reference.kind == "ConfigMap" else frozenset()
    fitting = [m for m in view.snapshot.all(reference.kind) if _fits(m, needed)]
    names = [n for m in fitting if (reference.kind, n := text(m, "metadata", "name")) not in _BUILT_IN]
    near = nearest(reference.name, names)
    if near:
        return near, "named like it" + (f", with {', '.join(sorted(needed))}" if needed else "")
    if reference.kind == "ConfigMap" and needed:
        return tuple(names), f"the only one with {', '.join(sorted(needed))}"
    if reference.kind == "PersistentVolumeClaim":
        return tuple(n for n in names if not _is_claimed(view, n)), "the only claim that nobody uses"
    return (), ""


def _fits(manifest: Manifest, needed: frozenset[str]) -> bool:
    return needed <= {*mapping(manifest, "data"), *mapping(manifest, "binaryData")}


def _is_claimed(view: View, name: str) -> bool:
    used = (r for w in view.workloads for r in references(w))
    return any(r.kind == "PersistentVolumeClaim" and r.name == name for r in used)


def _secrets_in_use(view: View, workload: Workload) -> set[str]:
    """Names of Secrets that pods of proven workloads have; their contents are never looked at."""
    proven = [w for w in view.workloads if w.ref != workload.ref and w.is_proven]
    return {r.name for w in proven for r in references(w) if r.kind == "Secret" and not r.optional}


def _missing_key(view: View, workload: Workload, reference: Reference) -> Iterator[Finding]:
    if reference.kind == "Secret":
        pattern = rf"key {re.escape(reference.key)} in Secret \S*{re.escape(reference.name)}\b"
        if re.search(pattern, view.complaints(workload)) is not None:
            keys = nearest(reference.key, _secret_keys(view, reference))
            yield _key_finding(workload, reference, _rekey(workload, reference, keys, "running pods read that key"))
        return
    manifest = view.snapshot.find("ConfigMap", reference.name)
    if manifest is None or _fits(manifest, reference.needed):
        return
    near = nearest(reference.key, mapping(manifest, "data"))
    if near:
        candidates = _rekey(workload, reference, near, f"ConfigMap/{reference.name} has it")
        yield _key_finding(workload, reference, candidates)
        return
    others = [text(m, "metadata", "name") for m in view.snapshot.all("ConfigMap") if _fits(m, reference.needed)]
    words = f"ConfigMap/{{}} is the one with {reference.key}"
    candidates = tuple(_rename(workload, [reference], name, words.format(name)) for name in others)
    yield _key_finding(workload, reference, candidates, of_name=bool(others))


def _rekey(workload: Workload, reference: Reference, keys: tuple[str, ...], place: str) -> tuple[Candidate, ...]:
    changes = ((key, Change(reference.key_pointer, reference.key, key)) for key in keys)
    return tuple(Candidate(key, place, (patch(workload.ref, change),)) for key, change in changes)


def _key_finding(
    workload: Workload, reference: Reference, candidates: tuple[Candidate, ...], *, of_name: bool = False
) -> Finding:
    doubt = f"{reference.key} may stand for {', '.join(candidate.value for candidate in candidates)}"
    nothing = (
        f"{reference.kind}/{reference.name} has no key like {reference.key}, and nothing else is known to have it"
    )
    return Finding(
        kind=f"{reference.kind}KeyMissing",
        ref=workload.ref,
        field=reference.field if of_name else reference.field.removesuffix("name") + "key",
        observed=reference.name if of_name else reference.key,
        expected=f"a {reference.kind} and key that exist",
        confidence=Confidence.HIGH if reference.kind == "ConfigMap" else Confidence.MEDIUM,
        candidates=candidates,
        missing="" if len(candidates) == 1 else doubt if candidates else nothing,
    )


def _secret_keys(view: View, reference: Reference) -> set[str]:
    """Keys of that Secret that pods of proven workloads read."""
    used = (r for w in view.workloads if w.is_proven for r in references(w))
    return {r.key for r in used if (r.kind, r.name) == ("Secret", reference.name) and r.key}
