"""What an attempt may name, and how a command's concerns are settled. Pure; the readers of verbs build on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from sanare.errors import Refused
from sanare.kubectl import words
from sanare.kubectl.facts import Rule
from sanare.kubectl.grammar import Parsed
from sanare.kubectl.judge import APPROVAL, Concern, Limits


@dataclass(frozen=True, slots=True)
class Scope:
    """What an attempt may name.

    Attributes:
        namespaces: the namespaces in scope; `default` is used where a command names none.
        operator_namespace: never in scope, whatever `namespaces` holds.
        max_replicas: above it, and at zero, a person must approve.
        registries: where new images may come from; empty leaves another repository to a person.
        kinds: the only kinds that may be written; empty means every kind that is not closed.
        approved: a person approved this very command, or nothing is kept of it (a plan is being recorded).
        gated: a gate judges the effect too, with the live object at hand; the screen then leaves to it what only
            the live object can decide (a command or a reference that is merely corrected).
        timeout: longest wait in seconds that `wait`, `rollout status` and `delete` get.
    """

    namespaces: frozenset[str]
    default: str
    operator_namespace: str = "sanare-system"
    max_replicas: int = 50
    registries: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    approved: bool = False
    gated: bool = False
    timeout: int = 120

    @property
    def limits(self) -> Limits:
        """What judging an object needs of the scope."""
        return Limits(self.max_replicas, self.registries)


@dataclass(frozen=True, slots=True)
class Draft:
    """What a verb's reader makes of a command.

    Attributes:
        words: the positional rest of the argv, in canonical spelling.
        flags: flags set or replaced by the reader; the others are passed on as they were checked.
        concerns: what is to be settled before it may run.
        namespaced: whether `--namespace` belongs in front.
    """

    words: tuple[str, ...] = ()
    flags: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    concerns: tuple[Concern, ...] = ()
    namespaced: bool = True


Reader = Callable[[Parsed, str, Scope], Draft]


def approval(rule: str, message: str) -> Concern:
    """A concern that a person's approval settles."""
    return Concern(rule, message, approval=True)


def settle(concerns: Iterable[Concern], *, approved: bool, left_to_gate: frozenset[Rule] = frozenset()) -> None:
    """Raise Refused for the first concern that stands, those that nobody may approve first."""
    for concern in sorted(concerns, key=lambda one: one.approval):
        if concern.rule in left_to_gate:
            continue
        if not concern.approval:
            raise Refused(concern.rule, concern.message)
        if not approved:
            raise Refused(f"{APPROVAL}.{concern.rule}", f"{concern.message}: a person must approve this")


def refuse_unwritable(kind: str, kinds: tuple[str, ...]) -> None:
    """Raise Refused for a kind that the agent may not write; `kinds` is the policy's list, empty for no limit."""
    closed = words.CLOSED.get(kind) or words.READ_ONLY.get(kind)
    if closed:
        raise Refused("ClosedKind", closed)
    if kind in words.CLUSTER_READS:
        raise Refused("ClusterScope", f"{kind} belongs to the whole cluster and is only read")
    if kinds and kind not in kinds:
        raise Refused("PolicyKinds", f"the policy lets only {', '.join(kinds)} be changed")


def bounded_seconds(value: str | None, most: int) -> str:
    """A wait of at most `most` seconds, in kubectl's spelling."""
    if value is None:
        return f"{most}s"
    total, number = 0, ""
    for character in value:
        if character.isdigit():
            number += character
        else:
            total += int(number) * {"s": 1, "m": 60, "h": 3600}[character]
            number = ""
    return f"{min(total, most)}s"
