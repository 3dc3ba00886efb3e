"""Reads an argv as kubectl does, as far as that is unambiguous; refuses the rest. Pure.

kubectl's own parser accepts far more (flags before the verb that swallow it, clusters of short flags, underscores,
repeats where the last one wins): each of these has served to hide a command, so none is read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sanare.errors import Refused
from sanare.kubectl.flags import ADVICE, ALLOWED, NAMESPACE, Arity, Flag
from sanare.kubectl.tool import Command
from sanare.text import one_line, strip_hidden

_MAX_WORDS = 64
_MAX_WORD = 32768
_LONG = re.compile(r"--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?:=(.*))?\Z", re.S)

# Verbs of two and three words, by their first; the aliases kubectl knows are read as their canonical form.
_NESTED: Mapping[str, Mapping[str, str]] = {
    "rollout": {word: word for word in ("status", "history", "undo", "restart", "pause", "resume")},
    "set": {"image": "image", "env": "env", "resources": "resources", "selector": "selector"},
    "auth": {"can-i": "can-i"},
    "top": {"pod": "pods", "pods": "pods", "po": "pods", "node": "nodes", "nodes": "nodes", "no": "nodes"},
}
_CREATE: Mapping[str, str] = {
    "configmap": "configmap",
    "cm": "configmap",
    "job": "job",
    "ingress": "ingress",
    "ing": "ingress",
    "poddisruptionbudget": "poddisruptionbudget",
    "pdb": "poddisruptionbudget",
    "quota": "quota",
    "resourcequota": "quota",
}
_SERVICE_TYPES = ("clusterip", "nodeport", "loadbalancer")
_SAY_INSTEAD: Mapping[str, str] = {
    "edit": "there is no editor; use kubectl patch, kubectl set or kubectl apply -f - with the manifest on stdin",
    "exec": "nothing runs inside of containers; use kubectl logs and kubectl describe",
    "attach": "nothing runs inside of containers; use kubectl logs",
    "cp": "nothing is copied into or out of containers",
    "debug": "nothing runs inside of containers; use kubectl logs and kubectl describe",
    "port-forward": "no connection is opened; the operator itself checks whether a Service answers",
    "proxy": "no connection is opened",
    "run": "no ad-hoc pods; the operator itself checks whether a Service answers",
    "diff": "use kubectl apply -f - --dry-run=server -o yaml",
}


@dataclass(frozen=True, slots=True)
class Parsed:
    """An argv read: the verb's words, the values of each flag by long name, the rest in order, and stdin.

    `namespace` is None when none was named.
    """

    verb: str
    words: tuple[str, ...] = ()
    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    namespace: str | None = None
    stdin: str = ""

    @property
    def flags(self) -> Mapping[str, str]:
        """The first value of each flag; only flags marked repeatable have more."""
        return {name: values[0] for name, values in self.given.items()}

    def has(self, name: str) -> bool:
        """Whether a switch is on, or a flag with a value was given."""
        return self.flags.get(name, "false") != "false"

    @property
    def dry_run(self) -> str:
        """`server`, `client`, or empty for a command that acts."""
        return "" if self.flags.get("dry-run", "none") == "none" else self.flags["dry-run"]


def parse(command: Command) -> Parsed:
    """Read one kubectl command. Raises Refused with what to write instead."""
    words = list(command.argv[1:] if command.argv[:1] == ("kubectl",) else command.argv)
    _check_words(words)
    namespaces: list[str] = []
    while words and words[0].startswith("-"):
        namespaces.append(_leading_namespace(words))
    verb = _verb(words)
    return _rest(verb, words, namespaces, command.stdin)


def _check_words(words: list[str]) -> None:
    if not words:
        raise Refused("NoCommand", "there is no command; for example: get pods")
    if len(words) > _MAX_WORDS or any(len(word) > _MAX_WORD for word in words):
        raise Refused("TooLong", f"at most {_MAX_WORDS} arguments of {_MAX_WORD} characters")
    for word in words:
        if strip_hidden(word) != word:
            raise Refused("HiddenCharacters", f"control or invisible characters in {one_line(word, 80)!r}")
    if len(words) == 1 and " " in words[0]:
        raise Refused("OneWord", 'give every argument as its own list element: ["get", "pods"]')


def _leading_namespace(words: list[str]) -> str:
    """Only the namespace may stand before the verb: kubectl lets any other flag swallow the verb."""
    word = words.pop(0)
    for prefix in ("--namespace=", "-n="):
        if word.startswith(prefix):
            return word.removeprefix(prefix)
    if word in ("-n", "--namespace"):
        return words.pop(0) if words else ""
    if word.startswith("-n") and len(word) > 2:
        return word[2:]
    raise Refused("FlagBeforeVerb", f"{one_line(word, 60)!r} stands before the verb: write the verb first")


def _verb(words: list[str]) -> str:
    first = words.pop(0) if words else ""
    if first in _NESTED:
        second = words.pop(0) if words else ""
        known = _NESTED[first].get(second)
        if known is None:
            allowed = ", ".join(dict.fromkeys(_NESTED[first].values()))
            raise Refused(
                "Verb", f"kubectl {first} {one_line(second, 40)!r} is not available; use {first} {allowed}"
            )
        return f"{first} {known}"
    if first == "create" and words and not words[0].startswith("-"):
        return _create(words)
    if first not in ALLOWED:
        say = _SAY_INSTEAD.get(
            first, "use get, describe, logs, events, patch, set, scale, rollout, apply or delete"
        )
        raise Refused("Verb", f"kubectl {one_line(first, 40)!r} is not available: {say}")
    return first


def _create(words: list[str]) -> str:
    kind = words.pop(0)
    if kind in ("service", "svc") and words and words[0] in _SERVICE_TYPES:
        return f"create service {words.pop(0)}"
    if kind not in _CREATE:
        raise Refused(
            "Verb",
            f"kubectl create {one_line(kind, 40)!r} is not available: use apply -f - with the manifest on stdin",
        )
    return f"create {_CREATE[kind]}"


def _rest(verb: str, words: list[str], namespaces: list[str], stdin: str) -> Parsed:
    allowed = (*ALLOWED[verb], NAMESPACE)
    by_name, by_short = {f.name: f for f in allowed}, {f.short: f for f in allowed if f.short}
    plain: list[str] = []
    given: dict[str, list[str]] = {}
    while words:
        word = words.pop(0)
        if word == "--":
            raise Refused("DoubleDash", "-- is not used here: no command runs in a container")
        if not word.startswith("-") or word == "-":
            plain.append(word)
            continue
        flag, value = _read_flag(word, words, by_name, by_short)
        values = given.setdefault(flag.name, [])
        if values and not flag.repeatable:
            raise Refused("RepeatedFlag", f"--{flag.name} is given more than once")
        values.append(flag.check(value))
    namespaces += given.pop("namespace", [])
    if len(namespaces) > 1:
        raise Refused("RepeatedFlag", "the namespace is given more than once")
    return Parsed(
        verb=verb,
        words=tuple(plain),
        given={name: tuple(values) for name, values in given.items()},
        namespace=namespaces[0] if namespaces else None,
        stdin=stdin,
    )


def _read_flag(
    word: str, words: list[str], by_name: Mapping[str, Flag], by_short: Mapping[str, Flag]
) -> tuple[Flag, str]:
    if word.startswith("--"):
        match = _LONG.match(word)
        flag = by_name.get(match[1]) if match else None
        if match is None or flag is None:
            raise _unknown(word)
        return flag, _value(flag, match[2], words)
    flag = by_short.get(word[1])
    if flag is None or (flag.arity is Arity.BOOL and len(word) > 2):
        raise _unknown(word)
    glued = word[2:].removeprefix("=") if len(word) > 2 else None
    return flag, _value(flag, glued, words)


def _value(flag: Flag, glued: str | None, words: list[str]) -> str:
    if flag.arity is Arity.BOOL:
        return "true" if glued is None else glued
    if glued is not None:
        return glued
    if flag.arity is Arity.OPTIONAL:
        raise Refused("FlagValue", f"write --{flag.name}=VALUE: without = kubectl takes the next word for a name")
    if not words:
        raise Refused("FlagValue", f"--{flag.name} needs a value")
    if words[0].startswith("-") and words[0] != "-":
        raise Refused(
            "FlagValue", f"write --{flag.name}=VALUE: {one_line(words[0], 40)!r} may be a flag or its value"
        )
    return words.pop(0)


def _unknown(word: str) -> Refused:
    name = word.lstrip("-").partition("=")[0]
    advice = ADVICE.get(name) or ADVICE.get(word[1:2] if not word.startswith("--") else "", "leave it out")
    return Refused("FlagNotAllowed", f"{one_line(word, 60)!r} is not allowed here: {advice}")
