"""Grant: what the requests of one attempt may touch, and in whose name they are sent."""

from __future__ import annotations

from dataclasses import dataclass

from sanare.api.policy import Guard
from sanare.kubectl.judge import Limits
from sanare.kubectl.scope import Scope


@dataclass(frozen=True, slots=True)
class Grant:
    """The rights of one attempt.

    Attributes:
        namespace: the only namespace in scope.
        operator_namespace: never in scope.
        guard: the policy's limits.
        dry_run: every mutation is sent with dryRun=All, and what needs a person is shown, not refused.
        approved: a person approved what is being run, so what needs a person may be done.
        impersonate: user that requests are sent as, `system:serviceaccount:NAMESPACE:NAME`; empty for the operator.
    """

    namespace: str
    operator_namespace: str
    guard: Guard
    dry_run: bool = False
    approved: bool = False
    impersonate: str = ""

    @property
    def has_person(self) -> bool:
        """Whether what needs a person's approval may go on: approved, or only shown."""
        return self.approved or self.dry_run

    @property
    def limits(self) -> Limits:
        """The bounds that judging an object needs."""
        return Limits(self.guard.max_replicas, self.guard.registries)

    def scope(self, *, timeout: int) -> Scope:
        """What the screen in front of the gate lets a command name; waits are at most `timeout` seconds."""
        return Scope(
            namespaces=frozenset({self.namespace}),
            default=self.namespace,
            operator_namespace=self.operator_namespace,
            max_replicas=self.guard.max_replicas,
            registries=self.guard.registries,
            kinds=self.guard.kinds,
            approved=self.has_person,
            gated=True,
            timeout=timeout,
        )
