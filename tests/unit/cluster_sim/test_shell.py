"""Commands of containers, foreseen without running anything."""

from __future__ import annotations

import pytest

from sanare_lab.cluster.node.images import Image
from sanare_lab.cluster.node.run import FOREVER, NoFiles, Run, StartError, Write
from sanare_lab.cluster.node.shell import container_run, exec_exit

APP = Image("shop.local/app:1")
BOX = Image("shop.local/box:1", kind="shell", entrypoint=())


def script(text: str, **env: str) -> Run:
    run = container_run(BOX, ["sh", "-c", text], [], env, NoFiles())
    assert isinstance(run, Run)
    return run


@pytest.mark.parametrize(
    ("text", "code", "seconds", "log"),
    [
        pytest.param("exit 3", 3, 0.1, [], id="exit"),
        pytest.param("true", 0, 0.1, [], id="true"),
        pytest.param("false", 1, 0.1, [], id="false"),
        pytest.param("echo one; echo two", 0, 0.1, ["one", "two"], id="echo"),
        pytest.param("sleep 5; exit 2", 2, 5.0, [], id="sleep then exit"),
        pytest.param("sleep 2m", 0, 120.0, [], id="minutes"),
        pytest.param("false || echo no && exit 4", 4, 0.1, ["no"], id="joints"),
        pytest.param("true || exit 9", 0, 0.1, [], id="or is skipped"),
        pytest.param("slep 5", 127, 0.1, ["sh: slep: not found"], id="misspelt"),
        pytest.param("slep 5 || true", 0, 0.1, ["sh: slep: not found"], id="misspelt, swallowed"),
        pytest.param("slep 5 2>&1 >/dev/null", 127, 0.1, ["sh: slep: not found"], id="redirected"),
        pytest.param("echo hello $NAME", 0, 0.1, ["hello you"], id="variable"),
        pytest.param("echo ${NONE:-dflt}", 0, 0.1, ["dflt"], id="default"),
        pytest.param('[ -n "$NAME" ] && exit 7', 7, 0.1, [], id="test"),
        pytest.param("test -f /missing || exit 5", 5, 0.1, [], id="missing file"),
        pytest.param("echo 'open", 2, 0.1, [], id="syntax error"),
    ],
)
def test_a_script_ends_as_a_shell_would_end_it(text: str, code: int, seconds: float, log: list[str]) -> None:
    run = script(text, NAME="you")
    assert (run.code, run.exit_at, run.log(FOREVER)) == (code, seconds, log)


@pytest.mark.parametrize(
    "text", ["sleep infinity", "while true; do sleep 1; done", "httpd -f -p 8080", "nc -l -p 80"]
)
def test_some_commands_stay(text: str) -> None:
    assert script(text).exit_at == FOREVER


def test_a_program_that_is_missing_is_complained_of_in_the_log_and_its_file_stays_empty() -> None:
    run = script("ehco ready > /work/state")
    assert (run.code, run.log(FOREVER)) == (127, ["sh: ehco: not found"])
    assert run.writes == (Write("/work/state", b"", False),)


def test_a_server_started_by_a_script_listens_on_its_port() -> None:
    run = script("sleep 3; exec httpd -f -p 127.0.0.1:8081 -h /www")
    assert run.listener(8081, 2.0, local=True) is None
    assert run.listener(8081, 3.0, local=True) is not None
    assert run.listener(8081, 3.0) is None


def test_output_to_a_file_is_written_not_logged() -> None:
    run = script("echo kept > /data/file")
    assert run.writes == (Write("/data/file", b"kept\n"),)
    assert run.log(1.0) == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["nosuch"], 'exec: "nosuch": executable file not found in $PATH'),
        (["/app/nosuch"], 'exec: "/app/nosuch": stat /app/nosuch: no such file or directory'),
    ],
)
def test_a_missing_executable_is_a_start_error_in_runcs_words(command: list[str], message: str) -> None:
    run = container_run(APP, command, [], {}, NoFiles())
    assert isinstance(run, StartError)
    assert run.message.endswith(message)


def test_the_images_own_entrypoint_named_as_command_runs_the_app() -> None:
    run = container_run(APP, ["/app/serve"], [], {"PORT": "9999"}, NoFiles())
    assert isinstance(run, Run)
    assert run.listener(9999, 1.0) is not None


def test_a_command_instead_of_the_apps_own_serves_nothing() -> None:
    run = container_run(APP, ["sleep", "infinity"], [], {}, NoFiles())
    assert isinstance(run, Run)
    assert run.listeners == ()


def test_an_exec_probe_gets_exit_code_and_output() -> None:
    assert exec_exit(BOX, ["sh", "-c", "echo bad; exit 2"], {}, NoFiles()) == (2, "bad\n")
