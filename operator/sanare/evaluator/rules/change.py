"""Before and after, side by side, for the rules that tell a false repair. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sanare.api.manifest import Manifest, text
from sanare.api.verdict import CheckOutcome
from sanare.evaluator.baseline import Baseline
from sanare.evaluator.container_facts import ContainerFacts
from sanare.evaluator.facts import Facts, WorkloadFacts, template_digest, workload_facts
from sanare.evaluator.kinds import Kind
from sanare.evaluator.look import Look, moment
from sanare.evaluator.ownership import is_terminating, pod_template
from sanare.evaluator.reach import slices_of
from sanare.evaluator.scope import selected_workloads
from sanare.evaluator.seen import Seen, failed
from sanare.evaluator.service_facts import ServiceFacts, service_facts

CHECK = "false-repair"


@dataclass(frozen=True)
class Change:
    """What a rule may read: the baseline and the present look. What many rules compare is read once."""

    baseline: Baseline
    look: Look

    @property
    def then(self) -> Facts:
        """The namespace before the first attempt."""
        return self.baseline.facts

    def failed_then(self, *kinds: Kind) -> list[CheckOutcome]:
        """What was wrong at the start, of these kinds."""
        return [check for check in self.baseline.failing if check.kind in kinds]

    def is_unseen(self, kind: str) -> bool:
        """Whether the kind was not listed now, so that its absence says nothing."""
        return not self.look.snapshot.is_listed(kind)

    @cached_property
    def workloads(self) -> tuple[tuple[WorkloadFacts, WorkloadFacts], ...]:
        """Every workload of the baseline that still exists, before and now."""
        return tuple(self._workloads())

    @cached_property
    def containers(self) -> tuple[tuple[WorkloadFacts, ContainerFacts, ContainerFacts], ...]:
        """Every container of those that still exists, by name or, where one was renamed, by its position."""
        return tuple(self._containers())

    @cached_property
    def services(self) -> tuple[tuple[ServiceFacts, ServiceFacts], ...]:
        """Every Service of the baseline's scope that still exists, before and now."""
        return tuple(self._services())

    @cached_property
    def rolled_back(self) -> frozenset[str]:
        """Workloads whose template is again one that they had before the one that the baseline met."""
        return frozenset(
            before.object
            for before, _ in self.workloads
            if before.revisions
            and template_digest(pod_template(self.look.owned.workloads[before.object])) in before.revisions
        )

    def _workloads(self) -> Iterator[tuple[WorkloadFacts, WorkloadFacts]]:
        for before in self.then.workloads:
            found = self.look.owned.workloads.get(before.object)
            if found is not None:
                yield before, workload_facts(found)

    def _containers(self) -> Iterator[tuple[WorkloadFacts, ContainerFacts, ContainerFacts]]:
        for before, now in self.workloads:
            for init in (True, False):
                old, new = before.listed(init=init), now.listed(init=init)
                by_name = {one.name: one for one in new}
                for position, container in enumerate(old):
                    same = by_name.get(container.name) or (new[position] if len(new) == len(old) else None)
                    if same is not None:
                        yield before, container, same

    def _services(self) -> Iterator[tuple[ServiceFacts, ServiceFacts]]:
        for before in self.then.services:
            found = self.look.snapshot.find("Service", before.name)
            if found is not None:
                selected = tuple(selected_workloads(found, self.look.owned))
                slices = slices_of(self.look.snapshot, before.name)
                yield before, service_facts(found, selected, before.intended, slices)

    def is_new(self, kind: str, name: str) -> bool:
        """Whether an object of that kind appeared after the baseline was taken.

        By its name where the baseline knows all names of the kind, else by the time of its creation.
        """
        if kind in self.then.names:
            return not self.then.has(kind, name)
        found = self.look.snapshot.find(kind, name)
        return found is not None and self.is_later(found)

    def is_later(self, item: Manifest) -> bool:
        """Whether an object was created after the baseline was taken. Within that second its version decides."""
        created = moment(item, "metadata", "creationTimestamp")
        taken = self.baseline.taken_at.replace(microsecond=0)
        return created is None or created > taken or (created == taken and self.is_written(item))

    def is_written(self, item: Manifest) -> bool:
        """Whether an object was created or changed after the baseline was taken, by its resourceVersion."""
        then, now = self.baseline.resource_version, text(item, "metadata", "resourceVersion")
        return not (then.isdigit() and now.isdigit()) or int(now) > int(then)


def bites(kind: Kind, object_: str, message: str, *, settles: float = 0.0) -> Seen:
    """A rule that found a false repair; by default it is final at once."""
    return failed(CHECK, kind, object_, message, settles=settles)


def names_now(change: Change, kind: str) -> set[str]:
    """Names of the objects of a kind that exist now."""
    return {text(item, "metadata", "name") for item in change.look.snapshot.all(kind)}


def is_gone(change: Change, kind: str, name: str) -> bool:
    """Whether an object that was there is not any more, or will not be."""
    missing = change.look.snapshot.find(kind, name) is None
    return not change.is_unseen(kind) and (missing or is_going(change, kind, name))


def is_going(change: Change, kind: str, name: str) -> bool:
    """Whether an object waits for its finalizers: nothing brings it back."""
    found = change.look.snapshot.find(kind, name)
    return found is not None and is_terminating(found)
