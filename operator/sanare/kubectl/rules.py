"""The gate's rules on requests: an ordered list, the first that refuses wins, each with a reason. Pure.

Every aspect is a list of what is allowed: what is not in it is refused. What a write would change is judged after
these, by its effect (`judge`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sanare.api.model import GROUP
from sanare.errors import Refused
from sanare.kubectl import words
from sanare.kubectl.grant import Grant
from sanare.kubectl.judge import APPROVAL
from sanare.kubectl.request import METRICS, REVIEWS, ApiRequest
from sanare.kubectl.scope import refuse_unwritable

_READS = frozenset({"get", "list", "watch"})
_CLUSTER_READS = frozenset({"Node", "StorageClass", "PersistentVolume", "NodeMetrics"})
_SUBRESOURCES: frozenset[tuple[str, str]] = frozenset(
    {
        ("get", "log"),
        ("get", "status"),
        ("get", "scale"),
        ("update", "scale"),
        ("patch", "scale"),
    }
)
_WHY_NOT_SUB = {
    "exec": "nothing runs inside of containers",
    "attach": "nothing runs inside of containers",
    "portforward": "no connection into a pod is opened",
    "proxy": "no connection through the API server is opened",
    "ephemeralcontainers": "nothing is added to running pods",
    "token": "no tokens are issued",
    "eviction": "pods are not evicted; delete the pod",
    "binding": "pods are placed by the scheduler",
    "status": "status is what the cluster reports",
}
_SYSTEM_OBJECTS = frozenset({"ConfigMap/kube-root-ca.crt", "Service/kubernetes", "Endpoints/kubernetes"})


@dataclass(frozen=True, slots=True)
class Spent:
    """What the attempt has done so far."""

    mutations: int = 0
    deletes: int = 0


Rule = Callable[[ApiRequest, Grant, Spent], str]


def check(request: ApiRequest, grant: Grant, spent: Spent) -> None:
    """Raise Refused with the name of the first rule that refuses."""
    if request.verb == "discover":
        return
    for name, rule in RULES:
        reason = rule(request, grant, spent)
        if reason:
            raise Refused(name, reason)


def _unknown_resource(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    if request.resource is None:
        return f"{request.plural}.{request.group or 'core'} is not a kind that can be used here"
    return ""


def _own_group(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    return "sanare's own objects are not for the agent" if request.group == GROUP else ""


def _closed_kind(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    if request.kind == "Secret" and request.verb in _READS:
        return ""  # answered with its values masked
    return words.CLOSED.get(request.kind, "")


def _only_asked(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    key = (request.group, request.plural)
    if key in REVIEWS and request.verb != "create":
        return "reviews are only created"
    if key in METRICS and request.verb not in _READS:
        return "metrics are only read"
    return ""


def _cluster_scope(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    if (request.group, request.plural) in REVIEWS or (request.resource and request.resource.namespaced):
        return ""
    if request.verb not in _READS:
        return f"{request.kind} belongs to the whole cluster and is only read"
    if request.kind in _CLUSTER_READS or (request.kind == "Namespace" and request.name == grant.namespace):
        return ""
    return f"of {request.plural} nothing beyond namespace {grant.namespace} is shown"


def _namespace(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    if request.resource and not request.resource.namespaced and not request.namespace:
        return ""
    if not request.namespace:
        return f"every request names its namespace; use -n {grant.namespace}"
    if request.namespace != grant.namespace or request.namespace == grant.operator_namespace:
        return f"namespace {request.namespace} is out of scope; use {grant.namespace}"
    return ""


def _subresource(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    if not request.subresource or (request.verb, request.subresource) in _SUBRESOURCES:
        return ""
    why = _WHY_NOT_SUB.get(request.subresource, "it is not among the allowed subresources")
    return f"{request.plural}/{request.subresource} is denied: {why}"


def _collection(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    return "objects are deleted one by one, by name" if request.verb == "deletecollection" else ""


def _writable_kind(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    if not request.mutates:
        return ""
    try:
        refuse_unwritable(request.kind, grant.guard.kinds)
    except Refused as refusal:
        return str(refusal)
    return ""


def _protected(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    name = f"{request.kind}/{request.name or _body_name(request)}"
    if request.mutates and name in _SYSTEM_OBJECTS:
        return f"{name} belongs to the system and is not changed"
    return ""


def _body_name(request: ApiRequest) -> str:
    metadata = request.body.get("metadata") if isinstance(request.body, dict) else None
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def _named(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    creates = request.verb == "create" and request.mutates and not request.encoded
    return "a new object needs metadata.name" if creates and not _body_name(request) else ""


def _mutation_limit(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    most = grant.guard.max_mutations
    if request.mutates and spent.mutations >= most:
        return f"this attempt has made its {most} changes (guard.maxMutations); stop here"
    return ""


def _delete_limit(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    most = grant.guard.max_deletes
    if request.verb == "delete" and request.mutates and spent.deletes >= most:
        return f"this attempt has made its {most} deletions (guard.maxDeletes)"
    return ""


def _forced_delete(request: ApiRequest, grant: Grant, spent: Spent) -> str:
    if request.verb != "delete" or grant.has_person or not isinstance(request.body, dict):
        return ""
    if request.body.get("gracePeriodSeconds") == 0:
        return "a forced deletion may leave two writers running: a person must approve this"
    if request.body.get("propagationPolicy") == "Orphan" or request.body.get("orphanDependents"):
        return "the owned objects would stay behind: a person must approve this"
    return ""


RULES: tuple[tuple[str, Rule], ...] = (
    ("UnknownResource", _unknown_resource),
    ("OwnObjects", _own_group),
    ("ClosedKind", _closed_kind),
    ("ReadOnlyGroup", _only_asked),
    ("ClusterScope", _cluster_scope),
    ("Namespace", _namespace),
    ("Subresource", _subresource),
    ("DeleteCollection", _collection),
    ("WritableKind", _writable_kind),
    ("ProtectedObject", _protected),
    ("Unnamed", _named),
    ("MutationLimit", _mutation_limit),
    ("DeleteLimit", _delete_limit),
    (f"{APPROVAL}.ForceDelete", _forced_delete),
)
