"""The app's images as one docker-archive, made without a container engine: busybox, the app's files, one layer.

Load it with what the cluster's node has: `ctr -n k8s.io images import app.tar`, `kind load image-archive app.tar`,
`minikube image load app.tar`, or push it to a registry and name that with `--registry`.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import platform
import shutil
import tarfile
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from sanare.errors import ConfigError
from sanare_lab.app.catalogue import CATALOGUE, ENTRYPOINT, REGISTRY, Behaviour, Image, named

_ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
_FOLDERS = ("app", "app/www", "app/www/cgi-bin", "bin", "dev", "etc", "proc", "root", "sys", "usr")
_COMMANDS = (
    "sh",
    "awk",
    "cat",
    "cut",
    "date",
    "dd",
    "echo",
    "env",
    "false",
    "grep",
    "head",
    "httpd",
    "id",
    "kill",
    "ls",
    "mkdir",
    "mkfifo",
    "nc",
    "nslookup",
    "printf",
    "ps",
    "rm",
    "sed",
    "sleep",
    "tail",
    "test",
    "touch",
    "tr",
    "true",
    "wc",
    "wget",
)
_TEXTS = {
    "etc/passwd": b"root:x:0:0::/root:/bin/sh\nnonroot:x:65532:65532::/:/bin/sh\n",
    "etc/group": b"root:x:0:\nnonroot:x:65532:\n",
}


def build_archive(
    target: Path, *, busybox: Path | None = None, images: Mapping[str, Image] = CATALOGUE, registry: str = REGISTRY
) -> None:
    """Write a docker-archive with every image of the catalogue. Raises ConfigError without a static busybox."""
    layer = _layer(busybox or _find_busybox())
    digest = hashlib.sha256(layer).hexdigest()
    with tarfile.open(target, "w") as archive:
        _add(archive, f"{digest}/layer.tar", layer)
        entries = []
        for name, image in images.items():
            tag = named(name, registry=registry)
            config = _config(tag, image, digest)
            config_name = hashlib.sha256(config).hexdigest() + ".json"
            _add(archive, config_name, config)
            entries.append({"Config": config_name, "RepoTags": [tag], "Layers": [f"{digest}/layer.tar"]})
        _add(archive, "manifest.json", json.dumps(entries).encode())


def _find_busybox() -> Path:
    found = shutil.which("busybox")
    if found is None:
        raise ConfigError(
            "no busybox on PATH: install a static one (Debian: busybox-static) or name it with --busybox"
        )
    return Path(found)


def _config(tag: str, image: Image, layer: str) -> bytes:
    """The image's configuration: architecture, entrypoint, user, and its name.

    With the name in it every image has an id of its own; a node reports one of the names of an id, maybe another.
    """
    machine = platform.machine()
    process: dict[str, object] = {"Env": ["PATH=/bin:/app"], "WorkingDir": "/", "User": image.user}
    process["Labels"] = {"org.opencontainers.image.ref.name": tag}
    if image.behaviour is Behaviour.APP:
        process["Entrypoint"] = list(ENTRYPOINT[image.behaviour])
    else:
        process["Cmd"] = ["/bin/sh"]
    rootfs = {"type": "layers", "diff_ids": [f"sha256:{layer}"]}
    config = {
        "architecture": _ARCHITECTURE.get(machine, machine),
        "os": "linux",
        "config": process,
        "rootfs": rootfs,
    }
    return json.dumps(config).encode()


def _layer(busybox: Path) -> bytes:
    """The only layer. The same inputs give the same bytes: no times, no owners."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as layer:
        for folder in _FOLDERS:
            _add_folder(layer, folder, 0o755)
        _add_folder(layer, "tmp", 0o1777)
        for name, content in _TEXTS.items():
            _add(layer, name, content)
        _add(layer, "bin/busybox", busybox.read_bytes(), mode=0o755)
        for command in _COMMANDS:
            link = tarfile.TarInfo(f"bin/{command}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            layer.addfile(link)
        _add_tree(layer, "app", files("sanare_lab.app") / "rootfs")
    return buffer.getvalue()


def _add_tree(archive: tarfile.TarFile, prefix: str, folder: Traversable) -> None:
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        name = f"{prefix}/{entry.name}"
        if entry.is_dir():
            _add_tree(archive, name, entry)
        else:
            content = entry.read_bytes()
            _add(archive, name, content, mode=0o755 if content.startswith(b"#!") else 0o644)


def _add_folder(archive: tarfile.TarFile, name: str, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    archive.addfile(entry)


def _add(archive: tarfile.TarFile, name: str, content: bytes, *, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.mode, entry.size = mode, len(content)
    archive.addfile(entry, io.BytesIO(content))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `sanare-lab images`."""
    parser.add_argument("output", type=Path, help="the docker-archive to write")
    parser.add_argument("--busybox", type=Path, help="a static busybox (default: the one on PATH)")
    parser.add_argument("--registry", default=REGISTRY, help="prefix of the image names (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Write the archive; the exit code of `sanare-lab images`."""
    build_archive(args.output, busybox=args.busybox, registry=args.registry)
    print(f"{args.output}: {', '.join(named(name, registry=args.registry) for name in CATALOGUE)}")
    return 0
