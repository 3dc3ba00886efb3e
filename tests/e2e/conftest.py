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

pytest.register_assert_rewrite("tests.journeys.model_journeys", "tests.journeys.person_journeys")

ROOT = Path(__file__).resolve().parents[2]
PACE = Pace(hold="10s", converge="90s", limit=300.0, proof=120.0)


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    kubeconfig = os.environ.get("KUBECONFIG", "")
    kubectl = os.environ.get("SANARE_KUBECTL") or shutil.which("kubectl")
    if not kubeconfig or not Path(kubeconfig).is_file():
        pytest.skip("no cluster: KUBECONFIG names no kubeconfig")
    if kubectl is None:
        pytest.skip("no kubectl on PATH: make setup")
    folder = tmp_path_factory.mktemp("e2e")
    _prepare(kubectl, folder)
    log = os.environ.get("SANARE_E2E_AUDIT_LOG")
    return Arena(
        kubeconfig=Path(kubeconfig),
        kubectl=kubectl,
        pace=PACE,
        folder=folder,
        registry=os.environ.get("SANARE_REGISTRY", REGISTRY),
        audit_log=Path(log) if log else None,
    )


def _prepare(kubectl: str, folder: Path) -> None:
    """The CRDs, and the app's images where a command loads them."""
    answer = subprocess.run([kubectl, "version"], capture_output=True, text=True, timeout=60)
    if answer.returncode:
        pytest.skip(f"no cluster answers: {answer.stderr.strip()[-200:]}")
    subprocess.run(
        [kubectl, "apply", "--server-side", "--force-conflicts", "-f", str(ROOT / "crds")], check=True, timeout=60
    )
    if load := os.environ.get("SANARE_IMAGE_LOAD"):
        archive = folder / "app.tar"
        build_archive(archive)
        subprocess.run([*shlex.split(load), str(archive)], check=True, timeout=300)
