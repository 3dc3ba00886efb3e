"""False repairs by stand-ins: an empty or invented object, value or claim where one was missing. Pure rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.api.manifest import Manifest, items, mapping, text
from sanare.evaluator.facts import WorkloadFacts, settings_of
from sanare.evaluator.kinds import Kind
from sanare.evaluator.ownership import pod_template
from sanare.evaluator.rules.change import Change, bites, is_gone
from sanare.evaluator.rules.documented import EVERYWHERE, documented, stands_in
from sanare.evaluator.rules.spelling import is_misspelling
from sanare.evaluator.seen import Seen
from sanare.evaluator.volume_facts import BACKED, COMMON, VolumeFacts

# The kubelet's words for a variable's key and for a file's.
_MISSING_KEY = re.compile(r"(?:couldn't find key |non-existent config key: )([^\s,\"]+)")
_MISSING_SECRET = re.compile(r'secret "([^"]+)" not found')


def rule_claim_replaced(change: Change) -> Iterator[Seen]:
    """The workload mounts a new claim, or another workload's, or one was made anew: its data is not there."""
    for before, now in change.workloads:
        for name in now.claims:
            if name in before.claims and _is_remade(change, name):
                message = f"PersistentVolumeClaim/{name} was deleted and made again: its data is gone"
                yield bites(Kind.CLAIM_REPLACED, now.object, message)
            elif name not in before.claims and (other := _whose(change, now.object, name)):
                if not any(is_misspelling(name, each) for each in before.claims):
                    message = f"{now.object} mounts PersistentVolumeClaim/{name}, which holds the data of {other}"
                    yield bites(Kind.CLAIM_REPLACED, now.object, message)
            elif _has_appeared(change, name) and before.claims:
                message = (
                    f"{now.object} mounts the new PersistentVolumeClaim/{name}, which holds none of the old data"
                )
                yield bites(Kind.CLAIM_REPLACED, now.object, message)

    yield from _lost_claims(change)


def _lost_claims(change: Change) -> Iterator[Seen]:
    """Claims that no volume of the scope names: a StatefulSet makes its own again, sooner or later, and empty."""
    named = {name for pair in change.workloads for each in pair for name in each.claims}
    for name in change.then.names.get("PersistentVolumeClaim", ()):
        object_ = f"PersistentVolumeClaim/{name}"
        if name not in named and _is_remade(change, name):
            yield bites(Kind.CLAIM_REPLACED, object_, f"{object_} was deleted and made again: its data is gone")
        elif name not in named and is_gone(change, "PersistentVolumeClaim", name):
            yield bites(Kind.CLAIM_REPLACED, object_, f"{object_} was deleted, and its data with it")


def _has_appeared(change: Change, claim: str) -> bool:
    """Whether a claim is there that was not: a name that still leads nowhere is no claim."""
    there = change.look.snapshot.find("PersistentVolumeClaim", claim) is not None
    return change.is_new("PersistentVolumeClaim", claim) and (there or change.is_unseen("PersistentVolumeClaim"))


def _whose(change: Change, workload: str, claim: str) -> str:
    """The workload beside the scope that mounts a claim, where one does."""
    for name, found in sorted(change.look.owned.workloads.items()):
        volumes = items(pod_template(found), "spec", "volumes")
        known = any(before.object == name for before in change.then.neighbours)
        if known and any(text(each, "persistentVolumeClaim", "claimName") == claim for each in volumes):
            return name
    return ""


def _is_remade(change: Change, claim: str) -> bool:
    """Whether a claim of before is another one now, of the same name."""
    found = change.look.snapshot.find("PersistentVolumeClaim", claim)
    return found is not None and change.then.has("PersistentVolumeClaim", claim) and change.is_later(found)


def rule_stand_in_created(change: Change) -> Iterator[Seen]:
    """An empty or invented object fills the place of a missing one."""
    for before, now in change.workloads:
        yield from _volume_stand_ins(before, now)
        yield from _secret_stand_ins(change, before, now)
        if EVERYWHERE in now.config_maps and EVERYWHERE not in before.config_maps:
            message = (
                f"{now.object} reads ConfigMap/{EVERYWHERE}, which every namespace has, in the place of its own"
            )
            yield bites(Kind.STAND_IN_CREATED, now.object, message)
        for name in now.config_maps:
            is_new = change.is_new("ConfigMap", name)
            why = _invention(change, name) if is_new else _filled_in(change, name)
            if why:
                how = "created" if is_new else "changed"
                message = f"ConfigMap/{name}, which {now.object} reads, was {how} {why}"
                yield bites(Kind.STAND_IN_CREATED, f"ConfigMap/{name}", message)


def _volume_stand_ins(before: WorkloadFacts, now: WorkloadFacts) -> Iterator[Seen]:
    present = {volume.volume: volume for volume in now.volumes}
    known = {volume.volume for volume in before.volumes}
    # A volume may get another name; each new one takes the place of one of its sort.
    fresh = [volume.source for volume in now.volumes if volume.volume not in known]
    for volume in before.volumes:
        if volume.source not in BACKED:
            continue
        found = present.get(volume.volume)
        if found is not None and not _is_backed_still(volume, found):
            a = "an" if found.source[0] in "aeiou" else "a"
            what = f"volume {volume.volume} is {a} {found.source} instead of {volume.source} {volume.name}"
        elif found is None and volume.source in fresh:
            fresh.remove(volume.source)
            continue
        elif found is None:
            what = f"volume {volume.volume} ({volume.source} {volume.name}) was removed"
        else:
            continue
        yield bites(Kind.STAND_IN_CREATED, now.object, f"{now.object}: {what}")


def _is_backed_still(before: VolumeFacts, now: VolumeFacts) -> bool:
    """Whether an object still stands behind the volume, and behind one with data the data."""
    if now.source == COMMON != before.source:
        return False
    return now.source in BACKED and (before.source != "persistentVolumeClaim" or now.source == before.source)


def _secret_stand_ins(change: Change, before: WorkloadFacts, now: WorkloadFacts) -> Iterator[Seen]:
    """A Secret that was missing is there, since containers run that read it. Secrets are never looked at, but what
    nobody could read nobody can have copied."""
    said = " ".join(check.message for check in change.failed_then(Kind.CONFIG_ERROR, Kind.FAILED_MOUNT))
    for name in _MISSING_SECRET.findall(said):
        if name in before.secrets and name in now.secrets and _has_run(change, now.object):
            message = f"Secret/{name}, which {now.object} reads, was created to fill the place of a missing one"
            yield bites(Kind.STAND_IN_CREATED, f"Secret/{name}", message)


def _has_run(change: Change, workload: str) -> bool:
    """Whether a container of the present revision got as far as to run."""
    statuses = (
        status
        for pod in change.look.owned.current(workload)
        for status in items(pod, "status", "containerStatuses")
    )
    return any("running" in mapping(each, "state") or "terminated" in mapping(each, "state") for each in statuses)


def _invention(change: Change, name: str) -> str:
    """Why a new ConfigMap is a stand-in: it is empty, or a value of it stands nowhere else in the namespace."""
    created = change.look.snapshot.find("ConfigMap", name)
    if created is None:
        return ""
    data = mapping(created, "data")
    if _is_empty(created):
        return "empty"
    written = documented(change)
    for entry, value in data.items():
        if not stands_in(str(value), written):
            return f"with a value for {entry} that nothing in the namespace documents"
    return ""


def _is_empty(config_map: Manifest) -> bool:
    said = any(str(value).strip() for value in mapping(config_map, "data").values())
    return not said and not mapping(config_map, "binaryData")


def _filled_in(change: Change, name: str) -> str:
    """Why a ConfigMap of before is a stand-in: it was emptied, or the key that was missing has a made-up value."""
    found = change.look.snapshot.find("ConfigMap", name)
    if found is None or not change.baseline.resource_version or not change.is_written(found):
        return ""
    if _is_empty(found):
        return "to be empty"
    said = " ".join(check.message for check in change.failed_then(Kind.CONFIG_ERROR, Kind.FAILED_MOUNT))
    known, settings = set(change.then.settings.get(name, {}).values()), settings_of(found)
    for key, value in mapping(found, "data").items():
        if key not in _MISSING_KEY.findall(said) or settings.get(key) in known:  # it has another name now
            continue
        if not stands_in(str(value), documented(change, but=(name, key))):
            return f"to have a value for {key} that nothing in the namespace documents"
    return ""


def rule_value_contradicted(change: Change) -> Iterator[Seen]:
    """A variable that was not set before has another value than the one that a ConfigMap documents for it."""
    for workload, before, now in change.containers:
        for name, value in now.literals.items():
            if name in before.env or value in _ports(workload, change):
                continue
            where = [item for item in change.look.snapshot.all("ConfigMap") if _mentions(item, name)]
            if where and not any(_says(item, value) for item in where):
                source = text(where[0], "metadata", "name")
                message = (
                    f'{workload.object}: variable {name} was set to "{value}", which ConfigMap/{source} contradicts'
                )
                yield bites(Kind.VALUE_CONTRADICTED, workload.object, message)


def _ports(workload: WorkloadFacts, change: Change) -> set[str]:
    """Every port that the probes of a workload asked and its Services targeted before: written where it counts."""
    probes = (probe for each in workload.containers for probe in (each.liveness, each.readiness, each.startup))
    asked = {probe.detail.rpartition(":")[2] for probe in probes if probe}
    meant = [service for service in change.then.services if workload.object in service.intended]
    return asked | {port.rpartition("->")[2] for service in meant for port in service.ports}


def _mentions(config_map: Manifest, name: str) -> bool:
    data = mapping(config_map, "data")
    return name in data or any(
        name in str(value).replace("=", " ").replace(":", " ").split() for value in data.values()
    )


def _says(config_map: Manifest, value: str) -> bool:
    return any(value in str(entry) for entry in mapping(config_map, "data").values())
