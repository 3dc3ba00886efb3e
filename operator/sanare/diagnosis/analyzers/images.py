"""Images that cannot be pulled: what the name was meant to be, from images that the cluster runs or has run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sanare.api.manifest import dig, items, mapping, number, text
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.likeness import distance, nearest
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, Workload, containers_of

_PULL_FAULTS = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"})
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_IN_TEXT = re.compile(r"(?<![\w/.:-])(?:[a-z0-9][\w.-]*(?::\d+)?/)*[a-z0-9][\w.-]*:[\w][\w.-]{0,127}(?![\w/:])")
_DOCKER_HUB = ("docker.io/library/", "docker.io/")


@dataclass(frozen=True, slots=True)
class ImageName:
    """An image reference in two parts; the digest form is not taken apart."""

    repository: str
    tag: str

    @classmethod
    def parse(cls, image: str) -> ImageName:
        """`registry:5000/team/app:1.2` -> repository and tag; no tag means `latest`."""
        head, _, tail = image.rpartition(":")
        repository, tag = (head, tail) if head and "/" not in tail else (image, "latest")
        for prefix in _DOCKER_HUB:
            repository = repository.removeprefix(prefix)
        return cls(repository, tag)

    @property
    def base(self) -> str:
        """The last part of the repository."""
        return self.repository.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Known:
    """An image that is known to exist, or is named, and where."""

    image: str
    evidence: str
    proven: bool = True


def unpullable_images(view: View) -> Iterator[Finding]:
    """Containers whose image the node cannot get."""
    for workload in view.troubled:
        for container in workload.containers:
            if any(state.waiting in _PULL_FAULTS for state in workload.states(container)):
                yield _finding(view, workload, container)


def _finding(view: View, workload: Workload, container: Container) -> Finding:
    meant = _meant(view, workload, container)
    return Finding(
        kind="ImageNotPullable",
        ref=workload.ref,
        field=workload.field(container, "image"),
        observed=container.image,
        expected="the name of an image that exists",
        confidence=Confidence.HIGH if all(known.proven for known in meant) else Confidence.MEDIUM,
        candidates=tuple(_candidate(workload, container, known) for known in meant),
        missing=_missing(container, meant),
    )


def _missing(container: Container, meant: list[Known]) -> str:
    if len(meant) == 1:
        return ""
    if meant:
        return f"several images are equally like {container.image}: {', '.join(known.image for known in meant)}"
    return (
        f"no running pod, node, earlier revision or annotation names an image that {container.image} may stand for"
    )


def _candidate(workload: Workload, container: Container, known: Known) -> Candidate:
    change = Change(workload.pointer(container, "image"), container.image, known.image)
    return Candidate(known.image, known.evidence, (patch(workload.ref, change),))


def _meant(view: View, workload: Workload, container: Container) -> list[Known]:
    """The images that the name may stand for, from the strongest source that has any."""
    revisions = list(_of_revisions(workload, container))
    running = list(_running(view))
    for pool in (
        running + revisions,
        list(_of_annotations(workload)),
        list(_on_nodes(view)),
        list(_templates(view)),
    ):
        near = _near(container.image, pool)
        if near:
            own = [known for known in near if known.image in {r.image for r in revisions}]
            return own if len(near) > 1 and len(own) == 1 else near
    ready = [known for known in revisions if known.proven]
    return ready[:1] or _named_by_annotation(container.image, workload)


def _near(image: str, pool: list[Known]) -> list[Known]:
    """Images of the pool that differ by a slip in the tag alone, else by a slip in the repository alone."""
    wrong = ImageName.parse(image)
    known = {k.image: k for k in reversed(pool) if k.image != image and "@" not in k.image}
    names = [(ImageName.parse(name), name) for name in known]
    same = {parsed.tag: name for parsed, name in names if parsed.repository == wrong.repository}
    tags = nearest(wrong.tag, same)
    slips = [tag for tag in tags if not _is_other_version(wrong.tag, tag)]
    if slips or (tags and len(same) == 1):
        return [known[same[tag]] for tag in slips or tags]
    alike = {parsed.repository: name for parsed, name in names if parsed.tag == wrong.tag}
    return [known[alike[name]] for name in nearest(wrong.repository, alike)]


def _is_other_version(one: str, other: str) -> bool:
    """Whether two tags differ in digits alone and not by a mere swap: 1.4.2 and 1.4.3 are versions, not a slip."""
    same_letters = re.sub(r"\d", "", one) == re.sub(r"\d", "", other)
    return same_letters and not (sorted(one) == sorted(other) and distance(one, other) == 1)


def _running(view: View) -> Iterator[Known]:
    """Images that a node has pulled for a pod of the namespace."""
    for pod in view.snapshot.all("Pod"):
        pulled = {
            text(status, "name")
            for group in ("containerStatuses", "initContainerStatuses")
            for status in items(pod, "status", group)
            if text(status, "imageID")
        }
        for container in containers_of(mapping(pod, "spec")):
            if container.name in pulled:
                yield Known(container.image, f"Pod/{text(pod, 'metadata', 'name')} runs it")


def _of_revisions(workload: Workload, container: Container) -> Iterator[Known]:
    """What earlier ReplicaSets used; proven where their pods are ready now."""
    for replica_set in workload.revisions:
        name = f"ReplicaSet/{text(replica_set, 'metadata', 'name')}"
        for old in containers_of(mapping(replica_set, "spec", "template", "spec")):
            if old.name == container.name and old.image != container.image:
                ready = number(replica_set, "status", "readyReplicas") > 0
                words = "an earlier revision, has ready pods with it" if ready else "an earlier revision, used it"
                yield Known(old.image, f"{name}, {words}", proven=ready)


def _of_annotations(workload: Workload) -> Iterator[Known]:
    template = mapping(workload.manifest, *workload.path[:-1])
    for place, manifest in (("", workload.manifest), ("pod template ", template)):
        for key, value in mapping(manifest, "metadata", "annotations").items():
            if key != _LAST_APPLIED and isinstance(value, str):
                for image in _IN_TEXT.findall(value):
                    yield Known(image, f"the {place}annotation {key} names it", proven=False)


def _named_by_annotation(image: str, workload: Workload) -> list[Known]:
    """The only other tag of the same repository that an annotation of the workload names."""
    repository = ImageName.parse(image).repository
    others = (known for known in _of_annotations(workload) if known.image != image)
    named = {known.image: known for known in others if ImageName.parse(known.image).repository == repository}
    return list(named.values()) if len(named) == 1 else []


def _on_nodes(view: View) -> Iterator[Known]:
    for node in view.snapshot.all("Node"):
        for image in items(node, "status", "images"):
            names = dig(image, "names")
            for name in names if isinstance(names, list) else []:
                if isinstance(name, str) and "@" not in name:
                    yield Known(name, f"Node/{text(node, 'metadata', 'name')} has it")


def _templates(view: View) -> Iterator[Known]:
    """Images that other workloads name, although no pod of theirs runs."""
    for workload in view.workloads:
        for container in workload.containers:
            if not any(state.waiting in _PULL_FAULTS for state in workload.states(container)):
                yield Known(container.image, f"{workload.ref} names it", proven=False)
