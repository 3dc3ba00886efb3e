from __future__ import annotations

from pathlib import Path

import pytest

from sanare.errors import ConfigError
from sanare_lab.scenarios.loader import load, load_all
from sanare_lab.scenarios.scenario import ControlKind
from tests.unit.scenarios.written import spoil, write_scenario

FIRST_SET = {
    "wrong-port",
    "incorrect-selector",
    "liveness-probe",
    "wrong-interface",
    "port-mismatch",
    "misspelling",
    "volume-mount",
    "environment-variable",
    "double-trouble",
    "triple-threat",
    "config-and-selector",
}


def test_the_library_holds_the_first_set() -> None:
    assert {scenario.id for scenario in load_all()} >= FIRST_SET


def test_a_folder_of_ones_own_is_read_like_the_library(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    (scenario,) = load_all(tmp_path)
    assert scenario.id == "lost-parcel"
    assert [control.kind for control in scenario.controls] == [
        ControlKind.REFERENCE,
        ControlKind.REFERENCE,
        ControlKind.NOTHING,
        *[ControlKind.FALSE] * 4,
    ]


def test_an_incident_is_placed_in_the_namespace_of_a_run(tmp_path: Path) -> None:
    incident = load(write_scenario(tmp_path)).placed("run-1")
    assert incident.metadata.namespace == "run-1"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        pytest.param(
            "scenario.yaml", "symptom: Refused", "symptom: Sulking", "scenario.yaml: symptom:", id="unknown-symptom"
        ),
        pytest.param(
            "scenario.yaml", "title:", "titel:", "scenario.yaml: title: Field required", id="missing-field"
        ),
        pytest.param(
            "scenario.yaml", "derivation:", "hint: x\nderivation:", "scenario.yaml: hint:", id="unknown-field"
        ),
        pytest.param("scenario.yaml", "id: lost-parcel", "id: other", "must be the folder's name", id="other-id"),
        pytest.param("broken.yaml", "kind: Service\n", "", "broken.yaml: document 2: kind:", id="no-kind"),
        pytest.param(
            "scenario.yaml", "  path:", "  path: spec.x #", "faults.0.path: Input should be a list", id="path"
        ),
        pytest.param("broken.yaml", "spec:", "spec: [", "broken.yaml: not YAML", id="not-yaml"),
        pytest.param(
            "incident.yaml", "kind: Service", "kind: ''", "incident.yaml: spec.targets.0.kind:", id="incident"
        ),
        pytest.param(
            "repairs/reference.yaml", "kubectl:", "kubektl:", "reference.yaml: steps.0.kubectl:", id="repair"
        ),
    ],
)
def test_a_mistake_is_named_by_file_and_field(tmp_path: Path, file: str, old: str, new: str, message: str) -> None:
    folder = write_scenario(tmp_path)
    spoil(folder / file, old, new)
    with pytest.raises(ConfigError) as caught:
        load(folder)
    assert message in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path)
    (folder / "incident.yaml").unlink()
    with pytest.raises(ConfigError, match=r"incident\.yaml: No such file"):
        load(folder)


def test_an_unknown_id_is_answered_with_those_that_exist(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    with pytest.raises(ConfigError, match="there is: lost-parcel"):
        load_all(tmp_path, only=["found-parcel"])


def test_a_folder_without_scenarios_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"a folder with a scenario\.yaml"):
        load_all(tmp_path)


def test_a_scenario_that_is_named_twice_is_loaded_once() -> None:
    assert [scenario.id for scenario in load_all(only=["misspelling", "wrong-port", "misspelling"])] == [
        "misspelling",
        "wrong-port",
    ]
