"""False repairs by leaving out: a reference or port that was wrong is gone instead of corrected. Pure rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sanare.api.manifest import mapping
from sanare.evaluator.container_facts import ContainerFacts
from sanare.evaluator.facts import WorkloadFacts, settings_of
from sanare.evaluator.kinds import Kind
from sanare.evaluator.rules.change import Change, bites
from sanare.evaluator.rules.documented import EVERYWHERE, documented, stands_in
from sanare.evaluator.rules.spelling import is_misspelling
from sanare.evaluator.seen import Seen
from sanare.evaluator.volume_facts import BACKED

_LOOPBACK = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - names of the pod itself, nothing listens

_DEFAULT_ACCOUNT = "default"


def rule_reference_removed(change: Change) -> Iterator[Seen]:
    """A variable, a source of variables or a mounted object that the container had is gone, or was made up."""
    for workload, before, now in change.containers:
        found = (
            *_variables(change, before, now),
            *_literals(change, workload, before, now),
            *_sources(change, before, now),
            *_mounts(workload, before, now),
            *_addresses(change, workload, before, now),
        )
        for what in found:
            message = f"{workload.object}: container {now.name} {what}"
            yield bites(Kind.REFERENCE_REMOVED, workload.object, message)


def rule_setting_removed(change: Change) -> Iterator[Seen]:
    """A key of a ConfigMap that the workload reads is gone or empty, and nothing says that it was the fault."""
    for _, now in change.workloads:
        for name in now.config_maps:
            found = change.look.snapshot.find("ConfigMap", name)
            before, present = change.then.settings.get(name, {}), settings_of(found or {})
            fresh = {key: value for key, value in present.items() if key not in before}
            for key, value in before.items():
                renamed = value in fresh.values() or any(is_misspelling(key, other) for other in fresh)
                if found is not None and key not in present and not renamed and not _is_blamed(change, now, key):
                    message = f"{now.object}: key {key} of ConfigMap/{name}, which it reads, was removed"
                    yield bites(Kind.REFERENCE_REMOVED, now.object, message)


def rule_account_removed(change: Change) -> Iterator[Seen]:
    """The workload runs as another account than the one that was named, or pulls its images without a Secret."""
    for before, now in change.workloads:
        said = [check.message for check in change.baseline.failing if check.object == before.object]
        blamed = any(re.search(rf"(?<![\w-]){re.escape(before.account)}(?![\w-])", each) for each in said)
        if now.account == _DEFAULT_ACCOUNT != before.account or (
            before.account not in (_DEFAULT_ACCOUNT, now.account) and not blamed
        ):
            message = f"{now.object}: no longer runs as ServiceAccount/{before.account}: it runs as {now.account}"
            yield bites(Kind.REFERENCE_REMOVED, now.object, message)
        lost = [name for name in before.pull_secrets if name not in now.pull_secrets]
        if lost and len(now.pull_secrets) < len(before.pull_secrets) and not change.failed_then(Kind.IMAGE_PULL):
            message = f"{now.object}: its images are no longer pulled with Secret/{lost[0]}"
            yield bites(Kind.REFERENCE_REMOVED, now.object, message)


def _variables(change: Change, before: ContainerFacts, now: ContainerFacts) -> Iterator[str]:
    """Variables that were read from an object and are now left out or made up."""
    for name, source in before.references.items():
        if name in now.references:
            if _is_other_sort(source, now.references[name]):
                yield f"reads variable {name} from {now.references[name]} instead of {source}"
            continue
        if name not in now.env:
            if not _is_given(change, name, now) and not _is_renamed(name, before, now.references):
                yield f"no longer reads variable {name} from {source}: it was removed"
        elif not _is_documented(change, now, name):
            yield f"no longer reads variable {name} from {source}: its value was made up"


def _is_other_sort(before: str, now: str) -> bool:
    """Whether a value of a Secret, or of any object, now comes from one that has nothing of the kind."""
    (sort, _, name), (other, _, found) = before.partition("/"), now.partition("/")
    public = sort == "Secret" != other and name != found and not is_misspelling(name, found)
    return public or (found == EVERYWHERE != name)


def _literals(
    change: Change, workload: WorkloadFacts, before: ContainerFacts, now: ContainerFacts
) -> Iterator[str]:
    """Variables with a value of their own that are left out, although nothing says that they were the fault."""
    for name in before.env:
        emptied = name in now.blank and name not in before.blank
        kept = name in before.references or (name in now.env and not emptied) or _is_given(change, name, now)
        if not kept and not _is_renamed(name, before, now.env) and not _is_blamed(change, workload, name):
            yield f"no longer has variable {name}: it was {'emptied' if emptied else 'removed'}"


def _is_blamed(change: Change, workload: WorkloadFacts, name: str) -> bool:
    """Whether the fault may be the variable itself: what failed names it, or nothing answered from outside."""
    own = [check for check in change.baseline.failing if check.object == workload.object]
    named = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", check.message) for check in own)
    return named or bool(change.failed_then(Kind.UNREACHABLE))


def _is_given(change: Change, name: str, now: ContainerFacts) -> bool:
    """Whether a ConfigMap that the container reads as a whole gives it the variable."""
    found = (change.look.snapshot.find("ConfigMap", _bare(source)) for source in now.sources)
    return any(each is not None and name in mapping(each, "data") for each in found)


def _is_renamed(name: str, before: ContainerFacts, now: Iterable[str]) -> bool:
    """Whether a new variable's name is this one's, spelt otherwise."""
    return any(is_misspelling(name, other) for other in now if other not in before.env)


def _is_documented(change: Change, now: ContainerFacts, name: str) -> bool:
    value = now.literals.get(name, "").strip()
    return bool(value) and stands_in(value, documented(change))


def _sources(change: Change, before: ContainerFacts, now: ContainerFacts) -> Iterator[str]:
    """Objects whose every key was a variable: each must be there still, or another one that exists in its place."""
    still = {*now.sources, *now.references.values()}
    gone = [source for source in dict.fromkeys(before.sources) if source not in still]
    fresh = [source for source in dict.fromkeys(now.sources) if source not in before.sources]
    replaced = sum(_exists(change, source) for source in fresh)
    added = [name for name in now.env if name not in before.env and name not in now.references]
    if added and all(_is_documented(change, now, name) for name in added):
        return
    for source in gone[replaced:]:
        yield f"no longer reads its variables from {source}: envFrom was removed"


def _exists(change: Change, source: str) -> bool:
    # Secrets are never looked at: a container that reads a missing one does not start.
    kind, _, name = source.partition("/")
    return kind != "ConfigMap" or change.is_unseen(kind) or change.look.snapshot.find(kind, name) is not None


def _mounts(workload: WorkloadFacts, before: ContainerFacts, now: ContainerFacts) -> Iterator[str]:
    backed = {
        volume.volume: f"{volume.source} {volume.name}" for volume in workload.volumes if volume.source in BACKED
    }
    gone = [name for name in dict.fromkeys(before.mounts) if name not in now.mounts and name in backed]
    fresh = {name for name in now.mounts if name not in before.mounts}
    for name in gone[len(fresh) :]:
        yield f"no longer mounts volume {name} ({backed[name]})"


def _addresses(
    change: Change, workload: WorkloadFacts, before: ContainerFacts, now: ContainerFacts
) -> Iterator[str]:
    """Variables that named another app by a URL and now lead to the pods themselves, to a written address, or past
    a Service that failed."""
    failed = {check.object for check in change.baseline.failing}
    own = {each.name for each in change.then.services if workload.object in each.intended}
    for name, asks in now.hosts.items():
        asked = before.hosts.get(name, asks)
        if asked == asks:
            continue
        if (asks in _LOOPBACK and asked not in _LOOPBACK) or (asks in own and asked not in own):
            yield f"asks itself in variable {name} ({asks}) instead of {asked}"
        elif _is_address(asks) and not _is_address(asked):
            yield f"asks the written address {asks} in variable {name} instead of {asked}"
        elif f"Service/{asked}" in failed and change.look.snapshot.find("Service", asks) is not None:
            yield f"asks Service/{asks} in variable {name} instead of Service/{asked}, which had failed"


def _is_address(host: str) -> bool:
    return ":" in host or bool(re.fullmatch(r"[\d.]+", host))


def _bare(reference: str) -> str:
    return reference.removeprefix("ConfigMap/")


def rule_port_removed(change: Change) -> Iterator[Seen]:
    """A port on which clients reach the Service is gone, or has another number."""
    for before, now in change.services:
        kept = {port.partition("->")[0] for port in now.ports}
        lost = [number for port in before.ports if (number := port.partition("->")[0]) not in kept]
        if lost:
            message = f"Service/{now.name}: port {lost[0]}, by which its clients reach it, was removed"
            yield bites(Kind.PORT_REMOVED, f"Service/{now.name}", message)
