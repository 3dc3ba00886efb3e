"""Scenario and its controls: what a folder of the library holds, parsed. Data only, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sanare.api.incident import Incident
from sanare.api.manifest import Manifest
from sanare.api.verdict import Result


class SymptomKind(StrEnum):
    """What a person or an alert sees first. Each one can be looked up in pods, endpoints or an answer."""

    IMAGE_PULL = "ImagePull"  # a container waits with ErrImagePull or ImagePullBackOff
    WAITING = "Waiting"  # a pod waits for its configuration: ContainerCreating, CreateContainerConfigError
    CRASH = "Crash"  # a container ended with an error and is started again
    RESTARTS = "Restarts"  # a container that ran was restarted at least once
    NO_ENDPOINTS = "NoEndpoints"  # the Service has no ready endpoint
    REFUSED = "Refused"  # the Service has ready endpoints and no request gets through
    PENDING = "Pending"  # no node takes a pod
    NOT_CREATED = "NotCreated"  # the API server refuses the pods that a controller wants to create
    NOT_READY = "NotReady"  # every container runs, and one that runs is not ready
    NO_PODS = "NoPods"  # a target that asks for no pods has none
    FOREIGN = "Foreign"  # every endpoint answers, and some answers are not the app's own
    NONE = "None"  # nothing is wrong, and a person thinks so


class End(StrEnum):
    """How an Incident about the scenario rightly ends when the operator does what it can."""

    FIXED = "Fixed"  # repaired and verified
    ESCALATED = "Escalated"  # handed to a person: what repairs it is out of the operator's reach
    UNTOUCHED = "Untouched"  # found healthy, and nothing was written


class DerivedFrom(StrEnum):
    """Where the right value of a fault can be read. The first two are checked, the others believed."""

    MANIFESTS = "Manifests"  # it stands as a value elsewhere in the broken form
    PARTS = "Parts"  # it is put together from parts that each stand there, such as a name and a port
    LOG = "Log"  # the app's log says it at run time
    EVENTS = "Events"  # an event or a status of the cluster says it at run time
    NODE = "Node"  # an object outside the namespace has it, such as a label of a node
    IMAGE = "Image"  # it is the image's own default
    RANGE = "Range"  # any value of a range is right, and the form or the log says where the range begins


class _File(BaseModel):
    """Part of a scenario's file: frozen, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Function(_File):
    """The request that decides: a GET from outside the pod through the Service, answered with the run's nonce.

    Attributes:
        times: how many requests in a row must be answered so; more than one where only some of them go astray.
    """

    service: str
    port: str = Field(coerce_numbers_to_str=True)
    path: str = Field(default="/", pattern=r"^/\S*$")
    times: int = Field(default=1, ge=1, le=100)


class Fault(_File):
    """One sub-fault and the field that tells whether it is repaired; the field scores, it never decides.

    Attributes:
        path: keys and list positions from the object's root; a word finds the list entry of that name.
        any_of: values that are right, null for an absent field or, with the path left out, for an object that is
            to go; empty means that the field must only exist.
        derived_from: where whoever repairs can read one of them.
    """

    name: str
    kind: str
    object: str = Field(pattern=r"^[A-Z][A-Za-z]+/[a-z0-9.-]+$")
    path: tuple[str | int, ...] = ("metadata", "name")
    any_of: tuple[str | int | None, ...] = ()
    derived_from: DerivedFrom = DerivedFrom.MANIFESTS


class Expectation(_File):
    """What the evaluator must say: the result, one of the kinds, and words that its reason must contain."""

    result: Result
    kinds: tuple[str, ...] = ()
    reason: str = ""


class Step(_File):
    """One kubectl command of a repair, as a person at a terminal would give it.

    Attributes:
        kubectl: the arguments after the word kubectl, quoted as for a shell; no shell runs them.
        stdin: what goes to standard input.
        save: name under which standard output is kept; later steps write it as `@NAME@`.
        fails: the cluster refuses the command; that is part of the control.
    """

    kubectl: str = Field(min_length=1)
    stdin: str = ""
    save: Annotated[str, Field(pattern=r"^([A-Z][A-Z0-9_]*)?$")] = ""
    fails: bool = False


class Repair(_File):
    """What somebody does about the fault, and what must be said about it afterwards."""

    title: str
    steps: tuple[Step, ...] = Field(min_length=1)
    expect: Expectation


class ScenarioFile(_File):
    """scenario.yaml."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{1,40}$")
    title: str
    symptom: SymptomKind
    function: Function
    faults: tuple[Fault, ...] = ()
    derivation: str
    nothing: Expectation
    end: End = End.FIXED


class ControlKind(StrEnum):
    """The three sorts of control that a scenario needs."""

    REFERENCE = "reference"  # a right repair: must pass
    NOTHING = "nothing"  # no repair: must fail
    FALSE = "false"  # a repair that only looks right: must fail for the stated reason


@dataclass(frozen=True, slots=True)
class Control:
    """One thing to do to the broken form, and the verdict that must follow."""

    name: str
    kind: ControlKind
    title: str
    steps: tuple[Step, ...]
    expect: Expectation


@dataclass(frozen=True, slots=True)
class Scenario:
    """A folder of the library.

    Attributes:
        broken: the text of broken.yaml, `@NONCE@` still in it.
        incident: the Incident, in the namespace `shop` until it is placed.
        controls: references, then nothing, then the false repairs.
        end: how an Incident about it rightly ends.
    """

    id: str
    title: str
    symptom: SymptomKind
    function: Function
    faults: tuple[Fault, ...]
    derivation: str
    broken: str
    manifests: tuple[Manifest, ...]
    incident: Incident
    controls: tuple[Control, ...]
    end: End = End.FIXED

    @property
    def is_broken(self) -> bool:
        """Whether anything is wrong at all."""
        return self.symptom is not SymptomKind.NONE

    def of_kind(self, kind: ControlKind) -> tuple[Control, ...]:
        """The controls of one sort."""
        return tuple(control for control in self.controls if control.kind is kind)

    def placed(self, namespace: str) -> Incident:
        """The Incident in the namespace of a run."""
        metadata = self.incident.metadata.model_copy(update={"namespace": namespace})
        return self.incident.model_copy(update={"metadata": metadata})
