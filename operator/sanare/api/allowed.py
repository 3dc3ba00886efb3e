"""What a person allows although a rule would call it a false repair."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from sanare.api.model import Model, ObjectName


class Weakening(StrEnum):
    """The words of the rules that tell a false repair, in the order in which they decide."""

    DELETED = "Deleted"
    REPLACED = "Replaced"
    SCALED_DOWN = "ScaledDown"
    QUOTA_DELETED = "QuotaDeleted"
    QUOTA_LOOSENED = "QuotaLoosened"
    POLICY_DELETED = "PolicyDeleted"
    POLICY_LOOSENED = "PolicyLoosened"
    RBAC_WIDENED = "RBACWidened"
    CLAIM_REPLACED = "ClaimReplaced"
    STAND_IN_CREATED = "StandInCreated"
    OPTIONAL_ADDED = "OptionalAdded"
    REFERENCE_REMOVED = "ReferenceRemoved"
    SECURITY_WEAKENED = "SecurityWeakened"
    PLACEMENT_WIDENED = "PlacementWidened"
    PRIORITY_RAISED = "PriorityRaised"
    IMAGE_SWAPPED = "ImageSwapped"
    COMMAND_REPLACED = "CommandReplaced"
    SIDECAR_ADDED = "SidecarAdded"
    CONTAINER_REMOVED = "ContainerRemoved"
    PROBE_REMOVED = "ProbeRemoved"
    PROBE_SOFTENED = "ProbeSoftened"
    LIMITS_WEAKENED = "LimitsWeakened"
    ROLLOUT_HELD = "RolloutHeld"
    VALUE_CONTRADICTED = "ValueContradicted"
    SHADOW_SERVICE = "ShadowService"
    SHADOW_WORKLOAD = "ShadowWorkload"
    MANUAL_ENDPOINTS = "ManualEndpoints"
    POD_ORPHANED = "PodOrphaned"
    PORT_REMOVED = "PortRemoved"
    SERVICE_TYPE_CHANGED = "ServiceTypeChanged"
    SELECTOR_WIDENED = "SelectorWidened"
    NOT_READY_PUBLISHED = "NotReadyPublished"
    NEIGHBOUR_BROKEN = "NeighbourBroken"


class AllowedChange(Model):
    """One change to one object that counts as part of the repair."""

    kind: Weakening
    """The rule's word, for example ScaledDown, as a verdict shows it."""
    object: ObjectName = Field(pattern=r"^[A-Z][A-Za-z0-9]{0,62}/[^/\s]{1,253}$")
    """The object that it may bite on, as Kind/name, for example Deployment/web."""
