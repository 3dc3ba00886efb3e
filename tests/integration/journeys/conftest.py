"""The embedded cluster as the arena, in a process of its own, one for all journeys."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.arena import Arena, Pace

pytest.register_assert_rewrite(
    "tests.journeys.model_journeys",
    "tests.journeys.person_journeys",
    "tests.journeys.watch_journeys",
    "tests.journeys.restart_journeys",
)

ROOT = Path(__file__).resolve().parents[3]
PACE = Pace(hold="2s", converge="30s", patience="5s", limit=90.0, proof=60.0)


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    folder = tmp_path_factory.mktemp("journeys")
    kubeconfig = folder / "kubeconfig"
    command = [sys.executable, "-m", "sanare_lab.cli", "up", "--scale", "10", "--crds", str(ROOT / "crds")]
    with (folder / "cluster.log").open("wb") as log:
        cluster = subprocess.Popen([*command, "--kubeconfig", str(kubeconfig)], stdout=subprocess.PIPE, stderr=log)
    try:
        assert cluster.stdout is not None
        assert cluster.stdout.readline().strip(), (folder / "cluster.log").read_text()
        kubectl = os.environ.get("SANARE_KUBECTL") or shutil.which("kubectl")
        assert kubectl, "no kubectl on PATH: make setup"
        yield Arena(kubeconfig=kubeconfig, kubectl=kubectl, pace=PACE, folder=folder)
    finally:
        cluster.terminate()
        cluster.wait(20)
        if cluster.stdout is not None:
            cluster.stdout.close()
