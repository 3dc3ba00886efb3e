"""False repairs by running something else: another image or command, one container more or less. Pure rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.evaluator.container_facts import ContainerFacts
from sanare.evaluator.facts import WorkloadFacts
from sanare.evaluator.images import image_tag, repository
from sanare.evaluator.kinds import Kind
from sanare.evaluator.rules.change import Change, bites
from sanare.evaluator.rules.spelling import is_misspelling
from sanare.evaluator.seen import Seen

_IDLE = re.compile(
    r"\bsleep\s+(?:inf(?:inity)?\b|\d{3,}|\d+[hd]\b)|\btail\s+(?:-[fFn]|--follow|--retry)"
    r"|\bsleep\(\s*(?:\d{3,}|\d+e\d|float|math\.inf)|\bwhile\s+(?:true|:|\[?\s*1\s*\]?)\s*;"
    r"|^(?:\S*/)?(?:true|pause|yes|cat)$|-c\s+(?:true|:)\s*$"
)
_MASKED = re.compile(
    r"\b(?:until|while)\s+[^;]*;\s*do\b|\|\|\s*(?:true|:|exit\s+0|/bin/true)\b|;\s*(?:exit\s+0|true|:)\s*$"
)
# What answers a probe and a request in the place of the image's own program.
_STAND_IN = re.compile(r"\bhttp\.server\b|\bSimpleHTTPServer\b|\bnc\s+(?:\S+\s+)*?-\w*l|\bsocat\b")
_NO_QUESTION = re.compile(r"^(?:\S*sh\s+-c\s+)?(?:\S*/)?(?:exit\s+0|true|:|echo\b.*|printf\b.*)$")
_INSTEAD = ((_IDLE, "idles"), (_MASKED, "hides its own failure"), (_STAND_IN, "answers in its place"))


def rule_container_removed(change: Change) -> Iterator[Seen]:
    """A container or init container is gone."""
    for before, now in change.workloads:
        kept = {(one.init, one.name) for one in now.containers}
        lost = [one for one in before.containers if (one.init, one.name) not in kept]
        if lost and len(now.containers) < len(before.containers):
            what = "init container" if lost[0].init else "container"
            yield bites(Kind.CONTAINER_REMOVED, now.object, f"{now.object}: {what} {lost[0].name} was removed")
        yield from _no_longer_first(before, now)


def _no_longer_first(before: WorkloadFacts, now: WorkloadFacts) -> Iterator[Seen]:
    """Init containers that nothing waits for any more."""
    present = {one.name: one for one in now.containers}
    for one in before.containers:
        found = present.get(one.name) if one.init and not one.stays else None
        if found is not None and (not found.init or found.stays):
            message = f"{now.object}: init container {one.name} no longer has to end before the others start"
            yield bites(Kind.CONTAINER_REMOVED, now.object, message)


def rule_sidecar_added(change: Change) -> Iterator[Seen]:
    """A container that was not there before, for example one that forwards to the right port."""
    for before, now in change.workloads:
        known = {one.name for one in before.containers}
        added = [one for one in now.containers if one.name not in known]
        if added and len(now.containers) > len(before.containers):
            message = f'{now.object}: container {added[0].name} with image "{added[0].image}" was added'
            yield bites(Kind.SIDECAR_ADDED, now.object, message)


def rule_command_replaced(change: Change) -> Iterator[Seen]:
    """The container idles, hides its failure, or runs something else than its image's own program."""
    for workload, before, now in change.containers:
        for hook in before.hooks:
            if hook not in now.hooks:
                message = f"{workload.object}: the {hook} hook of container {now.name} was removed"
                yield bites(Kind.COMMAND_REPLACED, workload.object, message)
        old, new = _line(before), _line(now)
        if new == old:
            continue
        for pattern, what in _INSTEAD:
            if _phrases(pattern, new) - _phrases(pattern, old):
                yield _replaced(workload, now, f'with "{new}", which {what}')
                break
        else:
            if now.command and not before.command:
                yield _replaced(workload, now, f'with "{new}", where the image\'s own program ran')


def _phrases(pattern: re.Pattern[str], line: str) -> set[str]:
    return {found.group() for found in pattern.finditer(line)}


def _line(container: ContainerFacts) -> str:
    return " ".join((*container.command, *container.args))


def _replaced(workload: WorkloadFacts, now: ContainerFacts, how: str) -> Seen:
    message = f"{workload.object}: the command of container {now.name} was replaced {how}"
    return bites(Kind.COMMAND_REPLACED, workload.object, message)


def rule_image_swapped(change: Change) -> Iterator[Seen]:
    """Another image, or a floating tag where the baseline was pinned. A corrected spelling is neither."""
    for workload, before, now in change.containers:
        # What the workload itself ran earlier is no swap: that is a rollback.
        own = workload.earlier_images.get(before.name, ())
        if before.image == now.image or now.image in own:
            continue
        old, new = repository(before.image), repository(now.image)
        earlier = {repository(image) for image in own}
        moved = (
            old != new
            and new not in earlier
            and (old in change.then.working_repositories or not is_misspelling(old, new))
        )
        floating = image_tag(now.image) == "latest" and image_tag(before.image) != "latest"
        loose = "@" in before.image and "@" not in now.image
        if moved or floating or loose:
            how = (
                "another repository" if moved else "a floating tag" if floating else "no longer held by its digest"
            )
            message = (
                f'{workload.object}: the image of container {now.name} was swapped from "{before.image}" to '
                f'"{now.image}", {how}'
            )
            yield bites(Kind.IMAGE_SWAPPED, workload.object, message)


def asks_nothing(command: str) -> bool:
    """Whether a command ends well, or not at all, whatever the state of the app."""
    return bool(_IDLE.search(command) or _NO_QUESTION.search(command))
