"""A file that the process asks for is brought by the volume that was meant to bring it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.diagnosis.builders import App, Object, app, box, config_map, crashed, found, only, patch_of

LOG = "app: missing required file /etc/shop/web.conf"


def broken(source: Object, mount: str = "/etc/shop", **more: Any) -> App:
    mounts = [{"name": "settings", "mountPath": mount, **more}]
    return app(
        "web", box(volumeMounts=mounts), state=crashed(LOG), volumes=[{"name": "settings", "configMap": source}]
    )


ITEMS = [{"key": "web", "path": "web.cnf"}]
ONE_CANDIDATE: dict[str, tuple[list[App | Object], str, str]] = {
    "a slip in an item's path": (
        [broken({"name": "web", "items": ITEMS}), config_map("web", {"web": ""})],
        "/spec/template/spec/volumes/0/configMap/items/0/path",
        "web.conf",
    ),
    "another ConfigMap has the file": (
        [broken({"name": "web"}), config_map("web", {"other": ""}), config_map("front", {"web.conf": ""})],
        "/spec/template/spec/volumes/0/configMap/name",
        "front",
    ),
    "mounted at a misspelt folder": (
        [broken({"name": "web"}, mount="/etc/shp"), config_map("web", {"web.conf": ""})],
        "/spec/template/spec/containers/0/volumeMounts/0/mountPath",
        "/etc/shop",
    ),
}


@pytest.mark.parametrize(("parts", "path", "value"), ONE_CANDIDATE.values(), ids=ONE_CANDIDATE)
def test_one_way_is_the_repair(parts: list[App | Object], path: str, value: str) -> None:
    finding = only(found(*parts), "RequiredFileMissing")
    assert patch_of(finding)[1] == {"op": "replace", "path": path, "value": value}


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([broken({"name": "web"}), config_map("web")], id="nobody has it"),
        pytest.param(
            [
                broken({"name": "web"}),
                config_map("web"),
                config_map("a", {"web.conf": ""}),
                config_map("b", {"web.conf": ""}),
            ],
            id="two have it",
        ),
        pytest.param(
            [broken({"name": "web"}, mount="/srv"), config_map("web", {"web.conf": ""})], id="another folder"
        ),
    ],
)
def test_doubt_is_said_and_not_repaired(parts: list[App | Object]) -> None:
    finding = only(found(*parts), "RequiredFileMissing")
    assert finding.repair is None
    assert finding.missing
