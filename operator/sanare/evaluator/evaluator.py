"""The evaluator: looks at an Incident's scope and decides. It reads, and changes nothing that is looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sanare import errors
from sanare.api.incident import Incident
from sanare.api.policy import PolicySpec
from sanare.api.verdict import CheckOutcome, CheckResult, Verdict
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.collect import Collected, collect, with_kinds
from sanare.evaluator.converge import Convergence, Ended
from sanare.evaluator.declared.asker import Asker, Kept, Means
from sanare.evaluator.declared.judge import with_policy_checks
from sanare.evaluator.declared.refusal import refuse_invalid_checks
from sanare.evaluator.declared.reply import check_name
from sanare.evaluator.durability import Disruption, with_durability
from sanare.evaluator.judge import assess, verdict_of
from sanare.evaluator.look import Look, allowances
from sanare.evaluator.namespace import refuse_missing_namespace
from sanare.evaluator.rules.guarded import further_kinds
from sanare.evaluator.scope import TARGET_KINDS
from sanare.evaluator.seen import Seen
from sanare.evaluator.snapshot import Snapshot
from sanare.evaluator.survey import take_baseline
from sanare.evaluator.wanted import BINDINGS, EVERYTHING, GUARDS, SCALER, guard_kinds, kept_kinds
from sanare.evaluator.watching import Changes
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND

# How the reason starts where a list failed that another try may bring.
_PASSING = ("Timeout", "Gone")
_WATCHED = ("Pod", "Deployment", "StatefulSet", "DaemonSet", "Service", "EndpointSlice", "Job")


class Evaluator:
    """Verdicts on Incidents, from one API server. `means` is what declared checks may be asked with."""

    def __init__(self, kube: KubeClient, means: Means | None = None) -> None:
        self._kube = kube
        self._asker = Asker(kube, means)
        self._bindings = BINDINGS if self._asker.means.cluster_wide else BINDINGS[:1]

    async def refuse_invalid_checks(self, incident: Incident, policy: PolicySpec) -> None:
        """Raises InvalidIncident for a declared check that cannot be asked as it stands."""
        merged = with_policy_checks(incident, policy)
        await refuse_invalid_checks(merged, self._asker.means, allow_pods=policy.verify.allow_pods)

    async def snapshot(self, incident: Incident, *, baseline: Baseline | None = None) -> Snapshot:
        """What is true now, with every kind that may explain it.

        Raises InvalidIncident where no target was ever there.
        """
        collected = await self._collect(incident, baseline)
        return await with_kinds(self._kube, collected.snapshot, EVERYTHING)

    async def capture(self, incident: Incident, policy: PolicySpec) -> tuple[Baseline, Verdict]:
        """The baseline before the first attempt, and the verdict on it.

        Raises InvalidIncident, and Unreachable where a list failed that another try may bring: a baseline that does
        not know what was there is blind to false repairs for as long as the Incident lasts.
        """
        collected = await self._collect(with_policy_checks(incident, policy), None, capture=True)
        scaler = (SCALER,) if collected.room > len(GUARDS) else ()
        kept = kept_kinds(collected.snapshot, collected.owned.workloads.values())
        snapshot = await with_kinds(self._kube, collected.snapshot, (*GUARDS, *scaler, *kept))
        collected = replace(collected, snapshot=snapshot)
        _refuse_blindness(snapshot, incident)
        look, seen = await self._assess(_look(collected, incident, policy), policy, Kept())
        verdict = verdict_of(seen, look)
        failing = tuple(each.outcome() for each in seen if each.kind and each.result == "Failed")
        version = collected.versions.get("Pod", "")
        return await asyncio.to_thread(
            take_baseline, look, failing, version=version, bindings=self._bindings
        ), verdict

    async def judge_now(
        self, incident: Incident, policy: PolicySpec, baseline: Baseline | None
    ) -> tuple[Verdict, Snapshot]:
        """One look, no waiting, no hold: whether there is still something to repair."""
        verdict, look, _ = await self._look_once(incident, policy, baseline)
        return verdict, look.snapshot

    async def examine(
        self, incident: Incident, policy: PolicySpec, baseline: Baseline | None
    ) -> tuple[Verdict, tuple[CheckOutcome, ...]]:
        """One look as `judge_now`, with every outcome, however many there are."""
        verdict, _, seen = await self._look_once(incident, policy, baseline)
        return verdict, tuple(each.outcome() for each in seen)

    async def verify(
        self,
        incident: Incident,
        policy: PolicySpec,
        baseline: Baseline,
        *,
        previous: Verdict | None,
        since: datetime,
        disruption: Disruption | None = None,
    ) -> tuple[Verdict, Snapshot]:
        """Watch the scope until it is healthy for the hold, cannot get healthy by itself, or the time is up.

        `since` is the moment of the last change; what is older does not settle anything. With a disruption, what
        replaced the deleted pod must be healthy too.
        """
        state, kept, incident = Convergence(policy, since), Kept(), with_policy_checks(incident, policy)
        before = previous.checks if previous else baseline.failing
        collected = await self._collect(incident, baseline)
        namespace = incident.metadata.namespace
        async with Changes(self._kube, namespace, _WATCHED, collected.versions) as changes:
            while True:
                look = _look(collected, incident, policy, baseline, since)
                look, seen = await self._assess(look, policy, kept)
                answer = state.advance(look, with_durability(look, disruption, seen) if disruption else seen)
                if isinstance(answer, Ended):
                    look, guarded = await self._with_guards(look, baseline, answer.seen)
                    known = {each.key for each in answer.seen}
                    late = [
                        each
                        for each in guarded
                        if each.key not in known and each.kind and each.kind.is_false_repair
                    ]
                    ranked = sorted((*answer.seen, *late), key=lambda each: each.rank)
                    return answer.stamped(verdict_of(ranked, look, previous=before)), look.snapshot
                await changes.wait(answer)
                collected = await self._collect(incident, baseline)

    async def _look_once(
        self, incident: Incident, policy: PolicySpec, baseline: Baseline | None
    ) -> tuple[Verdict, Look, Sequence[Seen]]:
        incident = with_policy_checks(incident, policy)
        collected = await self._collect(incident, baseline)
        look, seen = await self._assess(_look(collected, incident, policy, baseline), policy, Kept())
        return verdict_of(seen, look, previous=baseline.failing if baseline else ()), look, seen

    async def _assess(self, look: Look, policy: PolicySpec, kept: Kept) -> tuple[Look, Sequence[Seen]]:
        """Every outcome, and the look with what declared checks met; costly ones wait for the others to pass."""
        look = _with_answers(look, await self._asker.look(look.incident, look.snapshot))
        seen: Sequence[Seen] = await asyncio.to_thread(assess, look)
        if look.baseline and not any(each.result is CheckResult.FAILED for each in seen):
            look, seen = await self._with_guards(look, look.baseline, seen)
        costly = {check_name(check) for check in look.incident.spec.checks if check.is_costly}
        if not costly:
            return look, seen
        if any(each.result is not CheckResult.PASSED for each in seen if each.name not in costly):
            kept.forget()
            return look, seen
        allowed = policy.verify.allow_pods
        further = await self._asker.look_further(look.incident, look.snapshot, allow_pods=allowed, kept=kept)
        look = _with_answers(look, further)
        return look, await asyncio.to_thread(assess, look)

    async def _with_guards(
        self, look: Look, baseline: Baseline, seen: Sequence[Seen]
    ) -> tuple[Look, Sequence[Seen]]:
        """The look with what limits the scope and what its accounts may do, and every outcome on it.

        `seen` are the outcomes without these; they stand where all of it had been looked at.
        """
        whole = replace(look, snapshot=await with_kinds(self._kube, look.snapshot, guard_kinds(baseline)))
        whole = replace(whole, snapshot=await with_kinds(self._kube, whole.snapshot, further_kinds(whole)))
        if whole.snapshot is look.snapshot:
            return look, seen
        return whole, await asyncio.to_thread(assess, whole)

    async def _collect(self, incident: Incident, baseline: Baseline | None, *, capture: bool = False) -> Collected:
        for target in incident.spec.targets:
            if target.kind not in TARGET_KINDS:
                known = ", ".join(sorted(TARGET_KINDS))
                raise errors.InvalidIncident(
                    "TargetKindUnknown",
                    f"a target of kind {target.kind} cannot be evaluated; name one of {known} instead",
                )
        ours = self._asker.jobs.made
        collected = await collect(self._kube, incident, baseline, capture=capture, ours=ours)
        if baseline is None and not collected.scope.workloads and not _any_target(collected, incident):
            await refuse_missing_namespace(self._kube, incident.metadata.namespace)
            _refuse_missing_targets(collected)
        return collected


def _refuse_missing_targets(collected: Collected) -> None:
    if collected.scope.missing:
        named, namespace = ", ".join(collected.scope.missing), collected.snapshot.namespace
        raise errors.InvalidIncident(
            "TargetNotFound",
            f"{named} does not exist in namespace {namespace}; correct spec.targets in a new Incident",
        )


def _refuse_blindness(snapshot: Snapshot, incident: Incident) -> None:
    """Raise where a target may not be looked at, or where something needed could not be listed this time."""
    for kind in dict.fromkeys(target.kind for target in incident.spec.targets):
        why = snapshot.unseen.get(kind, "")
        if why.startswith("Forbidden"):
            plural = BY_KIND[kind].plural
            raise errors.InvalidIncident(
                "TargetForbidden",
                f"{plural} cannot be listed in namespace {snapshot.namespace} ({why}); give the operator's service "
                f"account the verbs get, list and watch on {plural}",
            )
    for kind, why in snapshot.unseen.items():
        # Without its events a fault is named less well, and no rule compares them.
        if kind != "Event" and why.startswith(_PASSING):
            raise errors.Unreachable(f"no baseline without the {BY_KIND[kind].plural} of the namespace: {why}")


def _with_answers(look: Look, answers: Mapping[str, Seen]) -> Look:
    if not answers:
        return look
    return replace(look, snapshot=replace(look.snapshot, declared={**look.snapshot.declared, **answers}))


def _any_target(collected: Collected, incident: Incident) -> bool:
    """Whether a target exists, or may exist because its kind could not be listed."""
    return len(collected.scope.missing) < len({(target.kind, target.name) for target in incident.spec.targets})


def _look(
    collected: Collected,
    incident: Incident,
    policy: PolicySpec,
    baseline: Baseline | None = None,
    since: datetime | None = None,
) -> Look:
    return Look(
        collected.snapshot,
        with_policy_checks(incident, policy),
        collected.owned,
        collected.scope,
        collected.snapshot.taken_at,
        baseline,
        since,
        policy.verify.hold,
        allowances(incident, policy),
    )
