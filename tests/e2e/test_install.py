"""The image and the chart on a real cluster: an alert in, a repair with the agent's rights, a person's approval.

Needs KUBECONFIG, kubectl and helm on PATH, the operator's image and the lab's app image loaded on the nodes, and
SANARE_E2E_IMAGE naming the operator's (repository:tag). The port-forward that it opens works from anywhere.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from sanare_lab.scenarios.loader import library

ROOT = Path(__file__).parents[2]
IMAGE = os.environ.get("SANARE_E2E_IMAGE", "")
TOKEN = uuid.uuid4().hex
BROKEN = (library() / "port-mismatch/broken.yaml").read_text()
PATIENCE = "240s"

pytestmark = [
    pytest.mark.skipif(not IMAGE, reason="SANARE_E2E_IMAGE names no image: nothing to install"),
    pytest.mark.skipif(shutil.which("helm") is None, reason="helm is not on PATH"),
]


def run(*command: str, stdin: str | None = None) -> str:
    """A command's output; its error output where it fails."""
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}{done.stdout}"
    return done.stdout


def kubectl(*arguments: str, stdin: str | None = None) -> str:
    return run("kubectl", *arguments, stdin=stdin)


@dataclass(frozen=True, slots=True)
class Install:
    """A release and a namespace with a shop that it may repair."""

    system: str
    shop: str

    def incident(self, name: str) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(kubectl("-n", self.shop, "get", "incident", name, "-o", "json"))
        return parsed

    def wait(self, name: str, phase: str) -> dict[str, Any]:
        """The Incident once it is in that phase; on time-out its story and the operator's log."""
        goal = f"--for=jsonpath={{.status.phase}}={phase}"
        try:
            kubectl("-n", self.shop, "wait", f"incident/{name}", goal, f"--timeout={PATIENCE}")
        except AssertionError as error:
            story = kubectl("-n", self.shop, "describe", "incident", name)
            raise AssertionError(f"{error}\n{story}\n{told(self.system)}") from error
        return self.incident(name)

    def break_shop(self) -> None:
        """The shop as it is delivered: its Service points at a port where nothing listens."""
        kubectl("-n", self.shop, "apply", "-f", "-", stdin=BROKEN.replace("@NONCE@", "nonce"))
        kubectl("-n", self.shop, "rollout", "status", "deployment/cart", f"--timeout={PATIENCE}")

    @property
    def target_port(self) -> str:
        return kubectl("-n", self.shop, "get", "service", "cart", "-o", "jsonpath={.spec.ports[0].targetPort}")


def installed(system: str, shop: str, *values: str) -> None:
    repository, _, tag = IMAGE.rpartition(":")
    kubectl("create", "namespace", system)
    kubectl("create", "namespace", shop)
    kubectl("-n", system, "create", "secret", "generic", "webhook", f"--from-literal=token={TOKEN}")
    sets = (
        f"image.repository={repository}",
        f"image.tag={tag}",
        "image.pullPolicy=Never",
        "webhook.existingSecret=webhook",
        "defaultPolicy.verify.hold=5s",
        *values,
    )
    flags = [word for value in sets for word in ("--set", value)]
    chart = str(ROOT / "charts/sanare")
    command = (
        "helm",
        "install",
        "sanare",
        chart,
        "-n",
        system,
        "--wait",
        "--timeout",
        PATIENCE,
        "--take-ownership",
    )
    try:
        run(*command, *flags)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{told(system)}") from error


def told(system: str) -> str:
    """What a person would look at when the operator does not come up."""
    looks = (("describe", "pods"), ("logs", "deployment/sanare", "--tail=60"))
    runs = [subprocess.run(["kubectl", "-n", system, *look], capture_output=True, text=True) for look in looks]
    return "\n".join(f"{done.stdout}{done.stderr}" for done in runs)


@pytest.fixture(params=["namespaced", "cluster-wide"])
def install(request: pytest.FixtureRequest) -> Iterator[Install]:
    """The chart with Roles in one namespace alone, and as it comes."""
    mark = uuid.uuid4().hex[:6]
    system, shop = f"sanare-e2e-{mark}", f"sanare-e2e-{mark}-shop"
    values: tuple[str, ...] = ()
    if request.param == "namespaced":
        kubectl("apply", "--server-side", "--force-conflicts", "-f", str(ROOT / "crds"))
        values = (f"rbac.namespaces={{{shop}}}", "crds.install=false")
    try:
        installed(system, shop, *values)
        yield Install(system, shop)
    finally:
        subprocess.run(["helm", "uninstall", "sanare", "-n", system, "--wait"], capture_output=True, timeout=120)
        kubectl("delete", "namespace", system, shop, "--wait=false", "--ignore-not-found")


@contextmanager
def forwarded(namespace: str) -> Iterator[str]:
    """The URL of the operator's Service on this machine."""
    command = ["kubectl", "-n", namespace, "port-forward", "service/sanare", ":8080"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())
            assert found, "kubectl port-forward named no port"
            yield f"http://127.0.0.1:{found[1]}"
        finally:
            process.terminate()


def notification(namespace: str) -> dict[str, Any]:
    """What Alertmanager sends when requests to the shop's cart fail."""
    labels = {"alertname": "CartUnreachable", "severity": "critical", "namespace": namespace, "service": "cart"}
    alert = {
        "status": "firing",
        "labels": labels,
        "annotations": {"summary": "requests to cart are refused"},
        "startsAt": datetime.now(UTC).isoformat(),
        "endsAt": "0001-01-01T00:00:00Z",
        "fingerprint": "5e1f0c0ffee0aa11",
    }
    return {"version": "4", "groupKey": "{}:{}", "status": "firing", "receiver": "sanare", "alerts": [alert]}


async def deliver(url: str, body: dict[str, Any], *, token: str = TOKEN) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {token}"}
    limit = aiohttp.ClientTimeout(total=30)
    async with (
        aiohttp.ClientSession(timeout=limit) as session,
        session.post(f"{url}/alertmanager", json=body, headers=headers) as response,
    ):
        return response.status, await response.json()


def test_an_alert_is_repaired_and_a_proposal_waits_for_a_person(install: Install) -> None:
    install.break_shop()
    with forwarded(install.system) as url:
        assert asyncio.run(deliver(url, notification(install.shop), token="wrong"))[0] == 401
        status, answer = asyncio.run(deliver(url, notification(install.shop)))
    (entry,) = answer["alerts"]
    assert (status, entry["result"]) == (200, "Created")

    ended = install.wait(entry["incident"].partition("/")[2], "Resolved")
    assert (ended["status"]["outcome"], install.target_port) == ("Fixed", "8437")
    assert ended["spec"]["severity"] == "Critical"

    install.break_shop()
    kubectl("-n", install.shop, "create", "-f", "-", stdin=json.dumps(proposed()))
    waiting = install.wait("by-hand", "AwaitingApproval")
    assert install.target_port == "8473"

    approval = {"decision": "Approve", "digest": waiting["status"]["proposal"]["digest"], "approver": "ada"}
    patch = json.dumps({"spec": {"approval": approval}})
    kubectl("-n", install.shop, "patch", "incident", "by-hand", "--type=merge", "-p", patch)
    ended = install.wait("by-hand", "Resolved")
    assert (ended["status"]["outcome"], ended["status"]["approver"]) == ("Fixed", "ada")
    assert install.target_port == "8437"


def proposed() -> dict[str, Any]:
    """A person's Incident for the same fault, which may only be proposed for."""
    return {
        "apiVersion": "sanare.dev/v1alpha1",
        "kind": "Incident",
        "metadata": {"name": "by-hand"},
        "spec": {
            "summary": "requests to cart are refused again",
            "mode": "Propose",
            "targets": [{"apiVersion": "v1", "kind": "Service", "name": "cart"}],
        },
    }


def can_i(account: str, namespace: str, *words: str) -> bool:
    """Whether the API server lets the account do it: verb and resource as `kubectl auth can-i` wants them."""
    command = ["kubectl", "auth", "can-i", *words, "-n", namespace, f"--as=system:serviceaccount:{account}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip() == "yes"


def test_the_rights_are_those_of_the_roles(install: Install) -> None:
    operator, agent = f"{install.system}:sanare", f"{install.system}:sanare-agent"
    allowed = [
        (agent, install.shop, "patch", "services"),
        (agent, install.shop, "patch", "deployments", "--subresource=scale"),
        (operator, install.shop, "patch", "incidents", "--subresource=status"),
        (operator, install.system, "impersonate", "serviceaccounts/sanare-agent"),
    ]
    denied = [
        (operator, install.shop, "patch", "services"),
        (operator, install.shop, "patch", "incidents"),
        (operator, install.shop, "get", "secrets"),
        (operator, install.shop, "*", "*"),
        (operator, install.system, "impersonate", "serviceaccounts/default"),
        (agent, install.shop, "patch", "incidents"),
        (agent, install.shop, "get", "secrets"),
        (agent, install.shop, "create", "pods", "--subresource=exec"),
        (agent, install.shop, "create", "serviceaccounts", "--subresource=token"),
    ]
    assert [question for question in allowed if not can_i(*question)] == []
    assert [question for question in denied if can_i(*question)] == []
