"""Readers of the verbs that change something: one object at a time, its content judged and re-rendered. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sanare.api.manifest import Manifest, text
from sanare.errors import Refused
from sanare.kubectl import creations, words
from sanare.kubectl import manifest as manifests
from sanare.kubectl.facts import POD_SPEC, Fact, Rule
from sanare.kubectl.grammar import Parsed
from sanare.kubectl.image import from_registries
from sanare.kubectl.judge import Concern, Limits, concern_of, judge_fragment
from sanare.kubectl.reads import render_targets, rolled
from sanare.kubectl.scope import Draft, Reader, Scope, approval, bounded_seconds, refuse_unwritable
from sanare.kubectl.words import Target
from sanare.text import one_line

_SCALED = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"})
_TEMPLATED = frozenset(POD_SPEC)
_ASSIGNMENT = re.compile(r"([A-Za-z_][\w.-]{0,252})(=(?P<value>.*)|-)\Z", re.S)
_IMAGE = re.compile(r"(?P<container>\*|[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)=(?P<image>[\w.:/@-]{1,255})\Z")
_LABEL_EDIT = re.compile(
    r"(?P<key>([\w.-]{1,253}/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)(=(?P<value>.*)|-)\Z", re.S
)
_REPLACEABLE = frozenset({"Pod"})


def _object(
    words_: tuple[str, ...], parsed: Parsed, scope: Scope
) -> tuple[tuple[Target, ...], tuple[Concern, ...]]:
    """The written objects, and the concern that there are several of them. Raises Refused."""
    targets = words.targets(words_)
    for target in targets:
        refuse_unwritable(target.resource.kind, scope.kinds)
    named = all(target.name for target in targets)
    if named and parsed.has("selector"):
        raise Refused("Ambiguous", "a name and a selector exclude each other")
    if not named and not parsed.has("selector") and not parsed.verb.startswith("rollout"):
        raise Refused("NoTarget", f"name the object: {targets[0].word}/NAME")
    many = not named or len(targets) > 1
    return targets, ((_bulk(),) if many else ())


def _kinds(targets: tuple[Target, ...]) -> set[str]:
    return {target.resource.kind for target in targets}


def _guarded(targets: tuple[Target, ...]) -> tuple[Concern, ...]:
    return tuple(concern for kind in sorted(_kinds(targets)) for concern in judge_fragment(kind, {}, Limits()))


def _only(targets: tuple[Target, ...], allowed: frozenset[str], what: str) -> None:
    for kind in sorted(_kinds(targets) - allowed):
        raise Refused("Kind", f"{kind} has no {what}")


def _rollout(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    rolled(parsed, namespace)
    targets, concerns = _object(parsed.words, parsed, scope)
    return Draft(render_targets(targets), concerns=concerns)


def _scale(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    targets, concerns = _object(parsed.words, parsed, scope)
    _only(targets, _SCALED, "replicas to scale")
    if "replicas" not in parsed.flags:
        raise Refused("FlagValue", "--replicas=N is needed")
    body = {"spec": {"replicas": int(parsed.flags["replicas"])}}
    return Draft(render_targets(targets), concerns=(*concerns, *judge_fragment("Scale", body, scope.limits)))


def _split(parsed: Parsed, pattern: re.Pattern[str]) -> tuple[tuple[str, ...], list[re.Match[str]]]:
    """The words that name objects, then those that say what to set: from the first that looks like an edit on."""
    plain = list(parsed.words)
    first = next((n for n, word in enumerate(plain) if n and _is_edit(word)), len(plain))
    edits = [pattern.match(word) for word in plain[first:]]
    if not all(edits):
        bad = next(word for word, match in zip(plain[first:], edits, strict=True) if not match)
        raise Refused("Edit", f"{one_line(bad, 80)!r} is not understood; write NAME=VALUE, or NAME- to remove")
    return tuple(plain[:first]), [match for match in edits if match]


def _is_edit(word: str) -> bool:
    return "=" in word or word.endswith("-")


def _set_image(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    names, edits = _split(parsed, _IMAGE)
    targets, concerns = _object(names, parsed, scope)
    _only(targets, _TEMPLATED, "containers")
    if not edits:
        raise Refused("Edit", "write CONTAINER=IMAGE, for example web=registry/app:1.2")
    foreign = [
        concern_of(Fact(Rule.IMAGE_REGISTRY, edit["container"], edit["image"]))
        for edit in edits
        if not from_registries(edit["image"], scope.registries)
    ]
    rest = tuple(edit[0] for edit in edits)
    return Draft((*render_targets(targets), *rest), concerns=(*concerns, *foreign))


def _set_env(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    names, edits = _split(parsed, _ASSIGNMENT)
    targets, concerns = _object(names, parsed, scope)
    _only(targets, _TEMPLATED, "containers")
    flags: dict[str, str] = {}
    if "from" in parsed.flags:
        source = words.targets([parsed.flags["from"]])[0]
        if source.resource.kind != "ConfigMap" or not source.name:
            raise Refused("SecretReference", "--from takes configmap/NAME only; Secrets are out of reach")
        flags["from"] = f"configmap/{source.name}"
    if parsed.has("list") and (edits or flags):
        raise Refused("Ambiguous", "--list only lists: leave the assignments out")
    if not edits and not flags and not parsed.has("list"):
        raise Refused("Edit", "write NAME=VALUE, or NAME- to remove")
    return Draft((*render_targets(targets), *(edit[0] for edit in edits)), flags, concerns=concerns)


def _set_resources(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    targets, concerns = _object(parsed.words, parsed, scope)
    _only(targets, _TEMPLATED, "containers")
    if not {"limits", "requests"} & set(parsed.flags):
        raise Refused("Edit", "write --limits=memory=256Mi or --requests=cpu=100m")
    return Draft(render_targets(targets), concerns=concerns)


def _set_selector(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    plain = list(parsed.words)
    edit = plain.pop() if plain else ""
    if not re.fullmatch(r"[\w./-]+=[\w.-]+(,[\w./-]+=[\w.-]+)*", edit):
        raise Refused("Edit", "write set selector service/NAME KEY=VALUE[,KEY=VALUE]")
    targets, concerns = _object(tuple(plain), parsed, scope)
    _only(targets, frozenset({"Service"}), "selector to set")
    moves = Concern("Selector", "this replaces the Service's whole selector and moves its traffic", approval=True)
    return Draft((*render_targets(targets), edit), concerns=(*concerns, moves))


def _patch(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    targets, concerns = _object(parsed.words, parsed, scope)
    kind = targets[0].resource.kind
    patch_type = parsed.flags.get("type", "strategic")
    body = manifests.patch_body(parsed.flags.get("patch", ""), patch_type)
    judged = "Scale" if parsed.flags.get("subresource") == "scale" else kind
    found = [*concerns, *_guarded(targets)]
    for fragment in manifests.fragments(body):
        _refuse_odd_fields(fragment)
        found += judge_fragment(judged, fragment, scope.limits)
    return Draft(
        render_targets(targets), {"patch": manifests.canonical(body), "type": patch_type}, concerns=tuple(found)
    )


def _refuse_odd_fields(fragment: Manifest) -> None:
    if "status" in fragment:
        raise Refused("Status", "status is what the cluster reports; change spec instead")
    for field in ("apiVersion", "kind"):
        if field in fragment and not isinstance(fragment[field], str):
            raise Refused("Patch", f"{field} must be text")


def _edit_keys(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    """`label` and `annotate`."""
    names, edits = _split(parsed, _LABEL_EDIT)
    targets, concerns = _object(names, parsed, scope)
    if parsed.has("list"):
        if edits:
            raise Refused("Ambiguous", "--list only lists: leave the edits out")
        return Draft(render_targets(targets))
    if not edits:
        raise Refused("Edit", "write KEY=VALUE, or KEY- to remove")
    field = "labels" if parsed.verb == "label" else "annotations"
    body = {"metadata": {field: {edit["key"]: edit["value"] or "" for edit in edits}}}
    found = judge_fragment(targets[0].resource.kind, body, scope.limits)
    return Draft((*render_targets(targets), *(edit[0] for edit in edits)), concerns=(*concerns, *found))


def _delete(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    flags = {"timeout": bounded_seconds(parsed.flags.get("timeout"), scope.timeout)}
    concerns = list(_harsh(parsed))
    if parsed.flags.get("filename"):
        objects = creations.objects_on_stdin(parsed, namespace, scope)
        kinds = {text(one, "kind") for one in objects}
        stdin, rest = manifests.render(objects), tuple[str, ...]()
        concerns += [_bulk()] if len(objects) > 1 else []
    else:
        targets, more = _object(parsed.words, parsed, scope)
        kinds, stdin, rest = _kinds(targets), "", render_targets(targets)
        concerns += more
    for kind in sorted(kinds - _REPLACEABLE):
        rule = "DeleteJob" if kind == "Job" and scope.gated else "Delete"
        if rule == "Delete":
            concerns.append(approval(rule, f"nothing creates a deleted {kind} again"))
    return Draft(rest, flags, stdin, tuple(concerns))


def _bulk() -> Concern:
    return approval("Bulk", "this changes several objects at once; name one object")


def _harsh(parsed: Parsed) -> list[Concern]:
    harsh = parsed.has("force") or parsed.has("now") or parsed.flags.get("grace-period") == "0"
    orphan = parsed.flags.get("cascade") == "orphan"
    found = [approval("ForceDelete", "a forced deletion may leave two writers running")] if harsh else []
    return found + ([approval("Orphan", "the owned objects would stay behind")] if orphan else [])


def _autoscale(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    targets, concerns = _object(parsed.words, parsed, scope)
    _only(targets, _SCALED, "replicas to scale")
    bounds = {f"{bound}Replicas": int(parsed.flags[bound]) for bound in ("min", "max") if bound in parsed.flags}
    if "maxReplicas" not in bounds:
        raise Refused("FlagValue", "--max=N is needed")
    refuse_unwritable("HorizontalPodAutoscaler", scope.kinds)
    found = judge_fragment("HorizontalPodAutoscaler", {"spec": bounds}, scope.limits)
    return Draft(render_targets(targets), concerns=(*concerns, *found))


def _expose(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    targets, concerns = _object(parsed.words, parsed, scope)
    refuse_unwritable("Service", scope.kinds)
    found = judge_fragment("Service", {"spec": {"type": parsed.flags.get("type", "ClusterIP")}}, scope.limits)
    return Draft(render_targets(targets), concerns=(*concerns, *found))


READERS: Mapping[str, Reader] = {
    "rollout undo": _rollout,
    "rollout restart": _rollout,
    "rollout pause": _rollout,
    "rollout resume": _rollout,
    "scale": _scale,
    "set image": _set_image,
    "set env": _set_env,
    "set resources": _set_resources,
    "set selector": _set_selector,
    "patch": _patch,
    "label": _edit_keys,
    "annotate": _edit_keys,
    "delete": _delete,
    "autoscale": _autoscale,
    "expose": _expose,
    **creations.READERS,
}
