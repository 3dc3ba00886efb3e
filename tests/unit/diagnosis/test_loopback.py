"""A process that keeps to loopback is opened where its address is set."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.diagnosis.builders import (
    App,
    Object,
    app,
    box,
    config_map,
    found,
    only,
    patch_of,
    refused,
    running,
    service,
    service_refused,
)

LOG = "app: listening on 127.0.0.1:8080"
EVERY = "0.0.0.0"  # noqa: S104 - what the analyzer is to write, nothing binds here
DOWN = refused("web", 8080)
FROM_MAP = [{"configMapRef": {"name": "settings"}}]


def web(log: str = LOG, *, volumes: list[Object] | None = None, **container: Any) -> App:
    return app("web", box(**container), state=running(log), volumes=volumes or [])


def env(**values_: str) -> list[Object]:
    return [{"name": name, "value": value} for name, value in values_.items()]


def entry_of(body: Any) -> Any:
    return body["spec"]["template"]["spec"]["containers"][0]["env"][0]


@pytest.mark.parametrize(
    ("variables", "name", "value"),
    [
        pytest.param(env(BIND="127.0.0.1"), "BIND", EVERY, id="an address"),
        pytest.param(env(LISTEN_ADDR="127.0.0.1:8080"), "LISTEN_ADDR", "0.0.0.0:8080", id="its port stays"),
        pytest.param(env(HOST="localhost"), "HOST", EVERY, id="a host name"),
        pytest.param(env(BIND="[::1]:8080"), "BIND", "[::]:8080", id="IPv6"),
        pytest.param(env(DB_HOST="127.0.0.1", SERVER_HOST="127.0.0.1"), "SERVER_HOST", EVERY, id="not a client's"),
        pytest.param(env(HOST="127.0.0.1", BIND="127.0.0.1"), "BIND", EVERY, id="the plainer of two names"),
    ],
)
def test_a_variable_is_opened(variables: list[Object], name: str, value: str) -> None:
    finding = only(found(web(env=variables), service("web"), answers=DOWN), "ListensOnLoopback")
    assert entry_of(patch_of(finding)) == {"name": name, "value": value}


def test_a_config_map_of_its_own_is_changed_and_the_pods_are_restarted() -> None:
    parts = (web(envFrom=FROM_MAP), config_map("settings", {"BIND": "127.0.0.1"}), service("web"))
    finding = only(found(*parts, answers=DOWN), "ListensOnLoopback")
    assert finding.repair is not None
    change, again = finding.repair.commands
    assert change.argv[:2] == ("patch", "configmap/settings")
    assert again.argv == ("rollout", "restart", "deployment/web")
    assert patch_of(finding)[1] == {"op": "replace", "path": "/data/BIND", "value": EVERY}


@pytest.mark.parametrize(
    ("holder", "reader"),
    [
        pytest.param(
            config_map("settings", {"BIND": "127.0.0.1"}), app("cart", box("cart", envFrom=FROM_MAP)), id="shared"
        ),
        pytest.param(config_map("settings", {"BIND": "127.0.0.1"}, immutable=True), app("cart"), id="immutable"),
    ],
)
def test_a_config_map_that_may_not_be_changed_is_overridden(holder: Object, reader: App) -> None:
    finding = only(found(web(envFrom=FROM_MAP), holder, reader, service("web"), answers=DOWN), "ListensOnLoopback")
    assert entry_of(patch_of(finding)) == {"name": "BIND", "value": EVERY}


def test_a_line_of_a_mounted_file_is_changed_alone() -> None:
    content = "workers: 2\nbind: 127.0.0.1:8080\nupstream: 127.0.0.1:9000\n"
    volumes = [{"name": "conf", "configMap": {"name": "settings"}}]
    workload = web(volumes=volumes, volumeMounts=[{"name": "conf", "mountPath": "/etc/web"}])
    parts = (workload, config_map("settings", {"web.yaml": content}), service("web"))
    finding = only(found(*parts, answers=DOWN), "ListensOnLoopback")
    assert patch_of(finding)[1]["value"] == content.replace("bind: 127.0.0.1", "bind: 0.0.0.0")


def test_an_argument_is_opened() -> None:
    finding = only(
        found(web(args=["serve", "--bind=127.0.0.1:8080"]), service("web"), answers=DOWN), "ListensOnLoopback"
    )
    assert patch_of(finding)[1] == {
        "op": "replace",
        "path": "/spec/template/spec/containers/0/args/1",
        "value": "--bind=0.0.0.0:8080",
    }


def test_without_a_log_the_setting_and_a_refused_service_are_enough() -> None:
    silent = web("", env=env(BIND="127.0.0.1"))
    finding = only(found(silent, service("web"), answers={**DOWN, **service_refused("web")}), "ListensOnLoopback")
    assert entry_of(patch_of(finding)) == {"name": "BIND", "value": EVERY}


@pytest.mark.parametrize(
    "variables",
    [
        pytest.param([], id="nothing sets it"),
        pytest.param(env(BIND="127.0.0.1", LISTEN="127.0.0.1"), id="two plain names set it"),
        pytest.param(env(BACKEND_HOST="127.0.0.1"), id="only a client's address"),
    ],
)
def test_doubt_is_said_and_not_repaired(variables: list[Object]) -> None:
    finding = only(found(web(env=variables), service("web"), answers=DOWN), "ListensOnLoopback")
    assert finding.repair is None
    assert finding.missing


@pytest.mark.parametrize(
    ("workload", "answers"),
    [
        pytest.param(web("listening on 0.0.0.0:8080", env=env(BIND="127.0.0.1")), {}, id="it listens everywhere"),
        pytest.param(web("", env=env(BIND="127.0.0.1")), {}, id="nobody was refused"),
        pytest.param(web(LOG + "\nadmin listening on 10.0.0.4:8080"), {}, id="one of two listeners is open"),
    ],
)
def test_what_is_no_fault_gives_no_finding(workload: App, answers: Any) -> None:
    assert found(workload, service("web"), answers=answers) == ()
