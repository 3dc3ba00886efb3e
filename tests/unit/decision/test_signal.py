"""The shape of what is wrong: nothing, one thing, several, or less than before."""

from __future__ import annotations

import pytest

from sanare.api.status import CheckOutcome, CheckResult, Signal
from sanare.decision.signal import decide_signal

STAGES = ("ScaledDown", "ImagePull", "ContainerConfig", "NoEndpoints", "Unreachable")


def failing(object_: str, kind: str) -> CheckOutcome:
    return CheckOutcome(name="check", result=CheckResult.FAILED, kind=kind, object=object_)


IMAGE = failing("Deployment/web", "ImagePull")
CONFIG = failing("Deployment/web", "ContainerConfig")
ENDPOINTS = failing("Service/web", "NoEndpoints")
PORT = failing("Service/web", "Unreachable")
SCALED = failing("Deployment/web", "ScaledDown")
PASSED = CheckOutcome(name="check", result=CheckResult.PASSED, object="Deployment/web")

CASES: list[tuple[str, list[CheckOutcome], list[CheckOutcome], Signal]] = [
    ("nothing is wrong", [PASSED], [IMAGE], Signal.NONE),
    ("the same is wrong", [IMAGE], [IMAGE], Signal.SINGLE),
    ("one thing, seen first", [IMAGE], [], Signal.SINGLE),
    ("a consequence is no second fault", [IMAGE, ENDPOINTS], [], Signal.SINGLE),
    ("only consequences", [ENDPOINTS], [], Signal.SINGLE),
    ("two resources", [IMAGE, PORT], [], Signal.MULTI),
    ("two of one resource", [IMAGE, CONFIG], [], Signal.SINGLE),
    ("the first of two is repaired", [PORT], [IMAGE, ENDPOINTS], Signal.PARTIAL),
    ("the next stage of the same object", [CONFIG], [IMAGE], Signal.PARTIAL),
    ("an earlier stage of the same object", [IMAGE], [CONFIG], Signal.SINGLE),
    ("a Service whose pods are broken now", [IMAGE, ENDPOINTS], [PORT], Signal.SINGLE),
    ("one of two is repaired", [PORT], [IMAGE, PORT], Signal.PARTIAL),
    ("a false repair is no progress", [SCALED], [IMAGE], Signal.SINGLE),
    ("a consequence that went is no progress", [IMAGE], [IMAGE, ENDPOINTS], Signal.SINGLE),
]


@pytest.mark.parametrize(("now", "before", "signal"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_signal(now: list[CheckOutcome], before: list[CheckOutcome], signal: Signal) -> None:
    found = decide_signal(now, before, consequences={"NoEndpoints"}, worsened={"ScaledDown"}, stages=STAGES)
    assert found is signal
