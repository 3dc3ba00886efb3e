"""The shape of what is wrong: nothing, one thing, several, or less than before; and how much of it is repaired."""

from __future__ import annotations

import pytest

from sanare.api.verdict import CheckOutcome, CheckResult, Progress, Signal
from sanare.decision.signal import Faults, Reading, decide_signal, measure_progress

READING = Reading(
    consequences={"NoEndpoints"},
    worsened={"ScaledDown"},
    stages=("ScaledDown", "ImagePull", "ContainerConfig", "NoEndpoints", "Unreachable"),
)


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


def faults(checks: list[CheckOutcome]) -> Faults:
    return Faults.read(checks, READING)


@pytest.mark.parametrize(("now", "before", "signal"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_signal(now: list[CheckOutcome], before: list[CheckOutcome], signal: Signal) -> None:
    assert decide_signal(faults(now), faults(before), READING) is signal


def test_a_failure_that_another_explains_is_neither_a_second_fault_nor_gone() -> None:
    explained = Faults.read([IMAGE, PORT], READING, derived={("Service/web", "Unreachable")})
    assert decide_signal(explained, faults([]), READING) is Signal.SINGLE
    assert decide_signal(explained, faults([PORT]), READING) is Signal.SINGLE


BLIND = CheckOutcome(name="list", result=CheckResult.UNKNOWN, object="Pod")
AWAY = CheckOutcome(name="probes", result=CheckResult.UNKNOWN, object="Deployment/web")

PROGRESS: list[tuple[str, list[CheckOutcome], list[CheckOutcome], list[CheckOutcome], str, int]] = [
    ("the start", [IMAGE, PORT], [IMAGE, PORT], [IMAGE, PORT], "0/2", 2),
    ("one of two", [PORT], [IMAGE, PORT], [IMAGE, PORT], "1/2", 1),
    ("both", [PASSED], [PORT], [IMAGE, PORT], "2/2", 0),
    ("a repair uncovers the next fault", [CONFIG], [IMAGE], [IMAGE], "1/2", 1),
    ("an uncovered fault goes on to be repaired", [PASSED], [CONFIG], [IMAGE], "1/1", 0),
    ("one came back", [IMAGE, PORT], [PORT], [IMAGE, PORT], "0/2", 2),
    ("a false repair", [SCALED], [IMAGE], [IMAGE], "0/2", 1),
    ("consequences are no faults", [ENDPOINTS, IMAGE], [IMAGE], [IMAGE, ENDPOINTS], "0/1", 1),
    ("its pods cannot be seen", [BLIND], [IMAGE], [IMAGE], "0/1", 0),
    ("it cannot be seen itself", [AWAY], [IMAGE], [IMAGE], "0/1", 0),
    ("nothing was ever wrong", [PASSED], [], [], "", 0),
]


@pytest.mark.parametrize(
    ("now", "before", "start", "share", "resources"), [case[1:] for case in PROGRESS], ids=[c[0] for c in PROGRESS]
)
def test_progress(
    now: list[CheckOutcome],
    before: list[CheckOutcome],
    start: list[CheckOutcome],
    share: str,
    resources: int,
) -> None:
    found = measure_progress(faults(now), faults(before), faults(start), READING)
    assert (found.share, found.resources) == (share, resources)


def test_what_is_new_and_what_is_gone_is_named() -> None:
    found = measure_progress(faults([CONFIG]), faults([IMAGE, PORT]), faults([IMAGE]), READING)
    assert found == Progress(
        repaired=1,
        faults=2,
        resources=1,
        appeared=("Deployment/web ContainerConfig",),
        vanished=("Deployment/web ImagePull", "Service/web Unreachable"),
    )


def test_the_lists_are_bounded() -> None:
    many = faults([failing(f"Service/{'x' * 300}{n}", "Unreachable") for n in range(40)])
    found = measure_progress(many, faults([]), faults([]), READING)
    assert (len(found.appeared), found.resources, found.share) == (8, 40, "0/40")
