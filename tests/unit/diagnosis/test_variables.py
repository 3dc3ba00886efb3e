"""A variable that the process asks for is taken from where the cluster has it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.diagnosis.builders import (
    App,
    Object,
    app,
    box,
    config_map,
    crashed,
    found,
    only,
    patch_of,
    running,
    values,
)

LOG = "app: starting\napp: missing required environment variable SHOP_REGION"
REFUSED = "app: environment variable SHOP_REGION has a value that is not accepted"


def broken(log: str = LOG, **container: Any) -> App:
    return app("web", box(**container), state=crashed(log))


def from_map(name: str, key: str = "SHOP_REGION") -> Object:
    return {"name": "SHOP_REGION", "valueFrom": {"configMapKeyRef": {"name": name, "key": key}}}


def entry_of(body: Any) -> Any:
    return body["spec"]["template"]["spec"]["containers"][0]["env"][0]


MODE = {"name": "MODE", "value": "x"}
ONE_CANDIDATE: dict[str, tuple[list[App | Object], Object]] = {
    "the only key of that name": (
        [broken(), config_map("settings", {"SHOP_REGION": "eu", "SHOP_MODE": "x"})],
        from_map("settings"),
    ),
    "a key written otherwise": (
        [broken(), config_map("settings", {"shop.region": "eu"})],
        from_map("settings", "shop.region"),
    ),
    "an empty value gives way": (
        [broken(env=[{"name": "SHOP_REGION", "value": ""}]), config_map("settings", {"SHOP_REGION": "eu"})],
        {**from_map("settings"), "value": None},
    ),
    "a ready neighbour with the same image": (
        [broken(), app("cart", box("cart", env=[from_map("common", "region")]))],
        from_map("common", "region"),
    ),
    "an earlier revision": (
        [app("web", box(), state=crashed(LOG), old=[(box(env=[{"name": "SHOP_REGION", "value": "eu"}]), 0)])],
        {"name": "SHOP_REGION", "value": "eu"},
    ),
    "a line of documentation": (
        [broken(), config_map("handbook", {"README": "Regions\n\n- `SHOP_REGION=eu-1`\n"})],
        {"name": "SHOP_REGION", "value": "eu-1"},
    ),
}


@pytest.mark.parametrize(("parts", "entry"), ONE_CANDIDATE.values(), ids=ONE_CANDIDATE)
def test_one_source_is_the_repair(parts: list[App | Object], entry: Object) -> None:
    finding = only(found(*parts), "EnvironmentVariableMissing")
    assert entry_of(patch_of(finding)) == entry


def test_a_misspelt_entry_is_renamed() -> None:
    finding = only(found(broken(env=[MODE, {"name": "SHOP_REGOIN", "value": "eu"}])), "EnvironmentVariableMissing")
    assert patch_of(finding)[1] == {
        "op": "replace",
        "path": "/spec/template/spec/containers/0/env/1/name",
        "value": "SHOP_REGION",
    }


def test_a_value_that_is_refused_is_taken_from_the_config_map() -> None:
    wrong = broken(REFUSED, env=[{"name": "SHOP_REGION", "value": "mars"}])
    finding = only(found(wrong, config_map("settings", {"SHOP_REGION": "eu"})), "EnvironmentValueRefused")
    assert entry_of(patch_of(finding)) == {**from_map("settings"), "value": None}


def test_a_value_that_is_refused_is_not_set_again() -> None:
    wrong = broken(REFUSED, env=[from_map("settings")])
    assert (
        only(found(wrong, config_map("settings", {"SHOP_REGION": "eu"})), "EnvironmentValueRefused").repair is None
    )


NO_REPAIR: dict[str, list[App | Object]] = {
    "no source": [broken(), config_map("settings", {"OTHER": "1"})],
    "two ConfigMaps": [broken(), config_map("a", {"SHOP_REGION": "1"}), config_map("b", {"SHOP_REGION": "2"})],
    "two documented values": [broken(), config_map("a", {"README": "SHOP_REGION=1\nSHOP_REGION=2"})],
    "a value that only the log names": [broken(LOG + "\nset SHOP_REGION=evil to repair this")],
    "a neighbour that does not run": [
        broken(),
        app("cart", box("cart", env=[from_map("common")]), state=crashed("no")),
    ],
}


@pytest.mark.parametrize("parts", NO_REPAIR.values(), ids=NO_REPAIR)
def test_doubt_is_said_and_not_repaired(parts: list[App | Object]) -> None:
    finding = only(found(*parts), "EnvironmentVariableMissing")
    assert finding.repair is None
    assert finding.missing


def test_the_log_of_a_ready_container_gives_no_finding() -> None:
    assert found(app("web", state=running(LOG)), config_map("settings", {"SHOP_REGION": "eu"})) == ()


def test_several_missing_variables_do_not_undo_one_another() -> None:
    log = LOG + "\napp: missing required environment variable SHOP_MODE"
    settings = config_map("settings", {"SHOP_REGION": "eu", "SHOP_MODE": "x"})
    entries = [entry_of(patch_of(finding)) for finding in found(broken(log), settings)]
    assert [entry["name"] for entry in entries] == ["SHOP_REGION", "SHOP_MODE"]


def test_values_do_not_show_in_what_is_told() -> None:
    finding = only(found(broken(), config_map("a", {"README": "SHOP_REGION=hush"})), "EnvironmentVariableMissing")
    assert finding.repair is not None
    assert "hush" not in " ".join([*values(finding), finding.repair.evidence, finding.observed, finding.expected])
