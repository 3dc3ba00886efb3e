"""The argv screen: one kubectl command in, the one that is run out, or a refusal a model can act on. Pure.

It exists for quick, readable refusals and for what never reaches the API (files, URLs, editors, other servers).
Safety does not rest on it: the gate judges every request again by its effect.
"""

from __future__ import annotations

from dataclasses import dataclass

from sanare.errors import Refused
from sanare.kubectl import reads, words, writes
from sanare.kubectl.grammar import Parsed, parse
from sanare.kubectl.judge import NEEDS_LIVE
from sanare.kubectl.scope import Draft, Scope, settle
from sanare.kubectl.tool import Command

_READERS = {**reads.READERS, **writes.READERS}


@dataclass(frozen=True, slots=True)
class Rendered:
    """The command that is run: canonical argv without the word kubectl, canonical stdin.

    Attributes:
        verb: the verb's words (`get`, `rollout undo`).
        writes: whether it is meant to change something.
    """

    argv: tuple[str, ...]
    stdin: str
    verb: str
    namespace: str
    writes: bool

    @property
    def command(self) -> Command:
        """The same, for screening again: a rendered command renders to itself."""
        return Command(self.argv, self.stdin)


def screen(command: Command, scope: Scope) -> Rendered:
    """Read, judge and re-render one command. Raises Refused; its rule starts with NeedsApproval for a person's."""
    parsed = parse(command)
    namespace = _namespace(parsed, scope)
    if command.stdin and parsed.flags.get("filename") != "-":
        raise Refused("Stdin", "this command reads nothing from stdin; leave stdin empty")
    draft = _READERS[parsed.verb](parsed, namespace, scope)
    # A dry run changes nothing, so nobody needs to approve it.
    approved = scope.approved or bool(parsed.dry_run)
    settle(draft.concerns, approved=approved, left_to_gate=NEEDS_LIVE if scope.gated else frozenset())
    acts = parsed.verb in writes.READERS and not parsed.has("list") and not parsed.dry_run
    return Rendered(_argv(parsed, draft, namespace), draft.stdin, parsed.verb, namespace, acts)


def _namespace(parsed: Parsed, scope: Scope) -> str:
    chosen = scope.default if parsed.namespace is None else words.namespace(parsed.namespace)
    if chosen == scope.operator_namespace or chosen not in scope.namespaces:
        allowed = ", ".join(sorted(scope.namespaces - {scope.operator_namespace}))
        raise Refused("Namespace", f"namespace {chosen!r} is out of scope; use {allowed}")
    return chosen


def _argv(parsed: Parsed, draft: Draft, namespace: str) -> tuple[str, ...]:
    given = {name: values for name, values in parsed.given.items() if name not in draft.flags}
    flags = [(name, value) for name, value in draft.flags.items()]
    flags += [(name, value) for name, values in given.items() for value in values]
    flags.sort(key=lambda flag: flag[0])
    head = (f"--namespace={namespace}",) if draft.namespaced else ()
    return (*head, *parsed.verb.split(), *(f"--{name}={value}" for name, value in flags), *draft.words)
