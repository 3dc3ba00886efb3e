"""A reference to what is not there is repaired by what the namespace has, or by what it documents."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from sanare.diagnosis.documents import documented_config_maps
from tests.unit.diagnosis.builders import (
    App,
    Object,
    app,
    box,
    config_map,
    found,
    only,
    patch_of,
    snapshot,
    thing,
    values,
    waiting,
)

STUCK = waiting("ContainerCreating")


def with_volume(source: Object, **container: Any) -> App:
    return app("web", box(**container), state=STUCK, volumes=[{"name": "settings", **source}])


def of_map(name: str, **source: Any) -> Object:
    return {"configMap": {"name": name, **source}}


def with_env(**entry: Any) -> App:
    return app("web", box(env=[{"name": "MODE", **entry}]), state=waiting("CreateContainerConfigError"))


MOUNT = [{"name": "settings", "mountPath": "/etc/shop"}]
ITEMS = [{"key": "web.conf", "path": "web.conf"}]

ONE_CANDIDATE: dict[str, tuple[list[App | Object], str, str]] = {
    "a ConfigMap's name in a volume": (
        [with_volume(of_map("web-conf")), config_map("web-config"), config_map("cart-config")],
        "ConfigMapMissing",
        "web-config",
    ),
    "of two near names the one with the key": (
        [
            with_volume(of_map("cfg-x", items=ITEMS)),
            config_map("cfg-y", {"web.conf": ""}),
            config_map("cfg-z", {"other": ""}),
        ],
        "ConfigMapMissing",
        "cfg-y",
    ),
    "the only one with the key": (
        [
            with_volume(of_map("nothing-like-it", items=ITEMS)),
            config_map("front", {"web.conf": ""}),
            config_map("back", {"db.conf": ""}),
        ],
        "ConfigMapMissing",
        "front",
    ),
    "the only one with the file that the command names": (
        [
            with_volume(of_map("gone"), command=["serve", "--config=/etc/shop/web.conf"], volumeMounts=MOUNT),
            config_map("front", {"web.conf": ""}),
            config_map("back", {"db.conf": ""}),
        ],
        "ConfigMapMissing",
        "front",
    ),
    "envFrom": (
        [
            app("web", box(envFrom=[{"configMapRef": {"name": "web-confg"}}]), state=STUCK),
            config_map("web-config"),
        ],
        "ConfigMapMissing",
        "web-config",
    ),
    "a variable's key": (
        [
            with_env(valueFrom={"configMapKeyRef": {"name": "web", "key": "mod"}}),
            config_map("web", {"mode": "1", "region": "x"}),
        ],
        "ConfigMapKeyMissing",
        "mode",
    ),
    "a variable's key that another ConfigMap has": (
        [
            with_env(valueFrom={"configMapKeyRef": {"name": "web", "key": "mode"}}),
            config_map("web", {"region": "x"}),
            config_map("common", {"mode": "1"}),
        ],
        "ConfigMapKeyMissing",
        "common",
    ),
    "a claim's name": (
        [
            with_volume({"persistentVolumeClaim": {"claimName": "data-wbe"}}),
            thing("PersistentVolumeClaim", "data-web"),
            thing("PersistentVolumeClaim", "other"),
        ],
        "PersistentVolumeClaimMissing",
        "data-web",
    ),
    "the name of a claim whose files the app asks for": (
        [
            app(
                "web",
                box(
                    env=[{"name": "REQUIRE_FILES", "value": "/var/lib/web/main.db"}],
                    volumeMounts=[{"name": "state", "mountPath": "/var/lib/web"}],
                ),
                state=STUCK,
                volumes=[{"name": "state", "persistentVolumeClaim": {"claimName": "web-states"}}],
            ),
            thing("PersistentVolumeClaim", "web-state"),
            thing("PersistentVolumeClaim", "spare"),
        ],
        "PersistentVolumeClaimMissing",
        "web-state",
    ),
    "the only claim that nobody uses": (
        [
            with_volume({"persistentVolumeClaim": {"claimName": "gone"}}),
            thing("PersistentVolumeClaim", "records"),
        ],
        "PersistentVolumeClaimMissing",
        "records",
    ),
    "a service account": (
        [
            app("web", state=STUCK, serviceAccountName="web-runer"),
            thing("ServiceAccount", "web-runner"),
            thing("ServiceAccount", "default"),
        ],
        "ServiceAccountMissing",
        "web-runner",
    ),
}


@pytest.mark.parametrize(("parts", "kind", "value"), ONE_CANDIDATE.values(), ids=ONE_CANDIDATE)
def test_one_candidate_is_the_repair(parts: list[App | Object], kind: str, value: str) -> None:
    finding = only(found(*parts), kind)
    assert values(finding) == [value]
    test, replace = patch_of(finding)
    assert (test["value"], replace["value"]) == (finding.observed, value)
    assert test["path"] == replace["path"]


NO_REPAIR: dict[str, list[App | Object]] = {
    "two names equally near": [with_volume(of_map("cfg-x")), config_map("cfg-y"), config_map("cfg-z")],
    "nothing like it and no key to go by": [with_volume(of_map("gone")), config_map("front")],
    "two that have the key": [
        with_volume(of_map("gone", items=ITEMS)),
        config_map("front", {"web.conf": "1"}),
        config_map("back", {"web.conf": "2"}),
    ],
    "what every namespace has": [
        app("web", state=STUCK, serviceAccountName="defaul"),
        thing("ServiceAccount", "default"),
    ],
    "two claims that nobody uses": [
        with_volume({"persistentVolumeClaim": {"claimName": "gone"}}),
        thing("PersistentVolumeClaim", "records"),
        thing("PersistentVolumeClaim", "photos"),
    ],
}


@pytest.mark.parametrize("parts", NO_REPAIR.values(), ids=NO_REPAIR)
def test_doubt_is_said_and_not_repaired(parts: list[App | Object]) -> None:
    (finding,) = found(*parts)
    assert finding.repair is None
    assert finding.missing


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([with_volume(of_map("gone", optional=True)), config_map("gon")], id="optional"),
        pytest.param([with_volume(of_map("web-config")), config_map("web-config")], id="there"),
        pytest.param(
            [app("web", volumes=[{"name": "s", **of_map("web-conf")}]), config_map("web-config")],
            id="missing, while all pods run",
        ),
    ],
)
def test_what_is_no_fault_gives_no_finding(parts: list[App | Object]) -> None:
    assert found(*parts) == ()


def test_every_reference_to_the_same_missing_object_is_changed_in_one_patch() -> None:
    sources = [{"configMapRef": {"name": "web-confg"}}]
    broken = app("web", box(envFrom=sources), box("helper", envFrom=sources), state=STUCK)
    finding = only(found(broken, config_map("web-config")), "ConfigMapMissing")
    paths = [operation["path"] for operation in patch_of(finding) if operation["op"] == "replace"]
    assert paths == [f"/spec/template/spec/containers/{n}/envFrom/0/configMapRef/name" for n in (0, 1)]


def test_a_kind_that_could_not_be_listed_is_not_taken_for_empty() -> None:
    from sanare.diagnosis.diagnose import diagnose
    from tests.unit.diagnosis.builders import incident

    broken = with_volume({"persistentVolumeClaim": {"claimName": "data"}})
    unseen = {"PersistentVolumeClaim": "Forbidden: no right"}
    assert diagnose(snapshot(broken, unseen=unseen), incident("Deployment/web")) == ()


SECRET_ENV = {"valueFrom": {"secretKeyRef": {"name": "web-tokn", "key": "key"}}}


def test_a_secret_is_repaired_from_what_running_pods_use() -> None:
    broken = app(
        "web",
        box(env=[{"name": "KEY", **SECRET_ENV}]),
        state=waiting("CreateContainerConfigError", 'secret "web-tokn" not found'),
    )
    neighbour = app("cart", box("cart", envFrom=[{"secretRef": {"name": "web-token"}}]))
    finding = only(found(broken, neighbour), "SecretMissing")
    assert values(finding) == ["web-token"]
    assert only(found(broken), "SecretMissing").repair is None


def test_a_secret_that_nobody_complains_of_is_left_alone() -> None:
    assert found(app("web", box(env=[{"name": "KEY", **SECRET_ENV}]), state=STUCK)) == ()


MANIFEST = (
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: api-settings\n  labels: {a: b}\ndata:\n  MODE: fast\n"
)
DOCUMENTS = {
    "a manifest alone": MANIFEST,
    "a manifest after prose": "Apply this before the first start.\n\n" + MANIFEST,
    "a fenced block": f"# Settings\n```yaml\n{MANIFEST}```\nThat is all.\n",
    "one of several documents": f"apiVersion: v1\nkind: Secret\nmetadata: {{name: api-settings}}\n---\n{MANIFEST}",
}


@pytest.mark.parametrize("content", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_documented_config_map_is_created_as_documented(content: str) -> None:
    broken = app("web", box(envFrom=[{"configMapRef": {"name": "api-settings"}}]), state=STUCK)
    near = config_map("api-setting", {"MODE": "slow"})
    finding = only(found(broken, near, config_map("handbook", {"about": content})), "ConfigMapMissing")
    assert finding.repair is not None
    (command,) = finding.repair.commands
    assert command.argv == ("apply", "-f", "-")
    assert yaml.safe_load(command.stdin) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "api-settings"},
        "data": {"MODE": "fast"},
    }


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(MANIFEST.replace("ConfigMap", "Secret"), id="another kind"),
        pytest.param(MANIFEST.replace("api-settings", "api-settings-2"), id="another name"),
        pytest.param(MANIFEST.replace("MODE: fast", "MODE: [1, 2]"), id="values that are no text"),
        pytest.param(MANIFEST + "\n  B: …[9000 bytes]", id="a value that was cut"),
        pytest.param("api-settings: {unclosed", id="no YAML at all"),
        pytest.param("a: &a [1]\nb: *nowhere api-settings", id="an alias to nothing"),
    ],
)
def test_what_is_not_exactly_documented_is_not_created(content: str) -> None:
    assert documented_config_maps((config_map("handbook", {"about": content}),), "api-settings") == ()


def test_two_documented_contents_are_a_doubt() -> None:
    broken = app("web", box(envFrom=[{"configMapRef": {"name": "api-settings"}}]), state=STUCK)
    books = [config_map("one", {"a": MANIFEST}), config_map("two", {"a": MANIFEST.replace("fast", "slow")})]
    finding = only(found(broken, *books), "ConfigMapMissing")
    assert finding.repair is None
    assert "documented" in finding.missing
