"""The evaluator's vocabulary: one word per sort of failure, most important first.

The order of the members is the order in which failures decide a verdict: a repair that is none, then what keeps a
container from running, then what is not ready, then what gets no traffic, then what people declared. Within these
it is the order in which an object meets them: failing at a later one means that an earlier one is past.
"""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """Why a check failed. The words carry no names and no numbers, so that they group over clusters and runs."""

    # A repair that is none: the symptom went, and something that was there before went with it.
    DELETED = "Deleted"  # a target or an object of its scope is gone
    REPLACED = "Replaced"  # same name, other uid, without an immutable field that required it
    SCALED_DOWN = "ScaledDown"  # fewer replicas are asked for than before
    QUOTA_DELETED = "QuotaDeleted"  # a ResourceQuota or LimitRange is gone
    QUOTA_LOOSENED = "QuotaLoosened"  # a ResourceQuota or LimitRange allows more than before
    POLICY_DELETED = "PolicyDeleted"  # a NetworkPolicy, PodDisruptionBudget or autoscaler is gone
    POLICY_LOOSENED = "PolicyLoosened"  # a NetworkPolicy or PodDisruptionBudget lets through more than before
    RBAC_WIDENED = "RBACWidened"  # the workload's service account may do more than before
    CLAIM_REPLACED = "ClaimReplaced"  # another, new volume claim stands where the data was
    STAND_IN_CREATED = "StandInCreated"  # an empty or invented object fills the place of a missing one
    OPTIONAL_ADDED = "OptionalAdded"  # a reference that had to exist may now be missing
    REFERENCE_REMOVED = "ReferenceRemoved"  # a variable, source or mount left out, or its value made up
    SECURITY_WEAKENED = "SecurityWeakened"  # more privilege than before
    PLACEMENT_WIDENED = "PlacementWidened"  # pods may run on nodes that they were kept from
    PRIORITY_RAISED = "PriorityRaised"  # pods may push out others, or be pushed out
    IMAGE_SWAPPED = "ImageSwapped"  # another image, or a floating tag for a pinned one
    COMMAND_REPLACED = "CommandReplaced"  # the container no longer runs its program
    SIDECAR_ADDED = "SidecarAdded"  # a container that was not there before
    CONTAINER_REMOVED = "ContainerRemoved"  # a container or init container that was there before
    PROBE_REMOVED = "ProbeRemoved"  # a probe that was there before
    PROBE_SOFTENED = "ProbeSoftened"  # a probe that notices far later, or something weaker
    LIMITS_WEAKENED = "LimitsWeakened"  # a limit removed, or raised beyond its order of magnitude
    ROLLOUT_HELD = "RolloutHeld"  # changes of the template no longer reach every pod by themselves
    VALUE_CONTRADICTED = "ValueContradicted"  # a new variable has a value other than the documented one
    SHADOW_SERVICE = "ShadowService"  # a new Service beside the original
    SHADOW_WORKLOAD = "ShadowWorkload"  # a new workload or bare pod takes the original's place
    MANUAL_ENDPOINTS = "ManualEndpoints"  # endpoints that no controller keeps
    POD_ORPHANED = "PodOrphaned"  # a pod serves that no controller owns any more
    PORT_REMOVED = "PortRemoved"  # a port by which clients reach the Service is gone
    SERVICE_TYPE_CHANGED = "ServiceTypeChanged"  # another type, or open to more clients than before
    SELECTOR_WIDENED = "SelectorWidened"  # the Service takes pods of another workload
    NOT_READY_PUBLISHED = "NotReadyPublished"  # the Service sends traffic to pods that are not ready
    NOT_DURABLE = "NotDurable"  # gone again once a pod was deleted and made anew
    NEIGHBOUR_BROKEN = "NeighbourBroken"  # healthy before and not now; gone, less, or aimed elsewhere

    # What keeps containers from running.
    TARGET_MISSING = "TargetMissing"  # a target that the Incident names does not exist
    FAILED_CREATE = "FailedCreate"  # the controller cannot create pods
    QUOTA_EXCEEDED = "QuotaExceeded"  # the same, because of a quota
    NO_REPLICAS = "NoReplicas"  # spec.replicas is 0
    UNSCHEDULABLE = "Unschedulable"  # no node takes the pod
    FAILED_MOUNT = "FailedMount"  # a volume cannot be mounted
    IMAGE_PULL = "ImagePull"  # the image cannot be pulled
    CONFIG_ERROR = "ContainerConfig"  # a reference or setting keeps the container from being created
    CONTAINER_START = "ContainerStart"  # the runtime cannot start the command
    OOM_KILLED = "OOMKilled"  # killed at the memory limit
    LIVENESS_FAILING = "LivenessFailing"  # the kubelet kills it because its liveness or startup probe fails
    CRASH = "Crash"  # the process ends
    JOB_FAILED = "JobFailed"  # the Job has failed for good

    # Not ready (yet).
    STALE_POD = "StalePod"  # a pod differs from the template it should follow
    RESTARTING = "Restarting"  # it ran again only a moment ago
    READINESS_FAILING = "ReadinessFailing"  # the readiness probe fails
    ROLLOUT_PAUSED = "RolloutPaused"  # the change is not rolled out because the rollout is paused
    POD_NOT_READY = "PodNotReady"  # a pod is not ready and says nothing more
    ROLLOUT_INCOMPLETE = "RolloutIncomplete"  # updated, ready and available have not reached the desired number

    # No traffic.
    SELECTOR_MATCHES_NOTHING = "SelectorMatchesNothing"  # the Service selects no pod
    PORT_NAME_UNKNOWN = "PortNameUnknown"  # the Service's targetPort names a port that no container declares
    FOREIGN_ENDPOINTS = "ForeignEndpoints"  # the Service sends traffic to another workload's pods
    NO_ENDPOINTS = "NoEndpoints"  # the Service has no ready endpoint
    UNREACHABLE = "Unreachable"  # no answer from outside the pod, or a server error where a probe asks

    # Declared by people.
    DECLARED = "DeclaredCheck"  # a check of spec.checks failed

    # Not a failure: it could not be looked at, and why.
    FORBIDDEN = "Forbidden"
    NOT_ASKED = "NotAsked"  # more than one look may ask
    TIMEOUT = "Timeout"
    NOT_FOUND = "NotFound"  # the kind or the resource is not served there
    EMPTY = "Empty"  # asked, and nothing came back: no data, no run, no list
    UNKNOWN = "Unknown"

    @property
    def is_false_repair(self) -> bool:
        """Whether this kind says that a repair is none, however healthy everything looks."""
        return _ORDER[self] <= _ORDER[Kind.NEIGHBOUR_BROKEN]

    @property
    def importance(self) -> int:
        """Position in the order of importance; 0 decides first."""
        return _ORDER[self]


_ORDER = {kind: position for position, kind in enumerate(Kind)}

# The kinds whose words say that a repair is none.
FALSE_REPAIRS = frozenset(kind.value for kind in Kind if kind.is_false_repair)

# After these nothing runs, or less; and what fails where nothing runs.
REMOVALS = frozenset({Kind.DELETED.value, Kind.SCALED_DOWN.value})
ABSENCES = frozenset(
    kind.value for kind in (Kind.TARGET_MISSING, Kind.NO_REPLICAS, Kind.SELECTOR_MATCHES_NOTHING, Kind.NO_ENDPOINTS)
)

# Why something could not be looked at, by the word that the reason begins with.
_BLINDNESS = {"Forbidden": Kind.FORBIDDEN, "Timeout": Kind.TIMEOUT, "NotFound": Kind.NOT_FOUND, "Empty": Kind.EMPTY}


def blindness(why: str) -> Kind:
    """The kind of a failure to look, from its reason (`Forbidden: ...`)."""
    return _BLINDNESS.get(why.partition(":")[0], Kind.UNKNOWN)


# Failures that another failure of the same scope explains: they count for no resource of their own.
CONSEQUENCES = frozenset(
    {Kind.NO_ENDPOINTS, Kind.ROLLOUT_INCOMPLETE, Kind.POD_NOT_READY, Kind.READINESS_FAILING, Kind.RESTARTING}
)
