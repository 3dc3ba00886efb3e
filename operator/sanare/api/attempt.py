"""Attempt: one climb of a rung as the status keeps it, with what it wrote and how its repair was proved."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from sanare.api.model import Model, ObjectName, Time
from sanare.api.verdict import Result, Signal


class Tier(StrEnum):
    """The rungs of the ladder, named as in Algorithm 1 of the study."""

    PLAIN_RETRY = "PlainRetry"
    REFLECTION_RETRY = "ReflectionRetry"
    STRONGER_MODEL = "StrongerModel"
    HUMAN = "Human"


class AttemptState(StrEnum):
    """How far an attempt got. `Running` found by a worker that did not start it means a crash.

    An attempt is judged when its `result` is set, whichever of the last two states it ended in.
    """

    RUNNING = "Running"
    ACTED = "Acted"
    INTERRUPTED = "Interrupted"


class Mutation(Model):
    """One write that reached the API server (or, with `dryRun`, would have)."""

    at: Time
    """When the API server took it."""
    verb: str = Field(max_length=16)
    """The request's verb: create, update, patch or delete."""
    object: str = Field(max_length=320)
    """The object written, as Kind/name."""
    summary: str = Field(default="", max_length=300)
    """What changed."""
    undone: bool = False
    """Whether it has been taken back."""


class DurabilityState(StrEnum):
    """How far the test of a repair's durability got. `Intended` found after a crash is gone on with."""

    INTENDED = "Intended"  # the pod is about to be deleted
    DELETED = "Deleted"  # it was deleted; what comes back is being verified
    BLOCKED = "Blocked"  # it may not or cannot be deleted
    PASSED = "Passed"  # what came back was healthy for the hold
    FAILED = "Failed"  # what came back was not


class Durability(Model):
    """One pod of a repaired workload, deleted so that the repair is proved on a new one."""

    state: DurabilityState
    """Intended, Deleted, Blocked, Passed or Failed."""
    workload: ObjectName = ""
    """The workload, as Kind/name."""
    pod: str = Field(default="", max_length=253)
    """Name of the pod."""
    uid: str = Field(default="", max_length=64)
    """Its uid: this very pod is deleted and no other."""
    at: Time
    """When the deletion began; of the other states, when they were reached."""
    message: str = Field(default="", max_length=1024)
    """Why it is blocked."""


class Attempt(Model):
    """One climb of a rung: who acted, what was done, what came of it."""

    number: int
    """Number of the attempt, from 1."""
    tier: Tier
    """The step of the ladder it belongs to."""
    model: str = Field(default="", max_length=128)
    """The model that acted; empty for the runbook."""
    state: AttemptState
    """Running, Acted or Interrupted (the operator stopped in the middle of it)."""
    started_at: Time
    """When it began."""
    ended_at: Time | None = None
    """When it was judged or interrupted."""
    result: Result | None = None
    """The verdict on it."""
    signal: Signal = Signal.NONE
    """The verdict's signal."""
    reason: str = Field(default="", max_length=1024)
    """The verdict's reason."""
    end: str = Field(default="", max_length=64)
    """How the actor's turn ended, for example Complete or Timeout. It says nothing about success."""
    note: str = Field(default="", max_length=300)
    """The actor's own last words, cut."""
    mutations: tuple[Mutation, ...] = Field(default=(), max_length=16)
    """The writes it made, the first ones where there are many."""
    mutation_count: int = 0
    """How many writes it made."""
    undone: bool = False
    """Whether its writes have been taken back."""
    leftovers: tuple[ObjectName, ...] = Field(default=(), max_length=8)
    """What could not be taken back."""
    durability: Durability | None = None
    """The test of the repair on a new pod, where the policy asks for one."""
