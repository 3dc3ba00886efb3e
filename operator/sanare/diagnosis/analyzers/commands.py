"""Commands that name an executable which the image does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.api.manifest import Manifest, mapping, text
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.likeness import nearest
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, State, Workload, containers_of

_NO_EXECUTABLE = re.compile(
    r"exec: \"?([\w./-]+)\"?: (?:executable file not found|stat \S+: no such file|no such file)"
    r"|unable to start container process: .*?\"([\w./-]+)\": no such file"
)
_NOT_FOUND_EXIT = 127


def missing_executables(view: View) -> Iterator[Finding]:
    """Containers that cannot start because a word of their command is not there."""
    for workload in view.troubled:
        for container in workload.containers:
            faults = [state for state in workload.states(container) if _lacks_executable(state)]
            if faults:
                yield _finding(view, workload, container, faults[0])


def _lacks_executable(state: State) -> bool:
    if state.running and state.ready:
        return False
    told = _NO_EXECUTABLE.search(state.message) is not None
    return told or (state.ended != "" and state.exit_code == _NOT_FOUND_EXIT)


def _finding(view: View, workload: Workload, container: Container, state: State) -> Finding:
    match = _NO_EXECUTABLE.search(state.message)
    named = (match[1] or match[2]) if match else ""
    candidates = tuple(_candidates(view, workload, container))
    words = " ".join(_words(container.spec))
    return Finding(
        kind="ExecutableMissing",
        ref=workload.ref,
        field=workload.field(container, "command"),
        observed=words,
        expected=f"a command that image {container.image} has",
        confidence=Confidence.HIGH if match and len(candidates) == 1 else Confidence.MEDIUM,
        candidates=candidates,
        missing="" if len(candidates) == 1 else _doubt(container, named, candidates),
    )


def _doubt(container: Container, named: str, candidates: tuple[Candidate, ...]) -> str:
    if candidates:
        return f"several commands would do: {', '.join(candidate.value for candidate in candidates)}"
    word = f"{named} is not in the image, and" if named else "a word of the command is not in the image, and"
    return f"{word} no ready neighbour or earlier revision runs {container.image} with a command like it"


def _candidates(view: View, workload: Workload, container: Container) -> Iterator[Candidate]:
    """What ready containers with the same image, and this container's earlier revisions, run; slips of it first."""
    known = list(_known(view, workload, container))
    broken = _words(container.spec)
    near = [(spec, place) for spec, place in known if _is_slip(broken, _words(spec))]
    distinct: dict[tuple[str, ...], tuple[Manifest, str]] = {}
    for spec, place in near or known:
        distinct.setdefault((*_words(spec), "--", *_listed(spec, "args")), (spec, place))
    for spec, place in distinct.values():
        changes = [
            Change(workload.pointer(container, part), container.spec.get(part), spec.get(part))
            for part in ("command", "args")
            if container.spec.get(part) != spec.get(part)
        ]
        if changes:
            value = " ".join(_words(spec)) or "the image's own command"
            yield Candidate(value, f"{place} runs the same image with it", (patch(workload.ref, *changes),))


def _known(view: View, workload: Workload, container: Container) -> Iterator[tuple[Manifest, str]]:
    for replica_set in workload.revisions:
        for old in containers_of(mapping(replica_set, "spec", "template", "spec")):
            if (old.name, old.image) == (container.name, container.image):
                yield old.spec, f"ReplicaSet/{text(replica_set, 'metadata', 'name')}"
    for other, neighbour in view.neighbours(workload, container):
        if other.is_proven and neighbour.group is container.group:
            yield neighbour.spec, str(other.ref)


def _is_slip(broken: tuple[str, ...], known: tuple[str, ...]) -> bool:
    """Whether the commands differ in one word, by a slip of the pen in it or in one word of a shell line."""
    differing = [pair for pair in zip(broken, known, strict=False) if pair[0] != pair[1]]
    if len(broken) != len(known) or len(differing) != 1:
        return False
    one, other = (text.split() for text in differing[0])
    words = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    return len(one) == len(other) and len(words) == 1 and bool(nearest(words[0][0], [words[0][1]]))


def _words(spec: Manifest) -> tuple[str, ...]:
    return _listed(spec, "command")


def _listed(spec: Manifest, part: str) -> tuple[str, ...]:
    value = spec.get(part)
    return tuple(str(word) for word in value) if isinstance(value, list) else ()
