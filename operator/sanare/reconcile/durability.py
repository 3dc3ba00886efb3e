"""Disrupt: one pod of a repaired workload is deleted, so that the repair is judged on a pod that it made.

The intent, with the pod's uid, stands in the status before the request leaves. After a crash that very pod is
evicted where it is still there, and where it is not, what follows it is judged: never a second pod for one intent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sanare.api.attempt import Attempt, Durability, DurabilityState
from sanare.api.manifest import Manifest, Ref, text
from sanare.api.policy import PolicySpec
from sanare.api.status import ConditionType
from sanare.api.verdict import Result, Verdict
from sanare.decision.step import Disrupt
from sanare.evaluator.durability import choose_pod, withheld
from sanare.evaluator.judge import look_at
from sanare.evaluator.ownership import is_terminating
from sanare.evaluator.snapshot import Snapshot
from sanare.kube.events import Happening
from sanare.kube.eviction import EvictionEnd, evict, eviction_path
from sanare.kubectl.journal import MutationRecord
from sanare.reconcile.attempt import grant_for
from sanare.reconcile.chronicle import Chronicle
from sanare.reconcile.journal import DurabilityJournal, replace_attempt
from sanare.reconcile.kit import Kit, load_baseline
from sanare.text import one_line


async def disrupt(kit: Kit, chronicle: Chronicle, policy: PolicySpec, step: Disrupt) -> None:
    """Evaluate, then evict one pod in the agent's name. What may not be tried makes the verdict Unverified."""
    incident, begun = chronicle.incident, step.attempt.durability
    baseline = await load_baseline(kit.kube, incident)
    verdict, snapshot = await kit.evaluator.judge_now(incident, policy, baseline)
    trial = _Trial(kit, chronicle, policy, step.attempt, verdict)
    is_begun = begun is not None and begun.state is DurabilityState.INTENDED
    pod = _that_very_pod(snapshot, begun) if begun is not None and is_begun else None
    if is_begun and pod is None:
        chronicle.note("DurabilityDeleted", f"attempt {step.attempt.number}: the pod is gone after a restart")
        await trial.deleted()
    elif verdict.result is not Result.FIXED:
        await trial.back_to_the_judge()
    elif pod is not None:
        await trial.evict(pod)
    else:
        look = look_at(snapshot, incident, policy, baseline, now=chronicle.now())
        chosen = choose_pod(look)
        workload = next(iter(look.scope.workloads), "")
        if isinstance(chosen, str):
            await trial.blocked(workload, chosen)
        else:
            await trial.begin(look.owned.owner[text(chosen, "metadata", "name")], chosen)


def _that_very_pod(snapshot: Snapshot, begun: Durability) -> Manifest | None:
    """The pod of the intent, while nothing has deleted it."""
    found = snapshot.find("Pod", begun.pod)
    there = found is not None and text(found, "metadata", "uid") == begun.uid and not is_terminating(found)
    return found if there else None


@dataclass(frozen=True, slots=True)
class _Trial:
    """The test of one attempt; `verdict` is what was true just now."""

    kit: Kit
    chronicle: Chronicle
    policy: PolicySpec
    attempt: Attempt
    verdict: Verdict

    async def begin(self, workload: str, pod: Manifest) -> None:
        """Write the intent, then evict."""
        name, uid = text(pod, "metadata", "name"), text(pod, "metadata", "uid")
        at = self.chronicle.now()
        begun = Durability(state=DurabilityState.INTENDED, workload=workload, pod=name, uid=uid, at=at)
        trial = replace(self, attempt=self.attempt.model_copy(update={"durability": begun}))
        replace_attempt(self.chronicle, trial.attempt)
        await trial._journal.intend(trial._record(pod, status=0))
        await trial.evict(pod)

    async def evict(self, pod: Manifest) -> None:
        """Ask the API server; a pod that somebody else deleted meanwhile proves nothing, and another is chosen."""
        begun = self._begun
        grant = grant_for(self.kit, self.chronicle.incident, self.policy)
        answer = await evict(
            self.kit.kube, grant.namespace, begun.pod, uid=begun.uid, impersonate=grant.impersonate
        )
        await self._journal.done(self._record(pod, status=answer.status))
        match answer.end:
            case EvictionEnd.EVICTED:
                await self.deleted()
            case EvictionEnd.GONE:
                replace_attempt(self.chronicle, self.attempt.model_copy(update={"durability": None}))
                await self.chronicle.commit()
            case EvictionEnd.BLOCKED:
                await self.blocked(begun.workload, answer.message)

    async def deleted(self) -> None:
        """What follows the pod is judged next: the attempt has no result until then."""
        begun = self._begun
        told = f"{begun.workload}: pod {begun.pod} was deleted to prove the repair of attempt {self.attempt.number}"
        done = begun.model_copy(update={"state": DurabilityState.DELETED})
        replace_attempt(self.chronicle, self.attempt.model_copy(update={"result": None, "durability": done}))
        self.chronicle.condition(ConditionType.REPAIRING, "True", "VerifyingDurability", told)
        await self.chronicle.commit()
        await self.chronicle.tell(Happening("DurabilityTested", told))

    async def back_to_the_judge(self) -> None:
        """It broke by itself before it was tried."""
        unjudged = self.attempt.model_copy(update={"result": None, "durability": None})
        replace_attempt(self.chronicle, unjudged)
        await self.chronicle.commit()

    async def blocked(self, workload: str, why: str) -> None:
        """Healthy, and durable nobody knows: tried again for a while, then a person's."""
        verdict = withheld(self.verdict, workload, why)
        known = self.attempt.durability
        state = DurabilityState.BLOCKED
        told = Durability(state=state, workload=workload, at=self.chronicle.now(), message=one_line(why, 1024))
        update = {"result": verdict.result, "reason": verdict.reason, "durability": told}
        replace_attempt(self.chronicle, self.attempt.model_copy(update=update))
        self.chronicle.verdict(verdict)
        await self.chronicle.commit()
        if known is None or known.message != told.message:
            await self.chronicle.tell(Happening("DurabilityBlocked", verdict.reason, "Warning"))

    @property
    def _begun(self) -> Durability:
        begun = self.attempt.durability
        assert begun is not None  # noqa: S101 - for the type checker: the intent is written first
        return begun

    @property
    def _journal(self) -> DurabilityJournal:
        return DurabilityJournal(self.kit.kube, self.chronicle, self.attempt.number)

    def _record(self, pod: Manifest, *, status: int) -> MutationRecord:
        ref = Ref.of({"kind": "Pod", "apiVersion": "v1", **pod})
        return MutationRecord(
            seq=1,
            at=self.chronicle.now(),
            verb="delete",
            ref=ref,
            method="POST",
            path=eviction_path(ref.namespace, ref.name),
            subresource="eviction",
            before=pod,
            status=status,
        )
