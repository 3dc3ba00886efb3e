"""The process that runs kubectl: bounded, alone, and gone afterwards. A shell script stands for kubectl."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from sanare.errors import ToolError, ToolTimeout
from sanare.kubectl.runner import Place, run


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    return Place(tmp_path / "work", tmp_path / "home", tmp_path / "kubeconfig")


def script(body: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", body)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


async def gone(pid: int) -> None:
    """Wait until a process is no more; fails after two seconds."""
    for _ in range(100):
        if not alive(pid):
            return
        await asyncio.sleep(0.02)
    pytest.fail(f"process {pid} is still there")


async def test_streams_and_exit_code_come_back(place: Place) -> None:
    done = await run(script("/bin/cat; echo err >&2; exit 3"), place, stdin="in", timeout=10)
    assert (done.exit_code, done.stdout, done.stderr, done.cut) == (3, b"in", b"err\n", False)


async def test_without_stdin_there_is_nothing_to_read(place: Place) -> None:
    assert (await run(script("/bin/cat && echo read"), place, timeout=10)).stdout == b"read\n"


async def test_nothing_of_the_operators_environment_is_inherited(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")
    done = await run(("/usr/bin/env",), place, timeout=10)
    names = {line.partition(b"=")[0] for line in done.stdout.splitlines()}
    assert names == {b"PATH", b"HOME", b"TMPDIR", b"KUBECONFIG", b"KUBERC", b"LANG"}
    assert b"KUBERC=off" in done.stdout


async def test_a_command_that_does_not_end_is_stopped_with_its_children(place: Place) -> None:
    with pytest.raises(ToolTimeout, match="did not end"):
        await run(script("/bin/sleep 60 & echo $! > child; wait"), place, timeout=1)
    child = int((place.work / "child").read_text())
    await gone(child)


async def test_a_child_that_keeps_the_pipes_open_does_not_hold_us(place: Place) -> None:
    with pytest.raises(ToolTimeout):
        await run(script("/bin/sleep 60 & echo out; exit 0"), place, timeout=1)


async def test_cancelling_stops_the_process(place: Place) -> None:
    os.mkfifo(place.work / "started")
    task = asyncio.create_task(run(script("echo $$ > started; exec /bin/sleep 60"), place, timeout=60))
    pid = int(await asyncio.to_thread((place.work / "started").read_text))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(pid)


async def test_output_beyond_the_cap_ends_the_process(place: Place) -> None:
    done = await run(script("while :; do echo xxxxxxxxxxxxxxxx; done"), place, timeout=20, limit=1000)
    assert done.cut
    assert len(done.stdout) == 1000


async def test_a_path_that_cannot_run_is_an_error_of_ours(place: Place) -> None:
    with pytest.raises(ToolError, match="cannot be started"):
        await run((os.fspath(place.home / "none"),), place, timeout=1)
