from __future__ import annotations

from typing import Any

import pytest

from sanare_lab.controls.symptom import Scene, is_proved_broken, repaired
from sanare_lab.scenarios.loader import load_all
from sanare_lab.scenarios.scenario import Fault, SymptomKind

SCENARIOS = {scenario.symptom: scenario for scenario in load_all()}


def deployment(name: str, *, available: int = 1) -> dict[str, Any]:
    status = {"observedGeneration": 1, "updatedReplicas": 1, "availableReplicas": available}
    return {"metadata": {"name": name, "generation": 1}, "spec": {"replicas": 1}, "status": status}


def pod(state: dict[str, Any], *, last: dict[str, Any] | None = None, restarts: int = 0) -> dict[str, Any]:
    status = {"state": state, "lastState": last or {}, "restartCount": restarts}
    return {"metadata": {"name": "p"}, "status": {"containerStatuses": [status]}}


def endpoints(service: str, *, ready: bool) -> dict[str, Any]:
    labels = {"kubernetes.io/service-name": service}
    return {"metadata": {"labels": labels}, "endpoints": [{"conditions": {"ready": ready}}]}


def waiting(reason: str) -> dict[str, Any]:
    return pod({"waiting": {"reason": reason}})


RUNNING: dict[str, Any] = pod({"running": {}})
WARNING = {"type": "Warning", "reason": "FailedMount"}
CRASHED = pod({"running": {}}, last={"terminated": {"exitCode": 1}}, restarts=1)


@pytest.mark.parametrize(
    ("symptom", "pods", "events", "ready", "shows"),
    [
        pytest.param(SymptomKind.IMAGE_PULL, [waiting("ImagePullBackOff")], [], False, True, id="image-pull"),
        pytest.param(SymptomKind.IMAGE_PULL, [waiting("ContainerCreating")], [], False, False, id="not-pulled-yet"),
        pytest.param(SymptomKind.WAITING, [waiting("ContainerCreating")], [WARNING], False, True, id="waiting"),
        pytest.param(SymptomKind.WAITING, [waiting("ContainerCreating")], [], False, False, id="merely-created"),
        pytest.param(SymptomKind.CRASH, [CRASHED], [], False, True, id="crash"),
        pytest.param(SymptomKind.CRASH, [RUNNING], [], False, False, id="no-crash"),
        pytest.param(SymptomKind.RESTARTS, [pod({"running": {}}, restarts=1)], [], True, True, id="restarts"),
        pytest.param(SymptomKind.RESTARTS, [RUNNING], [], True, False, id="no-restart"),
        pytest.param(SymptomKind.NO_ENDPOINTS, [RUNNING], [], False, True, id="no-endpoints"),
        pytest.param(SymptomKind.NO_ENDPOINTS, [RUNNING], [], True, False, id="endpoints"),
        pytest.param(SymptomKind.REFUSED, [RUNNING], [], True, True, id="refused"),
        pytest.param(SymptomKind.REFUSED, [RUNNING], [], False, False, id="refused-without-endpoints"),
    ],
)
def test_a_fault_is_proved_when_its_symptom_shows(
    symptom: SymptomKind, pods: list[Any], events: list[Any], ready: bool, shows: bool
) -> None:
    scenario = SCENARIOS[symptom]
    objects = {
        "Pod": tuple(pods),
        "Event": tuple(events),
        "EndpointSlice": (endpoints(scenario.function.service, ready=ready),),
        "Deployment": (deployment(scenario.function.service),),
    }
    assert is_proved_broken(scenario, Scene(objects, answered=False)) is shows
    assert not is_proved_broken(scenario, Scene(objects, answered=True))


def test_nothing_is_proved_while_a_neighbour_is_not_well() -> None:
    objects = {"Pod": (waiting("ErrImagePull"),), "Deployment": (deployment("stranger", available=0),)}
    assert not is_proved_broken(SCENARIOS[SymptomKind.IMAGE_PULL], Scene(objects, answered=False))


SERVICE = {
    "metadata": {"name": "web"},
    "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "targetPort": 80}]},
}


@pytest.mark.parametrize(
    ("path", "any_of", "right"),
    [
        pytest.param(("spec", "ports", 0, "targetPort"), (80, "http"), 1, id="value"),
        pytest.param(("spec", "ports", "http", "targetPort"), (80,), 1, id="by-name"),
        pytest.param(("spec", "ports", 0, "targetPort"), (81,), 0, id="other-value"),
        pytest.param(("spec", "selector", "tier"), ("back", None), 1, id="absent-is-right"),
        pytest.param(("spec", "selector", "tier"), (), 0, id="absent-is-wrong"),
        pytest.param(("metadata", "name"), (), 1, id="exists"),
    ],
)
def test_a_sub_fault_is_scored_by_its_field(
    path: tuple[str | int, ...], any_of: tuple[Any, ...], right: int
) -> None:
    fault = Fault(name="f", kind="F", object="Service/web", path=path, any_of=any_of)
    assert repaired([fault], Scene({"Service": (SERVICE,)}, answered=False)) == right
    assert repaired([fault], Scene({}, answered=False)) == 0
