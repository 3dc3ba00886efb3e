from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from sanare.errors import ConfigError
from sanare_lab.app.catalogue import CATALOGUE, Behaviour
from sanare_lab.app.image import build_archive


@pytest.fixture
def busybox(tmp_path: Path) -> Path:
    path = tmp_path / "busybox"
    path.write_bytes(b"\x7fELF")
    return path


def read(archive: Path) -> dict[str, dict[str, object]]:
    """Image name to its configuration."""
    with tarfile.open(archive) as content:

        def member(name: str) -> bytes:
            file = content.extractfile(name)
            assert file is not None
            return file.read()

        entries = json.loads(member("manifest.json"))
        return {tag: json.loads(member(entry["Config"])) for entry in entries for tag in entry["RepoTags"]}


def test_the_archive_holds_every_image_of_the_catalogue(tmp_path: Path, busybox: Path) -> None:
    build_archive(tmp_path / "app.tar", busybox=busybox)
    assert set(read(tmp_path / "app.tar")) == set(CATALOGUE)


def test_only_an_app_image_has_an_entrypoint(tmp_path: Path, busybox: Path) -> None:
    build_archive(tmp_path / "app.tar", busybox=busybox)
    images = read(tmp_path / "app.tar")
    starts = {name: "Entrypoint" in image["config"] for name, image in images.items()}  # type: ignore[operator]
    assert starts == {name: image.behaviour is Behaviour.APP for name, image in CATALOGUE.items()}


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path, busybox: Path) -> None:
    for name in ("one.tar", "two.tar"):
        build_archive(tmp_path / name, busybox=busybox)
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()


def test_images_are_named_for_the_registry_that_a_cluster_pulls_from(tmp_path: Path, busybox: Path) -> None:
    build_archive(tmp_path / "app.tar", busybox=busybox, registry="registry.example/lab/")
    assert "registry.example/lab/app:1.4.2" in read(tmp_path / "app.tar")


def test_a_machine_without_busybox_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="busybox-static"):
        build_archive(tmp_path / "app.tar")
