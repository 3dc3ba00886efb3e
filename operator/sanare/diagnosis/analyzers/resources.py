"""Requests that no node can serve, and limits that the namespace does not allow."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.api.manifest import mapping, text
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.patch import Change, patch
from sanare.diagnosis.view import View
from sanare.diagnosis.workload import Container, Workload
from sanare.evaluator.quantities import quantity

_SHORT = re.compile(r"\bInsufficient (cpu|memory)\b")
_ABOVE = re.compile(r"\bmaximum (cpu|memory) usage per Container is ([\w.]+), but limit is (\w[\w.]*\w|\w)")
_AMOUNT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)([A-Za-z]{0,2})(?![\w.])")


def oversized_requests(view: View) -> Iterator[Finding]:
    """Requests with a slip in the unit, while the scheduler finds no node with so much."""
    for workload in view.troubled:
        for resource in sorted(set(_SHORT.findall(view.complaints(workload)))):
            for container in workload.containers:
                asked = text(container.spec, "resources", "requests", resource)
                if asked:
                    yield _of_request(view, workload, container, resource, asked)


def _of_request(view: View, workload: Workload, container: Container, resource: str, asked: str) -> Finding:
    known = {
        value: words
        for value, words in _amounts(view, workload, container, resource)
        if _is_slip_of(asked, value) and (quantity(value) or 0) < (quantity(asked) or 0)
    }
    pointer = workload.pointer(container, "resources", "requests", resource)
    return Finding(
        kind="RequestTooLarge",
        ref=workload.ref,
        field=workload.field(container, f"resources.requests.{resource}"),
        observed=asked,
        expected=f"as much {resource} as a node can give",
        confidence=Confidence.HIGH,
        candidates=tuple(
            Candidate(value, words, (patch(workload.ref, Change(pointer, asked, value)),))
            for value, words in known.items()
        ),
        missing=""
        if len(known) == 1
        else f"no neighbour or annotation has the {resource} of {asked} in another unit",
    )


def _amounts(view: View, workload: Workload, container: Container, resource: str) -> Iterator[tuple[str, str]]:
    for other, neighbour in view.neighbours(workload, container):
        value = text(neighbour.spec, "resources", "requests", resource)
        if value and other.is_proven:
            yield value, f"{other.ref} runs the same image with it"
    for key, words in mapping(workload.manifest, "metadata", "annotations").items():
        if not key.startswith("kubectl.kubernetes.io/"):
            yield from ((match[0], f"annotation {key} says so") for match in _AMOUNT.finditer(str(words)))


def _is_slip_of(asked: str, value: str) -> bool:
    """Whether two amounts have the same figure and another unit: `20` and `20m`, `64Gi` and `64Mi`."""
    one, other = _AMOUNT.fullmatch(asked), _AMOUNT.fullmatch(value)
    return one is not None and other is not None and one[1] == other[1] and one[2] != other[2]


def limits_above_range(view: View) -> Iterator[Finding]:
    """Limits for which a LimitRange refuses the pod; its own words say what it allows."""
    for workload in view.troubled:
        for resource, most, refused in dict.fromkeys(_ABOVE.findall(view.complaints(workload))):
            for container in workload.containers:
                limit = text(container.spec, "resources", "limits", resource)
                if limit and quantity(limit) == quantity(refused):
                    yield _of_limit(workload, container, resource, limit, most)


def _of_limit(workload: Workload, container: Container, resource: str, limit: str, most: str) -> Finding:
    request = text(container.spec, "resources", "requests", resource)
    fits = (quantity(request) or 0) <= (quantity(most) or 0)
    change = Change(workload.pointer(container, "resources", "limits", resource), limit, most)
    candidate = Candidate(
        most, "the LimitRange that refuses the pod allows as much", (patch(workload.ref, change),)
    )
    return Finding(
        kind="LimitAboveRange",
        ref=workload.ref,
        field=workload.field(container, f"resources.limits.{resource}"),
        observed=limit,
        expected=f"at most {most}",
        confidence=Confidence.HIGH,
        candidates=(candidate,) if fits else (),
        missing="" if fits else f"the request of {request} is above {most} as well",
    )
