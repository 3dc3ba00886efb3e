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


def test_a_scenario_without_a_reference_does_not_count(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path)
    for path in (folder / "repairs").glob("reference*.yaml"):
        path.unlink()
    (complaint,) = complaints(load(folder))
    assert complaint.startswith("no reference repair")


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
        pytest.param(
            "repairs/false-service-port.yaml",
            "[PortRemoved]",
            "[PortMoved]",
            "PortMoved is no word of the evaluator's; near: PortRemoved",
            id="kind",
        ),
        pytest.param("incident.yaml", "Requests to", "A typo in", "the word 'typo'", id="incident-hint"),
        pytest.param(
            "broken.yaml",
            "    app: web\nspec",
            "    app: web\n  annotations:\n    note: wrong target\nspec",
            "the word 'wrong'",
            id="annotation-hint",
        ),
        pytest.param(
            "scenario.yaml", "[8437, http]", "[8440]", "no other value of broken.yaml has it", id="underivable"
        ),
        pytest.param(
            "scenario.yaml",
            "any_of: [8437, http]",
            "any_of: [cart:8440]\n    derived_from: Parts",
            "not all of its parts stand",
            id="underivable-parts",
        ),
        pytest.param(
            "scenario.yaml", "object: Service/cart", "object: Service/web", "no reference touches", id="untouched"
        ),
        pytest.param(
            "scenario.yaml",
            "path: [spec, ports, 0, targetPort]",
            "path: [spec, sessionAffinity]",
            "no reference touches that field",
            id="untouched-field",
        ),
    ],
)
def test_what_makes_a_scenario_unsound_is_said(
    tmp_path: Path, file: str, old: str, new: str, complaint: str
) -> None:
    folder = write_scenario(tmp_path)
    spoil(folder / file, old, new)
    assert any(complaint in said for said in complaints(load(folder)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("any_of: [8437, http]", "any_of: [http]", id="another-value"),
        pytest.param("any_of: [8437, http]", "any_of: [8440, null]", id="absence"),
        pytest.param("    any_of: [8437, http]\n", "", id="any-value"),
        pytest.param("any_of: [8437, http]", 'any_of: ["cart:8437"]\n    derived_from: Parts', id="parts"),
        pytest.param("any_of: [8437, http]", "any_of: [8440]\n    derived_from: Log", id="the-log"),
    ],
)
def test_a_right_value_that_can_be_read_is_let_pass(tmp_path: Path, old: str, new: str) -> None:
    folder = write_scenario(tmp_path)
    spoil(folder / "scenario.yaml", old, new)
    assert complaints(load(folder)) == ()


def test_the_field_at_fault_is_no_place_to_read_its_right_value(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path)
    spoil(folder / "scenario.yaml", "[8437, http]", "[8473]")
    assert any("no other value" in said for said in complaints(load(folder)))
    spoil(
        folder / "broken.yaml", "  name: web\n  labels:", "  name: web\n  annotations: {port: at 8473}\n  labels:"
    )
    assert complaints(load(folder)) == ()


def test_fewer_than_three_false_repairs_are_too_few(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path)
    false = sorted((folder / "repairs").glob("false-*.yaml"))
    for path in false[2:]:
        path.unlink()
    (complaint,) = complaints(load(folder))
    assert complaint.startswith("fewer than three false repairs")


def test_two_controls_of_the_same_steps_are_one(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path)
    text = (folder / "repairs/false-service-port.yaml").read_text().replace("patch service", "patch  service")
    (folder / "repairs/false-zone.yaml").write_text(text)
    assert complaints(load(folder)) == ("false-zone: does the same as false-service-port",)


SECRET = """---
apiVersion: v1
kind: Secret
metadata:
  name: cart-key
data:
  key: b3Blbi1zZXNhbWU=
stringData:
  hint: "@NONCE@"
"""


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        pytest.param("broken.yaml", 'value: "8437"', 'value: "8437 open-sesame"', id="another-object"),
        pytest.param("incident.yaml", "Requests to", "Without open-sesame requests to", id="the-incident"),
        pytest.param(
            "repairs/reference.yaml", "patch service", "patch -l k=b3Blbi1zZXNhbWU= service", id="a-repair"
        ),
    ],
)
def test_the_value_of_a_secret_stands_nowhere_else(tmp_path: Path, file: str, old: str, new: str) -> None:
    folder = write_scenario(tmp_path)
    broken = folder / "broken.yaml"
    broken.write_text(broken.read_text() + SECRET)
    assert complaints(load(folder)) == ()
    spoil(folder / file, old, new)
    assert any("Secret/cart-key stands in the open" in said for said in complaints(load(folder)))


def test_a_scenario_needs_a_neighbour(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path)
    documents = (folder / "broken.yaml").read_text().split("---\n")
    (folder / "broken.yaml").write_text("---\n".join(documents[:2]))
    assert any("no neighbour" in said for said in complaints(load(folder)))
