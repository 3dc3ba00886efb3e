"""Writes judged by their effect: what is refused, what a person must approve, what is fine."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from sanare.kubectl.facts import POD_SPEC
from sanare.kubectl.judge import Limits, from_registries, is_small_correction, judge_change

LIMITS = Limits(max_replicas=50)
DEPLOYMENT: dict[str, Any] = {
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "template": {
            "spec": {
                "serviceAccountName": "shop-agent",
                "securityContext": {"runAsNonRoot": True},
                "initContainers": [
                    {"name": "init", "image": "a", "command": ["sh", "-c", "cp /x /y && ehco done"]}
                ],
                "containers": [
                    {
                        "name": "web",
                        "image": "shop/app:1",
                        "command": ["serve"],
                        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                        "env": [{"name": "P", "valueFrom": {"secretKeyRef": {"name": "db-creds", "key": "p"}}}],
                    }
                ],
                "volumes": [{"name": "v", "secret": {"secretName": "db-certs"}}],
            }
        },
    },
}


def after(path: str, value: object) -> dict[str, Any]:
    """The Deployment with one field set, `path` as dotted keys and positions below the pod's spec (or the root)."""
    changed = copy.deepcopy(DEPLOYMENT)
    steps = path.split(".")
    node: Any = changed if steps[0] in ("spec", "metadata") else changed["spec"]["template"]["spec"]
    for step in steps[:-1]:
        node = node[int(step)] if step.isdigit() else node.setdefault(step, {})
    if value is None:
        del node[steps[-1]]
    elif steps[-1] == "+":
        node.append(value)
    else:
        node[steps[-1]] = value
    return changed


def verdict(changed: dict[str, Any]) -> str:
    concerns = judge_change("Deployment", DEPLOYMENT, changed, LIMITS)
    return "" if not concerns else f"{concerns[0].rule}{'?' if concerns[0].approval else ''}"


SECRET_ENV = {"name": "Q", "valueFrom": {"secretKeyRef": {"name": "other", "key": "p"}}}
KNOWN_ENV = {"name": "Q", "valueFrom": {"secretKeyRef": {"name": "db-certs", "key": "p"}}}


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("containers.0.image", "shop/app:2", ""),
        ("containers.0.readinessProbe", {"httpGet": {"path": "/", "port": 80}}, ""),
        ("containers.0.command", None, ""),
        ("spec.replicas", 5, ""),
        ("spec.replicas", 0, "Replicas?"),
        ("spec.replicas", 51, "Replicas?"),
        ("hostNetwork", True, "HostAccess"),
        ("containers.0.ports", [{"containerPort": 80, "hostPort": 80}], "HostAccess"),
        ("volumes.+", {"name": "h", "hostPath": {"path": "/"}}, "VolumeType"),
        ("volumes.+", {"name": "e", "emptyDir": {}}, ""),
        ("volumes.+", {"name": "s", "secret": {"secretName": "admin-token"}}, "SecretReference"),
        ("volumes.0.secret.secretName", "db-cert", ""),
        ("volumes.0.secret.secretName", "kube-admin", "SecretReference"),
        ("containers.0.env.+", SECRET_ENV, "SecretReference"),
        ("containers.0.env.+", KNOWN_ENV, ""),
        ("containers.0.env.0.valueFrom.secretKeyRef.key", "q", ""),
        ("containers.0.securityContext.privileged", True, "SecurityContext"),
        ("containers.0.securityContext.runAsUser", 0, "SecurityContext"),
        ("containers.0.securityContext.runAsUser", 1000, ""),
        ("containers.0.securityContext.allowPrivilegeEscalation", None, "SecurityContext"),
        ("containers.0.securityContext.capabilities", {"drop": []}, "SecurityContext"),
        ("securityContext.runAsNonRoot", False, "SecurityContext"),
        ("securityContext", None, "SecurityContext"),
        ("serviceAccountName", "shop-agents", ""),
        ("serviceAccountName", "cluster-admin", "ServiceAccount"),
        ("automountServiceAccountToken", True, "ServiceAccountToken"),
        ("nodeName", "n1", "Placement"),
        ("tolerations", [{"operator": "Exists"}], "Placement"),
        ("nodeSelector", {"disk": "ssd"}, ""),
        ("initContainers.0.command", ["sh", "-c", "cp /x /y && echo done"], ""),
        ("initContainers.0.command", ["sh", "-c", "cp /x /y && ehco done || true"], "Command?"),
        ("containers.0.command", ["sleep", "infinity"], "Command?"),
        ("containers.+", {"name": "sidecar", "image": "a"}, "Containers?"),
        ("initContainers", None, "Containers?"),
        ("ephemeralContainers", [{"name": "d"}], "EphemeralContainer"),
        ("metadata.finalizers", ["a/b"], "Finalizers"),
        ("metadata.annotations", {"kopf.zalando.org/x": "y"}, "ReservedKey"),
    ],
)
def test_a_change_of_a_workload(path: str, value: object, expected: str) -> None:
    assert verdict(after(path, value)) == expected


def test_removing_finalizers_is_a_change_of_them() -> None:
    before = {"metadata": {"finalizers": ["a/b"]}}
    assert judge_change("ConfigMap", before, {"metadata": {}}, LIMITS)[0].rule == "Finalizers"


@pytest.mark.parametrize("kind", sorted(POD_SPEC))
def test_the_pod_is_found_in_every_kind_that_carries_one(kind: str) -> None:
    nested: dict[str, Any] = {"hostPID": True, "containers": []}
    for key in reversed(POD_SPEC[kind]):
        nested = {key: nested}
    rules = {concern.rule for concern in judge_change(kind, None, nested, LIMITS)}
    assert {"HostAccess", "NewWorkload"} <= rules


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"type": "ClusterIP", "selector": {"app": "a"}}, []),
        ({"type": "LoadBalancer"}, ["Exposure"]),
        ({"type": "ExternalName", "externalName": "x.example"}, ["OutsideTraffic"]),
        ({"externalIPs": ["192.0.2.1"]}, ["OutsideTraffic"]),
    ],
    ids=["plain", "load balancer", "external name", "external ips"],
)
def test_a_service(spec: dict[str, Any], expected: list[str]) -> None:
    before = {"spec": {"type": "ClusterIP"}}
    assert [c.rule for c in judge_change("Service", before, {"spec": spec}, LIMITS)] == expected


def test_the_token_volume_that_the_api_server_adds_by_itself_is_no_concern() -> None:
    def pod(volume: str, **token: str) -> dict[str, Any]:
        sources = [{"serviceAccountToken": {"path": "token", **token}}, {"configMap": {"name": "kube-root-ca.crt"}}]
        return {"spec": {"volumes": [{"name": volume, "projected": {"sources": sources}}]}}

    same = pod("kube-api-access-abcde")
    assert not judge_change("Pod", {"spec": {}}, same, LIMITS)
    assert judge_change("Pod", {"spec": {}}, pod("mine"), LIMITS)[0].rule == "ServiceAccountToken"
    other = pod("kube-api-access-abcde", audience="vault")
    assert judge_change("Pod", {"spec": {}}, other, LIMITS)[0].rule == "ServiceAccountToken"


@pytest.mark.parametrize(
    ("image", "allowed"),
    [
        ("nginx", True),
        ("nginx:1.28", True),
        ("docker.io/library/nginx:1", True),
        ("nginx@sha256:" + "a" * 64, True),
        ("registry.internal/team/app:2", True),
        ("nginx.evil.example/app", False),
        ("evil.example/nginx", False),
        ("registry.internal.evil.example/app", False),
    ],
)
def test_images_come_from_listed_registries(image: str, allowed: bool) -> None:
    assert from_registries(image, ("nginx", "registry.internal/")) is allowed


@pytest.mark.parametrize(
    ("old", "new", "small"),
    [
        ('["serv"]', '["serve"]', True),
        ('["serve"]', '["serve", "--all"]', False),
        ('["sh","-c","pc a b"]', '["sh","-c","cp a b"]', True),
        ('["sh","-c","cp a b"]', '["sh","-c","cp a b; id"]', False),
        ('["serve"]', '["sleep infinity"]', False),
    ],
)
def test_a_small_correction_of_a_command(old: str, new: str, small: bool) -> None:
    assert is_small_correction(old, new) is small
