"""The cluster under test: the embedded one, or the one whose kubeconfig SANARE_CONFORMANCE_KUBECONFIG names.

Both are spoken to in the same two ways: HTTP without credentials on loopback (`kubectl proxy` stands before the
real one), and kubectl, taken from SANARE_KUBECTL or from PATH.
"""

from __future__ import annotations

import atexit
import functools
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

ROOT = Path(__file__).parents[3]
JSON = "application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
IMAGE = "shop.local/app:1.4.2"  # known to both clusters; listens on PORT, answers /healthz
PORT = 8080


@dataclass(frozen=True)
class Answer:
    """What the API server answered."""

    status: int
    headers: http.client.HTTPMessage
    text: str

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.text)

    @property
    def failure(self) -> tuple[int, str, str]:
        """Status, reason and message of a refusal."""
        return self.status, self.json.get("reason", ""), self.json["message"]


@dataclass(frozen=True)
class Output:
    """What a kubectl command said."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Target:
    """One cluster."""

    url: str
    kubeconfig: Path
    is_embedded: bool
    kubectl_path: str

    def call(self, method: str, path: str, body: Any = None, *, kind: str = JSON, accept: str = JSON) -> Answer:
        """One request. `body` is sent as it is where it is text, else as JSON."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        try:
            sent = body if body is None or isinstance(body, str) else json.dumps(body)
            headers = {"Accept": accept, "User-Agent": "conformance/1"}
            if sent is not None:
                headers["Content-Type"] = kind
            connection.request(method, path, sent, headers)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read().decode())
        finally:
            connection.close()

    def watch(self, path: str, *, until: Callable[[list[Any]], bool], seconds: int = 10) -> list[Any]:
        """The events of a watch, until there are enough of them or it ends."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=seconds + 20)
        events: list[Any] = []
        try:
            connection.request("GET", f"{path}&watch=true&timeoutSeconds={seconds}", headers={"Accept": JSON})
            response = connection.getresponse()
            assert response.status == 200, response.read()
            while not until(events) and (line := response.readline()):
                events.append(json.loads(line))
        finally:
            connection.close()
        return events

    def kubectl(self, *arguments: str, stdin: str = "") -> Output:
        """Run kubectl; skips the test where there is none."""
        if not self.kubectl_path:
            pytest.skip("no kubectl: set SANARE_KUBECTL or have it in PATH")
        environment = {
            "KUBECONFIG": str(self.kubeconfig),
            "HOME": str(self.kubeconfig.parent),
            "PATH": "/usr/bin:/bin",
        }
        done = subprocess.run(
            [self.kubectl_path, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            env=environment,
            check=False,
        )
        return Output(done.returncode, done.stdout, done.stderr)


def eventually(check: Callable[[], bool], *, seconds: float = 40) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    pause = threading.Event()
    while not check():
        assert time.monotonic() < end, f"it did not come true in {seconds} s"
        pause.wait(0.1)


def _kubectl() -> str:
    return os.environ.get("SANARE_KUBECTL") or shutil.which("kubectl") or ""


def _started(command: list[str], environment: dict[str, str]) -> tuple[subprocess.Popen[str], str]:
    """A process that tells in its first line where it serves."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    line = process.stdout.readline()

    def end() -> None:
        process.terminate()
        process.wait(10)
        process.stdout.close()

    atexit.register(end)
    assert line, f"{command} did not start"
    return process, line.strip()


@functools.cache
def connect() -> Target:
    """Start or find the cluster under test, once."""
    given = os.environ.get("SANARE_CONFORMANCE_KUBECONFIG")
    if given:
        command = [_kubectl(), "proxy", "--port=0", f"--kubeconfig={given}"]
        _, line = _started(command, dict(os.environ))
        address = re.search(r"[\d.]+:\d+", line)
        assert address, line
        return Target(f"http://{address[0]}", Path(given), is_embedded=False, kubectl_path=_kubectl())
    directory = Path(tempfile.mkdtemp(prefix="conformance-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "operator")}
    command = [sys.executable, "-m", "sanare_lab.cli", "up", "--scale", "20", "--crds", str(ROOT / "crds")]
    _, line = _started([*command, "--kubeconfig", str(directory / "kubeconfig")], environment)
    config = yaml.safe_load(Path(line).read_text(encoding="utf-8"))
    url = config["clusters"][0]["cluster"]["server"]
    return Target(url, Path(line), is_embedded=True, kubectl_path=_kubectl())


@pytest.fixture
def target() -> Target:
    """The cluster under test."""
    return connect()


@pytest.fixture
def space() -> Iterator[str]:
    """A namespace of the test's own."""
    name = f"conf-{uuid.uuid4().hex[:8]}"
    found = connect()
    made = found.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    assert made.status == 201, made.text
    eventually(lambda: found.call("GET", f"/api/v1/namespaces/{name}/serviceaccounts/default").status == 200)
    yield name
    found.call("DELETE", f"/api/v1/namespaces/{name}")


def core(space: str, rest: str = "") -> str:
    """A path of the core group in a namespace."""
    return f"/api/v1/namespaces/{space}/{rest}"


def apps(space: str, rest: str = "") -> str:
    """A path of the apps group in a namespace."""
    return f"/apis/apps/v1/namespaces/{space}/{rest}"


def config_map(name: str, **data: str) -> dict[str, Any]:
    """A ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def deployment(name: str = "web", *, replicas: int = 1, image: str = IMAGE) -> dict[str, Any]:
    """A Deployment of the app."""
    container = {"name": "web", "image": image, "ports": [{"containerPort": PORT, "name": "http"}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"terminationGracePeriodSeconds": 1, "containers": [container]},
            },
        },
    }


def service(name: str = "web", *, port: int = 80, target: int | str = PORT) -> dict[str, Any]:
    """A Service for the Deployment of that name."""
    ports = [{"port": port, "targetPort": target}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": ports},
    }
