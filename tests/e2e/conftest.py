"""The cluster of KUBECONFIG as the arena. Without one the tests skip and say so.

Environment: SANARE_IMAGE_LOAD, a command that loads an image archive onto the nodes (`kind load image-archive`);
SANARE_REGISTRY, where the nodes pull the app from otherwise; SANARE_E2E_AUDIT_LOG, the API server's audit log.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from sanare_lab.app.catalogue import REGISTRY
from sanare_lab.app.image import build_archive
from tests.journeys.arena import Arena, Pace

pytest.register_assert_rewrite(
    "tests.journeys.model_journeys",
    "tests.journeys.person_journeys",
    "tests.journeys.watch_journeys",
    "tests.journeys.restart_journeys",
)

ROOT = Path(__file__).resolve().parents[2]
PACE = Pace(hold="10s", converge="90s", patience="15s", limit=300.0, proof=120.0)


@pytest.fixture(scope="session", autouse=True)
def prepared(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What these tests need on the cluster: the CRDs, and the app's images where a command loads them.

    Without a cluster every test is skipped, with the reason.
    """
    kubectl = _kubectl()
    if not _kubeconfig():
        pytest.skip("no cluster: KUBECONFIG names no kubeconfig")
    answer = subprocess.run([kubectl, "version"], capture_output=True, text=True, timeout=60)
    if answer.returncode:
        pytest.skip(f"no cluster answers: {answer.stderr.strip()[-200:]}")
    crds = str(ROOT / "crds")
    apply = [kubectl, "apply", "--server-side", "--force-conflicts", "-f", crds]
    subprocess.run(apply, check=True, timeout=60, stdout=subprocess.DEVNULL)
    if load := os.environ.get("SANARE_IMAGE_LOAD"):
        archive = tmp_path_factory.mktemp("images") / "app.tar"
        build_archive(archive)
        subprocess.run([*shlex.split(load), str(archive)], check=True, timeout=300)


@pytest.fixture(scope="session")
def arena(prepared: None, tmp_path_factory: pytest.TempPathFactory) -> Arena:
    log = os.environ.get("SANARE_E2E_AUDIT_LOG")
    return Arena(
        kubeconfig=Path(_kubeconfig()),
        kubectl=_kubectl(),
        pace=PACE,
        folder=tmp_path_factory.mktemp("e2e"),
        registry=os.environ.get("SANARE_REGISTRY", REGISTRY),
        audit_log=Path(log) if log else None,
    )


def _kubeconfig() -> str:
    named = os.environ.get("KUBECONFIG", "")
    return named if named and Path(named).is_file() else ""


def _kubectl() -> str:
    found = os.environ.get("SANARE_KUBECTL") or shutil.which("kubectl")
    if found is None:
        pytest.skip("no kubectl on PATH: make setup")
    return found
