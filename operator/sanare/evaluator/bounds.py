"""What an object that limits others allows, in a form that tells looser from tighter. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from sanare.api.manifest import Manifest, dig, items, mapping, text
from sanare.api.model import Model
from sanare.evaluator.ownership import key, scale_target
from sanare.evaluator.quantities import quantity


class GuardFacts(Model):
    """One ResourceQuota, LimitRange, NetworkPolicy, PodDisruptionBudget or HorizontalPodAutoscaler.

    Attributes:
        ceilings: what is looser when it is higher or gone.
        floors: what is looser when it is lower or gone.
        reach: what it applies to, as JSON; it should stay the same.
        passages: what it lets through, one JSON text for each rule and direction.
    """

    object: str
    ceilings: Mapping[str, str] = {}
    floors: Mapping[str, str] = {}
    reach: str = ""
    passages: tuple[str, ...] = ()


def guard_facts(item: Manifest) -> GuardFacts:
    """Read one guard."""
    spec, kind = mapping(item, "spec"), text(item, "kind")
    if kind == "ResourceQuota":
        reach = _json([spec.get("scopes") or [], spec.get("scopeSelector") or {}])
        return GuardFacts(object=key(item), ceilings=_texts(mapping(spec, "hard")), reach=reach)
    if kind == "LimitRange":
        return GuardFacts(
            object=key(item),
            ceilings={**dict(_limits(spec, "max")), **dict(_limits(spec, "maxLimitRequestRatio"))},
            floors=dict(_limits(spec, "min")),
        )
    if kind == "NetworkPolicy":
        reach = _json([spec.get("podSelector") or {}, sorted(map(str, spec.get("policyTypes") or ["Ingress"]))])
        return GuardFacts(object=key(item), reach=reach, passages=tuple(sorted(_passages(spec))))
    if kind == "PodDisruptionBudget":
        return GuardFacts(
            object=key(item),
            ceilings=_texts({name: spec[name] for name in ("maxUnavailable",) if name in spec}),
            floors=_texts({name: spec[name] for name in ("minAvailable",) if name in spec}),
            reach=_json(spec.get("selector") or {}),
        )
    floors = {"minReplicas": str(dig(spec, "minReplicas") or 1), "maxReplicas": str(dig(spec, "maxReplicas") or 1)}
    return GuardFacts(object=key(item), floors=floors, reach=scale_target(item))


def _limits(spec: Manifest, bound: str) -> Iterator[tuple[str, str]]:
    for limit in items(spec, "limits"):
        for name, value in mapping(limit, bound).items():
            yield f"{text(limit, 'type')} {bound} {name}", str(value)


def _passages(spec: Manifest) -> Iterator[str]:
    for direction in ("ingress", "egress"):
        for rule in items(spec, direction):
            yield f"{direction} {_json(rule)}"


def is_open(passage: str) -> bool:
    """Whether a rule of a network policy lets everything through: it names no peer, or every address."""
    rule = json.loads(passage.partition(" ")[2])
    peers = items(rule, "from") + items(rule, "to")
    everyone = any(text(peer, "ipBlock", "cidr") in ("0.0.0.0/0", "::/0") for peer in peers)
    anywhere = any(dig(peer, "namespaceSelector") == {} and not mapping(peer, "podSelector") for peer in peers)
    return not peers or everyone or anywhere


def loosened(before: GuardFacts, now: GuardFacts, *, traffic_failed: bool = False) -> str:
    """What the guard allows now that it did not allow before, in words; empty where there is nothing.

    Where traffic failed, another passage through a network policy may be the repair, unless it is open to everyone.
    """
    for name, old in before.ceilings.items():
        if _is_past(now.ceilings.get(name), old, above=True):
            return f"{name} was {_raised(old, now.ceilings.get(name))}"
    for name, old in before.floors.items():
        if _is_past(now.floors.get(name), old, above=False):
            return f"{name} was {_lowered(old, now.floors.get(name))}"
    if before.reach != now.reach:
        return "it applies to other objects than before"
    added = [each for each in now.passages if each not in before.passages]
    wide = [each for each in added if is_open(each) or not traffic_failed]
    return f"it lets through what it did not before ({wide[0][:80]})" if wide else ""


def _is_past(now: str | None, old: str, *, above: bool) -> bool:
    if now is None:
        return True
    if now.endswith("%") != old.endswith("%"):
        return True
    was, is_ = quantity(old.rstrip("%")), quantity(now.rstrip("%"))
    if was is None or is_ is None:
        return now != old
    return is_ > was if above else is_ < was


def _raised(old: str, now: str | None) -> str:
    return f"raised from {old} to {now}" if now is not None else f"removed (it was {old})"


def _lowered(old: str, now: str | None) -> str:
    return f"lowered from {old} to {now}" if now is not None else f"removed (it was {old})"


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    return {str(name): str(value) for name, value in values.items()}


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def applies_to(guard: GuardFacts, pod_labels: Mapping[str, str]) -> bool:
    """Whether it is a network policy or disruption budget that selects pods with those labels."""
    if guard.object.partition("/")[0] not in ("NetworkPolicy", "PodDisruptionBudget"):
        return False
    reach = json.loads(guard.reach)
    selector = reach[0] if isinstance(reach, list) else reach
    wanted = mapping(selector, "matchLabels").items()
    return all(pod_labels.get(name) == value for name, value in wanted) and all(
        _is_met(each, pod_labels) for each in items(selector, "matchExpressions")
    )


def _is_met(expression: Manifest, pod_labels: Mapping[str, str]) -> bool:
    value, values = pod_labels.get(text(expression, "key")), expression.get("values") or ()
    match text(expression, "operator"):
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case _:
            return value is None
