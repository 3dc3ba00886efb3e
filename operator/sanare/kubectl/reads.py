"""Readers of the verbs that change nothing: what they may look at, and the bounds they get. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sanare.errors import Refused
from sanare.kubectl import words
from sanare.kubectl.grammar import Parsed
from sanare.kubectl.scope import Draft, Reader, Scope, bounded_seconds
from sanare.kubectl.words import Target
from sanare.text import one_line

_LOG_LINES = 2000
_LOG_BYTES = 1_000_000
_LOGGED = frozenset(
    {"Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController", "Service"}
)
_ROLLED = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
_CONDITION = re.compile(r"condition=[A-Za-z][\w./-]{0,62}(=(True|False|Unknown|true|false|unknown))?\Z")
_JSON_CONDITION = re.compile(r"jsonpath='?\{[\w.\[\]@?()=\"'*/ :-]{1,200}\}'?(=[\w./: -]{0,100})?\Z")
_SCHEMA_PATH = re.compile(r"[A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*)*\Z")


def refuse_unreadable(target: Target, namespace: str) -> None:
    """Raise Refused for what the agent may not look at."""
    words.refuse_closed(target)
    if target.resource.kind == "Namespace" and target.name != namespace:
        raise Refused(
            "ClusterScope", f"of the namespaces only {namespace} itself is shown: get namespace {namespace}"
        )


def _targets(parsed: Parsed, namespace: str) -> tuple[Target, ...]:
    found = words.targets(parsed.words)
    for target in found:
        refuse_unreadable(target, namespace)
    return found


def render_targets(targets: tuple[Target, ...]) -> tuple[str, ...]:
    """Targets as kubectl reads them: TYPE/NAME each, or one comma list of types."""
    if all(target.name for target in targets):
        return tuple(str(target) for target in targets)
    return (",".join(dict.fromkeys(target.word for target in targets)),)


def _get(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    targets = _targets(parsed, namespace)
    if any(target.name for target in targets) and parsed.has("selector"):
        raise Refused("Ambiguous", "a name and a selector exclude each other")
    return Draft(render_targets(targets))


def _describe(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    targets = _targets(parsed, namespace)
    for target in targets:
        if target.resource.kind in ("Node", "Namespace", "ServiceAccount", "PersistentVolume"):
            raise Refused("Describe", f"describe {target.word} reads beyond its object; use get {target} -o yaml")
    return Draft(render_targets(targets))


def _logs(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    flags = {
        "tail": str(min(int(parsed.flags.get("tail", "200")), _LOG_LINES)),
        "limit-bytes": str(min(int(parsed.flags.get("limit-bytes", "0")) or 200_000, _LOG_BYTES)),
    }
    plain = list(parsed.words)
    if parsed.has("selector"):
        if plain:
            raise Refused("Ambiguous", "a name and a selector exclude each other")
        return Draft((), flags)
    if len(plain) == 2 and "container" not in parsed.flags:
        container = words.name(plain.pop(), "container name")
        flags["container"] = container
    if len(plain) != 1:
        raise Refused("NoTarget", "name one pod or workload: logs web-1, or logs deployment/web -c web")
    target = words.targets(plain)[0] if "/" in plain[0] else Target(words.resolve("pods"), words.name(plain[0]))
    if target.resource.kind not in _LOGGED:
        raise Refused("Kind", f"{target.word} have no logs")
    return Draft((str(target),), flags)


def _events(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    _no_words(parsed)
    if "for" not in parsed.flags:
        return Draft()
    found = words.targets([parsed.flags["for"]])
    if len(found) != 1 or not found[0].name:
        raise Refused("NoTarget", "write --for=TYPE/NAME")
    refuse_unreadable(found[0], namespace)
    return Draft((), {"for": str(found[0])})


def _top(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    if len(parsed.words) > 1:
        raise Refused("Ambiguous", "name at most one object")
    return Draft(tuple(words.name(word) for word in parsed.words), namespaced=parsed.verb == "top pods")


def _explain(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    if len(parsed.words) != 1 or not _SCHEMA_PATH.match(parsed.words[0]):
        raise Refused("NoTarget", "name one kind or field: explain deployment.spec.strategy")
    kind, _, path = parsed.words[0].partition(".")
    plural = words.resolve(kind).plural
    return Draft((f"{plural}.{path}" if path else plural,), namespaced=False)


def _bare(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    _no_words(parsed)
    return Draft(namespaced=False)


def _no_words(parsed: Parsed) -> None:
    if parsed.words:
        raise Refused("Ambiguous", f"{one_line(parsed.words[0], 60)!r} is not expected here")


def _can_i(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    if parsed.has("list"):
        _no_words(parsed)
        return Draft()
    if len(parsed.words) != 2 or not re.fullmatch(r"[a-z*]{1,20}", parsed.words[0]):
        raise Refused("NoTarget", "write auth can-i VERB RESOURCE, for example auth can-i patch deployments")
    kind, slash, one = parsed.words[1].partition("/")
    word = Target(words.resolve(kind), words.name(one) if slash else "")
    return Draft((parsed.words[0], str(word)))


def _wait(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    targets = _targets(parsed, namespace)
    wanted = parsed.flags.get("for", "")
    if not (wanted in ("delete", "create") or _CONDITION.match(wanted) or _JSON_CONDITION.match(wanted)):
        raise Refused(
            "FlagValue", "write --for=condition=Ready, --for=delete or --for=jsonpath='{.status.phase}'=Running"
        )
    if not all(target.name for target in targets) and not parsed.has("selector"):
        raise Refused("NoTarget", "name an object or give a selector")
    return Draft(render_targets(targets), {"timeout": bounded_seconds(parsed.flags.get("timeout"), scope.timeout)})


def rolled(parsed: Parsed, namespace: str) -> tuple[Target, ...]:
    """The workloads a rollout command is about. Raises Refused."""
    targets = _targets(parsed, namespace)
    for target in targets:
        if target.resource.kind not in _ROLLED:
            raise Refused("Kind", f"{target.word} have no rollout; use a deployment, statefulset or daemonset")
    return targets


def _rollout_status(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    targets = rolled(parsed, namespace)
    return Draft(render_targets(targets), {"timeout": bounded_seconds(parsed.flags.get("timeout"), scope.timeout)})


def _rollout_history(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    return Draft(render_targets(rolled(parsed, namespace)))


READERS: Mapping[str, Reader] = {
    "get": _get,
    "describe": _describe,
    "logs": _logs,
    "events": _events,
    "top pods": _top,
    "top nodes": _top,
    "explain": _explain,
    "version": _bare,
    "api-resources": _bare,
    "auth can-i": _can_i,
    "wait": _wait,
    "rollout status": _rollout_status,
    "rollout history": _rollout_history,
}
