"""Readers of the verbs that bring whole objects: each on stdin or by name, of a kind that may be written. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sanare.api.manifest import text
from sanare.errors import Refused
from sanare.kube.resources import BY_KIND
from sanare.kubectl import manifest as manifests
from sanare.kubectl import words
from sanare.kubectl.facts import Rule
from sanare.kubectl.grammar import Parsed
from sanare.kubectl.judge import judge_fragment
from sanare.kubectl.scope import Draft, Reader, Scope, approval, refuse_unwritable
from sanare.text import one_line

_CREATED: Mapping[str, str] = {
    "create configmap": "ConfigMap",
    "create job": "Job",
    "create service clusterip": "Service",
    "create service nodeport": "Service",
    "create service loadbalancer": "Service",
    "create ingress": "Ingress",
    "create poddisruptionbudget": "PodDisruptionBudget",
    "create quota": "ResourceQuota",
}


def objects_on_stdin(parsed: Parsed, namespace: str, scope: Scope) -> list[dict[str, Any]]:
    """The objects on stdin, each of a kind that may be written and in the right namespace. Raises Refused."""
    if parsed.flags.get("filename") != "-" or parsed.words:
        raise Refused("Manifest", "give the manifest on stdin, with -f - and nothing else")
    objects = manifests.manifests(parsed.stdin)
    for one in objects:
        _check_object(one, namespace, scope)
    return objects


def _check_object(one: dict[str, Any], namespace: str, scope: Scope) -> None:
    kind = text(one, "kind")
    resource = BY_KIND.get(kind)
    if resource is None or resource.api_version != one["apiVersion"]:
        raise Refused(
            "UnknownResource",
            f"{one_line(str(one['apiVersion']), 60)} {one_line(kind, 60)} is not a kind that can be used here",
        )
    refuse_unwritable(kind, scope.kinds)
    words.name(text(one, "metadata", "name"))
    if one["metadata"].get("namespace", namespace) != namespace:
        raise Refused("Namespace", f"{kind} names another namespace than {namespace}")


def _from_stdin(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    """`apply`, `create` and `replace` with -f -."""
    objects = objects_on_stdin(parsed, namespace, scope)
    found = [concern for one in objects for concern in judge_fragment(text(one, "kind"), one, scope.limits)]
    return Draft(stdin=manifests.render(objects), concerns=tuple(found))


def _create(parsed: Parsed, namespace: str, scope: Scope) -> Draft:
    """`create KIND NAME` without a file."""
    if len(parsed.words) != 1:
        raise Refused("NoTarget", f"write {parsed.verb} NAME")
    kind = _CREATED[parsed.verb]
    refuse_unwritable(kind, scope.kinds)
    found = list(judge_fragment(kind, {}, scope.limits))
    if parsed.verb in ("create ingress", "create service nodeport", "create service loadbalancer"):
        found.append(approval(Rule.EXPOSURE + "New", "this opens a new way in from outside"))
    if parsed.verb == "create job" and "from" not in parsed.flags:
        raise Refused("Job", "a job is only created from a cronjob: create job NAME --from=cronjob/NAME")
    return Draft((words.name(parsed.words[0]),), concerns=tuple(found))


READERS: Mapping[str, Reader] = {
    "apply": _from_stdin,
    "create": _from_stdin,
    "replace": _from_stdin,
    **dict.fromkeys(_CREATED, _create),
}
