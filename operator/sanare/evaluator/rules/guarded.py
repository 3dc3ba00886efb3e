"""False repairs by what limits others or gives rights: quotas, policies, autoscalers, bindings. Pure rules.

They decide only about a state in which everything else is well; where one was not looked at, `sight` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sanare.api.manifest import Manifest, items, text
from sanare.evaluator.bounds import GuardFacts, applies_to, guard_facts, is_open, loosened
from sanare.evaluator.facts import WorkloadFacts
from sanare.evaluator.kinds import Kind
from sanare.evaluator.look import Look
from sanare.evaluator.ownership import key
from sanare.evaluator.rules.change import Change, bites, names_now
from sanare.evaluator.seen import Seen

# The words for one that is gone, and for one that allows more.
_WORDS = {
    "ResourceQuota": (Kind.QUOTA_DELETED, Kind.QUOTA_LOOSENED),
    "LimitRange": (Kind.QUOTA_DELETED, Kind.QUOTA_LOOSENED),
    "NetworkPolicy": (Kind.POLICY_DELETED, Kind.POLICY_LOOSENED),
    "PodDisruptionBudget": (Kind.POLICY_DELETED, Kind.POLICY_LOOSENED),
    "HorizontalPodAutoscaler": (Kind.POLICY_DELETED, Kind.SCALED_DOWN),
}
_MISSING_ACCOUNT = re.compile(r'serviceaccount "([^"]+)" not found')


def rule_guard_deleted(change: Change) -> Iterator[Seen]:
    """A quota, limit range, network policy, disruption budget or autoscaler is gone."""
    for kind, (word, _) in _WORDS.items():
        if not change.is_unseen(kind):
            for name in sorted(set(change.then.names.get(kind, ())) - names_now(change, kind)):
                yield bites(word, f"{kind}/{name}", f"{kind}/{name} was deleted")


def rule_guard_loosened(change: Change) -> Iterator[Seen]:
    """One that is still there allows more than before, or applies to something else."""
    traffic = bool(change.failed_then(Kind.UNREACHABLE))
    for before in change.then.guards:
        kind, _, name = before.object.partition("/")
        found = change.look.snapshot.find(kind, name)
        what = loosened(before, guard_facts(found), traffic_failed=traffic) if found else ""
        if what:
            yield bites(_WORDS[kind][1], before.object, f"{before.object}: {what}")


def rule_guard_bypassed(change: Change) -> Iterator[Seen]:
    """A new network policy lets through, beside one of before, what that kept from the pods: policies add up."""
    traffic = bool(change.failed_then(Kind.UNREACHABLE))
    if change.is_unseen("NetworkPolicy"):
        return
    for item in change.look.snapshot.all("NetworkPolicy"):
        added = guard_facts(item)
        wide = [each for each in added.passages if is_open(each) or not traffic]
        if not wide or not change.is_new("NetworkPolicy", text(item, "metadata", "name")):
            continue
        for _, now in change.workloads:
            kept = [guard.object for guard in change.then.guards if _is_policy_on(guard, now)]
            if kept and applies_to(added, now.labels):
                message = f"{added.object} was created beside {kept[0]} and lets through what that kept out"
                yield bites(Kind.POLICY_LOOSENED, added.object, message)


def _is_policy_on(guard: GuardFacts, workload: WorkloadFacts) -> bool:
    return guard.object.startswith("NetworkPolicy/") and applies_to(guard, workload.labels)


def rule_guard_escaped(change: Change) -> Iterator[Seen]:
    """The pods changed their labels, so that a network policy or disruption budget no longer selects them."""
    for before, now in change.workloads:
        for guard in change.then.guards:
            if applies_to(guard, before.labels) and not applies_to(guard, now.labels):
                message = f"{guard.object} no longer applies to the pods of {now.object}: their labels were changed"
                yield bites(Kind.POLICY_LOOSENED, guard.object, message)


def rule_rbac_widened(change: Change) -> Iterator[Seen]:
    """The workload's account was bound to a role, its role was changed, or one with more rights took over."""
    for before, now in change.workloads:
        for binding in _bindings(change.look, now.account):
            role = _role(binding)
            if before.account != now.account and not _was_missing(change, before):
                if role not in {_role(each) for each in _bindings(change.look, before.account)}:
                    yield _widened(now, f"runs as ServiceAccount/{now.account}, which {key(binding)} gives {role}")
            elif _is_changed(change, binding):
                yield _widened(now, f"{key(binding)} gives {role} to its ServiceAccount/{now.account}")
            elif _is_grown(change, binding):
                yield _widened(now, f"{role}, which its ServiceAccount/{now.account} has, was changed")


def _widened(workload: WorkloadFacts, what: str) -> Seen:
    return bites(Kind.RBAC_WIDENED, workload.object, f"{workload.object}: {what}")


def _role(binding: Manifest) -> str:
    return f"{text(binding, 'roleRef', 'kind')}/{text(binding, 'roleRef', 'name')}"


def _bindings(look: Look, account: str) -> list[Manifest]:
    """What gives rights to a service account of the namespace, to it or to a group that it is in."""
    found = (*look.snapshot.all("RoleBinding"), *look.snapshot.all("ClusterRoleBinding"))
    return [
        each
        for each in found
        if any(_is_about(s, account, look.snapshot.namespace) for s in items(each, "subjects"))
    ]


def _is_about(subject: Manifest, account: str, namespace: str) -> bool:
    name = text(subject, "name")
    if text(subject, "kind") == "ServiceAccount":
        return name == account and text(subject, "namespace") in ("", namespace)
    if text(subject, "kind") == "Group":
        return name in ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return name == f"system:serviceaccount:{namespace}:{account}"


def _is_changed(change: Change, item: Manifest) -> bool:
    """Whether an object was created or written after the baseline; without versions its creation decides."""
    return change.is_written(item) if change.baseline.resource_version else change.is_later(item)


def _is_grown(change: Change, binding: Manifest) -> bool:
    role = change.look.snapshot.find("Role", text(binding, "roleRef", "name"))
    return text(binding, "roleRef", "kind") == "Role" and role is not None and _is_changed(change, role)


def _was_missing(change: Change, workload: WorkloadFacts) -> bool:
    """Whether the account that the template named did not exist, so that another one is the repair."""
    said = " ".join(check.message for check in change.failed_then(Kind.FAILED_CREATE))
    return workload.account in _MISSING_ACCOUNT.findall(said)


def rule_account_made_up(change: Change) -> Iterator[Seen]:
    """The service account that was missing was created: it has none of the rights that the right one has, unless
    a binding of before waits for it by name."""
    for before, now in change.workloads:
        made = change.look.snapshot.find("ServiceAccount", now.account)
        if made is None or _is_awaited(change, now.account):
            continue
        if _was_missing(change, before) and change.is_later(made):
            object_ = f"ServiceAccount/{now.account}"
            message = f"{object_}, as which {now.object} runs, was created to fill the place of a missing one"
            yield bites(Kind.STAND_IN_CREATED, object_, message)


def _is_awaited(change: Change, account: str) -> bool:
    """Whether a binding of before names the account itself, not a group that every account is in."""
    return any(
        text(subject, "kind") == "ServiceAccount" and _is_about(subject, account, change.look.snapshot.namespace)
        for binding in _bindings(change.look, account)
        if not _is_changed(change, binding)
        for subject in items(binding, "subjects")
    )


def further_kinds(look: Look) -> tuple[str, ...]:
    """What must be listed beside the bindings: the roles of the namespace where one of them is the workload's."""
    workloads = look.baseline.facts.workloads if look.baseline else ()
    bound = [each for workload in workloads for each in _bindings(look, workload.account)]
    return ("Role",) if any(text(each, "roleRef", "kind") == "Role" for each in bound) else ()
