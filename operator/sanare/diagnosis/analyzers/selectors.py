"""Services whose selector takes no pods, or also those of another workload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sanare.api.manifest import Manifest, Ref, mapping, text
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.likeness import nearness
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View, is_slip, selects
from sanare.diagnosis.workload import Workload

_FINISHING = frozenset({"Job", "CronJob"})


def selectors(view: View) -> Iterator[Finding]:
    """Services of the incident with a selector that misses its workload or takes a second one."""
    for service in view.services:
        if not mapping(service, "spec", "selector") or text(service, "spec", "type") == "ExternalName":
            continue
        behind = view.behind(service)
        if not behind and not _takes_any_pod(view, service):
            yield _no_match(view, service)
        elif len(behind) > 1:
            yield from _overlap(view, service, behind)


def _takes_any_pod(view: View, service: Manifest) -> bool:
    return any(selects(service, mapping(pod, "metadata", "labels")) for pod in view.snapshot.all("Pod"))


def _no_match(view: View, service: Manifest) -> Finding:
    meant = _meant(view, service)
    found = {workload.name: _right_selector(view, service, workload) for workload in meant}
    candidates = tuple(
        _candidate(service, selector, f"{workload.ref}'s pods have these labels")
        for workload in meant
        if (selector := found[workload.name])
    )
    return Finding(
        kind="SelectorMatchesNothing",
        ref=Ref.of(service),
        field="spec.selector",
        observed=_words(mapping(service, "spec", "selector")),
        expected="labels that the pods of its workload have",
        confidence=Confidence.HIGH,
        candidates=candidates,
        missing=_doubt(service, meant, candidates),
    )


def _doubt(service: Manifest, meant: tuple[Workload, ...], candidates: tuple[Candidate, ...]) -> str:
    if len(candidates) == 1:
        return ""
    names = ", ".join(str(workload.ref) for workload in meant)
    return (
        f"Service/{text(service, 'metadata', 'name')} may be meant for {names}"
        if candidates
        else f"no workload has labels or a name like Service/{text(service, 'metadata', 'name')} and its selector"
    )


def _meant(view: View, service: Manifest) -> tuple[Workload, ...]:
    """The workloads the Service may be meant for: near-miss labels, else its name, else what is left over."""
    selector = mapping(service, "spec", "selector")
    serving = [w for w in view.workloads if w.ref.kind not in _FINISHING]
    slips = [w for w in serving if all(is_slip(k, str(v), w.pod_labels) for k, v in selector.items())]
    named = [w for w in serving if w.name == text(service, "metadata", "name")]
    targets = [w for w in view.targets if w in serving]
    served = [other for other in view.snapshot.all("Service") if other is not service]
    left = [w for w in serving if not any(selects(other, w.pod_labels) for other in served)]
    pools = [pool for pool in (slips, named, targets, left) if pool]
    if not pools:
        return ()
    pool, *narrower = pools
    for other in narrower:
        both = [w for w in pool if w in other]
        pool = both or pool
    return tuple(pool)


def _right_selector(view: View, service: Manifest, workload: Workload) -> Mapping[str, str]:
    """The selector with each slip mended, or the workload's own if only that singles it out; empty if none does."""
    mended = dict(_mend(mapping(service, "spec", "selector"), workload.pod_labels))
    for selector in (mended, workload.match_labels, {**workload.match_labels, **mended}):
        taken = [w for w in view.workloads if _within(selector, w.pod_labels)]
        if selector and taken == [workload]:
            return selector
    return {}


def _mend(selector: Mapping[str, str], pod_labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in selector.items():
        if key in pod_labels:
            yield key, pod_labels[key]
            continue
        renamed = [name for name, its in pod_labels.items() if its == value or nearness(key, name) is not None]
        yield (renamed[0], pod_labels[renamed[0]]) if len(renamed) == 1 else (key, value)


def _within(selector: Mapping[str, str], pod_labels: Mapping[str, str]) -> bool:
    return bool(selector) and all(pod_labels.get(key) == value for key, value in selector.items())


def _overlap(view: View, service: Manifest, behind: tuple[Workload, ...]) -> Iterator[Finding]:
    """A Service whose own workload is plain by name while others with other images share the labels."""
    own = [w for w in behind if w.name == text(service, "metadata", "name")]
    own = own or [w for w in behind if w in view.targets and len(set(behind) & set(view.targets)) == 1]
    if len(own) != 1:
        return
    images = {c.image for c in own[0].containers}
    if all({c.image for c in w.containers} == images and w.wanted for w in behind if w != own[0]):
        return  # several releases of one application behind one Service is a normal thing
    narrowed = {**mapping(service, "spec", "selector"), **own[0].match_labels}
    singled = [w for w in view.workloads if _within(narrowed, w.pod_labels)] == own
    candidates = (
        (_candidate(service, narrowed, f"{own[0].ref} selects its pods by these labels"),) if singled else ()
    )
    others = ", ".join(str(w.ref) for w in behind if w != own[0])
    yield Finding(
        kind="SelectorTakesOthers",
        ref=Ref.of(service),
        field="spec.selector",
        observed=f"{_words(mapping(service, 'spec', 'selector'))} also takes pods of {others}",
        expected=f"labels that {own[0].ref} alone has",
        confidence=Confidence.MEDIUM,
        candidates=candidates,
        missing="" if candidates else f"no label of {own[0].ref} tells its pods from those of {others}",
    )


def _candidate(service: Manifest, selector: Mapping[str, str], evidence: str) -> Candidate:
    old = dict(mapping(service, "spec", "selector"))
    change = Change(("spec", "selector"), old, dict(selector))
    return Candidate(_words(selector), evidence, (patch(Ref.of(service), change),))


def _words(selector: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
