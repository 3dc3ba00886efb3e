"""The app's contract: what it needs, what it says, what it serves."""

from __future__ import annotations

import hashlib

import pytest

from sanare_lab.cluster.node.app import app_run
from sanare_lab.cluster.node.run import FOREVER

PREFIX = hashlib.sha256(b"blue").hexdigest()[:12]


class Files:
    def __init__(self, **content: bytes) -> None:
        self._content = {f"/etc/app/{name}": data for name, data in content.items()}

    def read(self, path: str) -> bytes | None:
        return self._content.get(path)


@pytest.mark.parametrize(
    ("env", "files", "complaint"),
    [
        pytest.param(
            {"REQUIRE_ENV": "A,B", "A": "1"}, Files(), "missing required environment variable B", id="env"
        ),
        pytest.param(
            {"REQUIRE_ENV": "A", "A": ""}, Files(), "missing required environment variable A", id="empty env"
        ),
        pytest.param({"REQUIRE_FILES": "/etc/app/mode"}, Files(), "missing required file /etc/app/mode", id="file"),
        pytest.param(
            {"CHECK_ENV": f"COLOUR:{PREFIX}", "COLOUR": "red"},
            Files(),
            "environment variable COLOUR has a value that is not accepted",
            id="env value",
        ),
        pytest.param(
            {"CHECK_FILES": f"/etc/app/mode:{PREFIX}"},
            Files(mode=b"red\n"),
            "file /etc/app/mode has content that is not accepted",
            id="file content",
        ),
        pytest.param({"PORT": "eighty"}, Files(), "PORT eighty is no port", id="port"),
    ],
)
def test_what_is_missing_or_wrong_is_named_before_exit_1(env: dict[str, str], files: Files, complaint: str) -> None:
    run = app_run(env, files)
    assert run.log(1.0) == ["app: starting", f"app: {complaint}"]
    assert (run.code, run.exit_at < FOREVER, run.listeners) == (1, True, ())


def test_trailing_newlines_of_a_file_do_not_count() -> None:
    run = app_run({"CHECK_FILES": f"/etc/app/mode:{PREFIX}"}, Files(mode=b"blue\n\n"))
    assert run.exit_at == FOREVER


def test_it_listens_only_after_its_start_delay() -> None:
    run = app_run({"START_DELAY": "20", "PORT": "9000"}, Files())
    assert run.listener(9000, 19.0) is None
    assert run.listener(9000, 20.0) is not None
    assert run.log(20.0)[-1] == "app: listening on 0.0.0.0:9000, serving / /healthz /readyz"


def test_bound_to_loopback_it_accepts_from_within_the_pod_alone() -> None:
    run = app_run({"BIND": "127.0.0.1"}, Files())
    assert run.listener(8080, 1.0) is None
    assert run.listener(8080, 1.0, local=True) is not None


def test_it_touches_the_memory_it_is_told_to() -> None:
    least, more = (app_run({"ALLOC_MB": size}, Files()).memory for size in ("0", "64"))
    assert more - least == 64 * 1024 * 1024
