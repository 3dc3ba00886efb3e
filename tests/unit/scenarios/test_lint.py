from __future__ import annotations

from pathlib import Path

import pytest

from sanare_lab.scenarios.lint import complaints
from sanare_lab.scenarios.loader import load, load_all
from sanare_lab.scenarios.scenario import Scenario
from tests.unit.scenarios.written import spoil, write_scenario


@pytest.mark.parametrize("scenario", load_all(), ids=lambda scenario: scenario.id)
def test_a_scenario_of_the_library_is_sound(scenario: Scenario) -> None:
    assert complaints(scenario) == ()


def test_a_copy_under_another_id_is_sound(tmp_path: Path) -> None:
    assert complaints(load(write_scenario(tmp_path))) == ()


@pytest.mark.parametrize(
    "file", ["repairs/reference.yaml", "repairs/false-service-port.yaml"], ids=["reference", "false"]
)
def test_a_scenario_without_its_controls_does_not_count(tmp_path: Path, file: str) -> None:
    folder = write_scenario(tmp_path)
    (folder / "repairs/reference-named.yaml").unlink()
    (folder / file).unlink()
    (complaint,) = complaints(load(folder))
    assert "repair" in complaint


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        pytest.param(
            "broken.yaml", "    app: cart\nspec", "    app: cart\n    fault: port\nspec", "'fault'", id="label"
        ),
        pytest.param("broken.yaml", "name: cart\n", "name: cart-broken\n", "'broken'", id="name"),
        pytest.param("broken.yaml", "targetPort: 8473", "targetPort: 8473 # 8437", "a comment", id="comment"),
        pytest.param(
            "broken.yaml", "    app: web\nspec", "    app: web\n    is: lost-parcel\nspec", "id stands", id="id"
        ),
        pytest.param(
            "incident.yaml", "Requests to", "lost-parcel of", "incident.yaml: the scenario's id", id="incident"
        ),
        pytest.param("broken.yaml", "@NONCE@", "hello", "no @NONCE@", id="no-nonce"),
        pytest.param("broken.yaml", "readinessProbe", "startupProbe", "without readinessProbe", id="no-probe"),
        pytest.param("broken.yaml", "            limits:", "            claims:", "without limits", id="no-limits"),
        pytest.param(
            "broken.yaml",
            "          securityContext:\n            allow",
            "          x:\n            allow",
            "without securityContext",
            id="no-security-context",
        ),
        pytest.param(
            "broken.yaml",
            "metadata:\n  name: web",
            "metadata:\n  namespace: shop\n  name: web",
            "names a namespace",
            id="namespace",
        ),
        pytest.param("scenario.yaml", "service: cart", "service: till", "has no Service 'till'", id="function"),
        pytest.param("scenario.yaml", "  kinds: [Unreachable]\n", "", "states no kind", id="no-kind"),
        pytest.param("repairs/reference.yaml", "result: Fixed", "result: NotFixed", "must end Fixed", id="result"),
    ],
)
def test_what_makes_a_scenario_unsound_is_said(
    tmp_path: Path, file: str, old: str, new: str, complaint: str
) -> None:
    folder = write_scenario(tmp_path)
    spoil(folder / file, old, new)
    assert any(complaint in said for said in complaints(load(folder)))


def test_a_scenario_needs_a_neighbour(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path)
    documents = (folder / "broken.yaml").read_text().split("---\n")
    (folder / "broken.yaml").write_text("---\n".join(documents[:2]))
    assert any("no neighbour" in said for said in complaints(load(folder)))
