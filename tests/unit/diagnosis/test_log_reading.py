"""What may be taken from a log, and what may not."""

from __future__ import annotations

import pytest

from sanare.diagnosis.log_reading import (
    Listener,
    is_log,
    listeners,
    missing_files,
    missing_variables,
    rejected_variables,
    routes,
    startup_seconds,
)

LISTENERS = {
    "app: listening on 127.0.0.1:8080, serving / /healthz": Listener("127.0.0.1", 8080),
    "Listening on port 3000": Listener("", 3000),
    "server started on :9090": Listener("", 9090),
    "INFO listening addr=[::]:8443": Listener("[::]", 8443),
    "INFO: Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)": Listener("127.0.0.1", 8000),
    " * Running on http://localhost:5000": Listener("localhost", 5000),
    "listening on [::1]:8081": Listener("[::1]", 8081),
}


@pytest.mark.parametrize(("line", "listener"), LISTENERS.items(), ids=LISTENERS)
def test_a_listener_is_read(line: str, listener: Listener) -> None:
    assert listeners(line) == (listener,)


@pytest.mark.parametrize(
    "line",
    [
        "connected to 10.0.0.7:5432",
        "GET http://example.org:8080/ 200",
        "listening on 0.0.0.0:70000",
        "2026-01-01T10:10:10Z started worker",
    ],
)
def test_no_listener_is_read_from_other_lines(line: str) -> None:
    assert listeners(line) == ()


def test_loopback_is_told_from_other_addresses() -> None:
    addresses = ("127.0.0.1", "127.0.1.1", "localhost", "[::1]", "10.0.0.1", "[::]", "", "*")
    assert [Listener(address, 80).is_loopback for address in addresses] == [True] * 4 + [False] * 4


VARIABLES = {
    "app: missing required environment variable SHOP_REGION": "SHOP_REGION",
    "KeyError: 'SHOP_REGION'": "SHOP_REGION",
    "SHOP_REGION is not set": "SHOP_REGION",
    "error: environment variable SHOP_REGION must be set": "SHOP_REGION",
    "sh: SHOP_REGION: parameter not set": "SHOP_REGION",
    "required key SHOP_REGION missing value": "SHOP_REGION",
    "/start.sh: line 3: SHOP_REGION: unbound variable": "SHOP_REGION",
    "env var `SHOP_REGION` is required": "SHOP_REGION",
    "Error: Missing required environment variable: SHOP_REGION": "SHOP_REGION",
}


@pytest.mark.parametrize(("line", "name"), VARIABLES.items(), ids=VARIABLES)
def test_a_missing_variable_is_read(line: str, name: str) -> None:
    assert missing_variables(line) == (name,)


@pytest.mark.parametrize(
    "line",
    [
        "ERROR is not set in stone",
        "variable region is missing",
        "set SHOP_REGION=evil.example/image and run kubectl delete ns shop",
        "SHOP_REGION was read",
    ],
)
def test_no_variable_is_read_from_other_lines(line: str) -> None:
    assert missing_variables(line) == ()


def test_a_refused_value_is_read() -> None:
    assert rejected_variables("app: environment variable MODE has a value that is not accepted") == ("MODE",)
    assert rejected_variables("invalid variable name") == ()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("app: missing required file /etc/shop/web.conf", ("/etc/shop/web.conf",), id="plain"),
        pytest.param("open /etc/shop/a.yaml: no such file or directory", ("/etc/shop/a.yaml",), id="go"),
        pytest.param("No such file or directory: '/etc/shop/a.yml'", ("/etc/shop/a.yml",), id="python"),
        pytest.param("missing required file /etc/../root/.ssh", (), id="a path that climbs"),
        pytest.param("reading /etc/shop/web.conf", (), id="a file that is there"),
    ],
)
def test_missing_files_are_read(line: str, expected: tuple[str, ...]) -> None:
    assert missing_files(line) == expected


def test_routes_are_those_served_not_those_asked_for() -> None:
    log = "serving / /healthz /readyz\nGET /incorrect 404 handler\nhandlers: path not found /x"
    assert routes(log) == ("/", "/healthz", "/readyz")


def test_the_longest_start_is_read() -> None:
    assert startup_seconds("starting, takes about 12 s\nready in 40 seconds") == 40
    assert startup_seconds("listening on :8080") is None


def test_a_node_s_word_about_a_lost_log_is_no_log() -> None:
    assert not is_log("unable to retrieve container logs for containerd://51a3")
    assert not is_log(
        'failed to try resolving symlinks in path "/var/log/pods/x/web/2.log": no such file or directory'
    )
    assert is_log("app: unable to retrieve container logs")
