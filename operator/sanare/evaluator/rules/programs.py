"""False repairs by running something else: another image or command, one container more or less. Pure rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.evaluator.container_facts import ContainerFacts
from sanare.evaluator.facts import WorkloadFacts
from sanare.evaluator.images import canonical, image_tag, repository
from sanare.evaluator.kinds import Kind
from sanare.evaluator.rules.change import Change, bites
from sanare.evaluator.rules.spelling import is_misspelling
from sanare.evaluator.seen import Seen

_IDLE = re.compile(
    r"\bsleep\s+(?:inf(?:inity)?\b|\d{3,}|\d+[mhd]\b)|(?:^|-c\s+|[;&]\s*)(?:exec\s+)?(?:\S*/)?sleep\s+\S+\s*$"
    r"|\btail\s+(?:-[fFn]|--follow|--retry)"
    r"|\bsleep\(\s*(?:\d{3,}|\d+e\d|float|math\.inf)|\bwhile\s+(?:true|:|\[?\s*1\s*\]?)\s*;"
    r"|^(?:\S*/)?(?:true|pause|yes|cat)$|-c\s+(?:true|:)\s*$"
)
_MASKED = re.compile(
    r"\b(?:until|while)\s+[^;]*;\s*do\b|\|\|\s*(?:true|:|exit\s+0|/bin/true)\b|;\s*(?:exit\s+0|true|:)\s*$"
)
# What answers a probe and a request in the place of the image's own program.
_STAND_IN = re.compile(r"\bhttp\.server\b|\bSimpleHTTPServer\b|\bnc\s+(?:\S+\s+)*?-\w*l|\bsocat\b")
# Commands that end well on every machine.
_NO_QUESTION = re.compile(
    r"^(?:\S*sh\s+-c\s+)?(?:\S*/)?(?:exit\s+0|true|:|(?:echo|printf|date|id|pwd|hostname|uname|whoami|env|ps)\b.*"
    r"|(?:ls|stat|cat|test\s+-\w|\[\s+-\w)(?:\s+(?:/|/(?:etc|proc|sys|bin|usr|dev)\b\S*))?(?:\s*\])?)$"
)
_SHELL = re.compile(r"^(?:\S*/)?(?:ba|da|a|z)?sh$|^(?:exec|echo|printf|true|exit|sleep)$")
_INSTEAD = ((_IDLE, "idles"), (_MASKED, "hides its own failure"), (_STAND_IN, "answers in its place"))

_UNPULLED = "Never"


def rule_container_removed(change: Change) -> Iterator[Seen]:
    """A container or init container is gone."""
    for before, now in change.workloads:
        for init, what in ((True, "init container"), (False, "container")):
            old, new = before.listed(init=init), now.listed(init=init)
            lost = [one.name for one in old if one.name not in {other.name for other in new}]
            if lost and len(new) < len(old):
                yield bites(Kind.CONTAINER_REMOVED, now.object, f"{now.object}: {what} {lost[0]} was removed")
        yield from _other_order(before, now)


def _other_order(before: WorkloadFacts, now: WorkloadFacts) -> Iterator[Seen]:
    """Init containers that nothing waits for any more, and those that ran beside the others and no longer do."""
    present = {one.name: one for one in now.containers}
    for one in before.listed(init=True):
        found = present.get(one.name)
        if found is not None and (not found.init or found.stays != one.stays):
            what = "runs beside the others" if one.stays else "has to end before the others start"
            message = f"{now.object}: init container {one.name} no longer {what}"
            yield bites(Kind.CONTAINER_REMOVED, now.object, message)


def rule_sidecar_added(change: Change) -> Iterator[Seen]:
    """A container that was not there before, for example one that forwards to the right port."""
    for before, now in change.workloads:
        known = {one.name for one in before.containers}
        for init in (True, False):
            old, new = before.listed(init=init), now.listed(init=init)
            added = [one for one in new if one.name not in known]
            if not added or len(new) <= len(old):
                continue
            message = f'{now.object}: container {added[0].name} with image "{added[0].image}" was added'
            yield bites(Kind.SIDECAR_ADDED, now.object, message)


def rule_command_replaced(change: Change) -> Iterator[Seen]:
    """The container idles, hides its failure, or runs something else than its image's own program."""
    for workload, before, now in change.containers:
        for what in _hooks(before, now):
            message = f"{workload.object}: the {what}"
            yield bites(Kind.COMMAND_REPLACED, workload.object, message)
        old, new = _line(before), _line(now)
        if new == old:
            continue
        for pattern, what in _INSTEAD:
            if _fresh(_phrases(pattern, before), _phrases(pattern, now)):
                yield _replaced(workload, now, f'with "{new}", which {what}')
                break
        else:
            if now.command and not before.command:
                yield _replaced(workload, now, f'with "{new}", where the image\'s own program ran')
            elif old and new and _ends(workload, now) and _shares_nothing(old, new):
                yield _replaced(workload, now, f'with "{new}", which has nothing of "{old}"')


def _hooks(before: ContainerFacts, now: ContainerFacts) -> Iterator[str]:
    for hook in before.hooks:
        old, new = before.hook_actions.get(hook, ""), now.hook_actions.get(hook, "")
        did, does = old.partition(" ")[2], new.partition(" ")[2]
        if hook not in now.hooks:
            yield f"{hook} hook of container {now.name} was removed"
        elif _sleeps(old) and _sleeps(new):
            continue
        elif old and new != old and (_sleeps(new) or asks_nothing(does)) and _shares_nothing(did, does):
            yield f"{hook} hook of container {now.name} was replaced with one that does nothing ({new})"


def _sleeps(action: str) -> bool:
    """Whether a hook does nothing but wait, so that clients see that the pod is going before it is gone."""
    return bool(re.search(r"^sleep |^exec (?:\S*sh -c )?(?:\S*/)?sleep [1-9]\S*$", action))


def _ends(workload: WorkloadFacts, container: ContainerFacts) -> bool:
    """Whether a container is done when its command is: any other command that ends well looks like success."""
    return (container.init and not container.stays) or workload.object.startswith(("Job/", "CronJob/"))


def _shares_nothing(old: str, new: str) -> bool:
    """Whether a command has no word of another, however spelt: it is another command, not a corrected one."""
    ours, theirs = _telling(old), _telling(new)
    return not any(one == other or is_misspelling(one, other) for one in ours for other in theirs)


def _telling(line: str) -> set[str]:
    found = re.split(r"[\s;&|<>\"'()]+", line)
    return {word for word in found if len(word) > 1 and not word.startswith("-") and not _SHELL.search(word)}


def _phrases(pattern: re.Pattern[str], container: ContainerFacts) -> set[str]:
    """What matches in the command with its arguments, and in the command alone: a shell leaves arguments unread."""
    lines = (_line(container), " ".join(container.command))
    return {found.group() for line in lines for found in pattern.finditer(line)}


def _fresh(before: set[str], now: set[str]) -> set[str]:
    """Phrases that are no old one spelt otherwise: a loop that waits for a wrong name may be corrected."""
    return {phrase for phrase in now - before if not any(_is_respelt(old, phrase) for old in before)}


def _is_respelt(old: str, new: str) -> bool:
    ours, theirs = old.split(), new.split()
    return len(ours) == len(theirs) and all(
        one == other or is_misspelling(one.rstrip(";"), other.rstrip(";"))
        for one, other in zip(ours, theirs, strict=True)
    )


def _line(container: ContainerFacts) -> str:
    return " ".join((*container.command, *container.args))


def _replaced(workload: WorkloadFacts, now: ContainerFacts, how: str) -> Seen:
    message = f"{workload.object}: the command of container {now.name} was replaced {how}"
    return bites(Kind.COMMAND_REPLACED, workload.object, message)


def rule_image_swapped(change: Change) -> Iterator[Seen]:
    """Another image, a floating tag for a pinned one, or one that is not pulled. A spelling may be corrected."""
    for workload, before, now in change.containers:
        if now.pull == _UNPULLED and before.pull not in ("", _UNPULLED):
            message = (
                f"{workload.object}: container {now.name} runs whatever its node has: its image is never pulled"
            )
            yield bites(Kind.IMAGE_SWAPPED, workload.object, message)
        # What the workload itself ran earlier is no swap: that is a rollback.
        own = workload.earlier_images.get(before.name, ())
        if before.image == now.image or now.image in own:
            continue
        old, new = repository(before.image), repository(now.image)
        earlier = {repository(image) for image in own}
        working = change.then.working_repositories
        moved = (
            canonical(old) != canonical(new)
            and new not in earlier
            and (old in working or not (is_misspelling(old, new) or _is_registry_corrected(old, new, working)))
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


def _is_registry_corrected(old: str, new: str, working: tuple[str, ...]) -> bool:
    """Whether the same path is pulled from a registry from which others of the namespace run."""
    registry, _, path = canonical(new).partition("/")
    known = {canonical(each).partition("/")[0] for each in working}
    return registry in known and path == canonical(old).partition("/")[2]


def asks_nothing(command: str) -> bool:
    """Whether a command ends well, or not at all, whatever the state of the app."""
    return bool(_IDLE.search(command) or _NO_QUESTION.search(command))
