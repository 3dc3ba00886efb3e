"""The evaluator: looks at an Incident's scope and decides. It reads, and writes nothing."""

from __future__ import annotations

from datetime import UTC, datetime

from sanare import errors
from sanare.api.incident import Incident
from sanare.api.policy import PolicySpec
from sanare.api.status import CheckOutcome, Verdict
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.collect import TARGET_KINDS, Collected, collect
from sanare.evaluator.converge import Convergence, Ended
from sanare.evaluator.durability import Disruption, with_durability
from sanare.evaluator.judge import assess, judge, verdict_of
from sanare.evaluator.look import Look
from sanare.evaluator.snapshot import Snapshot
from sanare.evaluator.survey import take_baseline
from sanare.evaluator.watching import Changes
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND

# How the reason starts where a list failed that another try may bring.
_PASSING = ("Timeout", "Gone")
_WATCHED = ("Pod", "Deployment", "StatefulSet", "DaemonSet", "Service", "EndpointSlice", "Job")


class Evaluator:
    """Verdicts on Incidents, from one API server."""

    def __init__(self, kube: KubeClient) -> None:
        self._kube = kube

    async def snapshot(self, incident: Incident, *, baseline: Baseline | None = None) -> Snapshot:
        """What is true now. Raises InvalidIncident where no target was ever there."""
        return (await self._collect(incident, baseline)).snapshot

    async def capture(self, incident: Incident, policy: PolicySpec) -> tuple[Baseline, Verdict]:
        """The baseline before the first attempt, and the verdict on it.

        Raises InvalidIncident, and Unreachable where a list failed that another try may bring: a baseline that does
        not know what was there is blind to false repairs for as long as the Incident lasts.
        """
        collected = await self._collect(incident, None)
        _refuse_blindness(collected.snapshot, incident)
        look = _look(collected, incident, policy)
        seen = assess(look)
        verdict = verdict_of(seen, look)
        failing = tuple(each.outcome() for each in seen if each.kind and each.result == "Failed")
        return take_baseline(look, failing), verdict

    async def judge_now(
        self, incident: Incident, policy: PolicySpec, baseline: Baseline | None
    ) -> tuple[Verdict, Snapshot]:
        """One look, no waiting, no hold: whether there is still something to repair."""
        snapshot = await self.snapshot(incident, baseline=baseline)
        return judge(snapshot, baseline, incident, policy, now=datetime.now(UTC)), snapshot

    async def examine(
        self, incident: Incident, policy: PolicySpec, baseline: Baseline | None
    ) -> tuple[Verdict, tuple[CheckOutcome, ...]]:
        """One look as `judge_now`, with every outcome, however many there are."""
        collected = await self._collect(incident, baseline)
        look = _look(collected, incident, policy, baseline)
        seen = assess(look)
        previous = baseline.failing if baseline else ()
        return verdict_of(seen, look, previous=previous), tuple(each.outcome() for each in seen)

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
        state = Convergence(policy, since)
        before = previous.checks if previous else baseline.failing
        collected = await self._collect(incident, baseline)
        namespace = incident.metadata.namespace
        async with Changes(self._kube, namespace, _WATCHED, collected.versions) as changes:
            while True:
                look = _look(collected, incident, policy, baseline, since)
                seen = assess(look)
                answer = state.advance(look, with_durability(look, disruption, seen) if disruption else seen)
                if isinstance(answer, Ended):
                    verdict = verdict_of(answer.seen, look, previous=before)
                    return answer.stamped(verdict), collected.snapshot
                await changes.wait(answer)
                collected = await self._collect(incident, baseline)

    async def _collect(self, incident: Incident, baseline: Baseline | None) -> Collected:
        for target in incident.spec.targets:
            if target.kind not in TARGET_KINDS:
                known = ", ".join(sorted(TARGET_KINDS))
                raise errors.InvalidIncident(
                    "TargetKindUnknown",
                    f"a target of kind {target.kind} cannot be evaluated; name one of {known} instead",
                )
        collected = await collect(self._kube, incident, baseline)
        if baseline is None and not collected.scope.workloads and not _any_target(collected, incident):
            await self._refuse_missing(incident, collected)
        return collected

    async def _refuse_missing(self, incident: Incident, collected: Collected) -> None:
        """Raise for an Incident none of whose targets is there."""
        namespace = incident.metadata.namespace
        try:
            await self._kube.get(BY_KIND["Namespace"], "", namespace)
        except errors.NotFound as error:
            raise errors.InvalidIncident("NamespaceGone", f"namespace {namespace} does not exist") from error
        except errors.KubeError:
            pass  # without the right to read namespaces, the targets alone decide
        if collected.scope.missing:
            named = ", ".join(collected.scope.missing)
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
        incident,
        collected.owned,
        collected.scope,
        collected.snapshot.taken_at,
        baseline,
        since,
        policy.verify.hold,
    )
