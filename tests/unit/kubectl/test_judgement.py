"""Writes judged by their effect: what is refused, what a person must approve, what is fine."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from sanare.kubectl.facts import POD_SPEC
from sanare.kubectl.image import from_registries, repository
from sanare.kubectl.judge import Limits, judge_change
from sanare.kubectl.likeness import edit_distance, is_near_miss, is_small_correction

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
        ("containers.0.image", "shop/app@sha256:" + "a" * 64, ""),
        ("containers.0.image", "docker.io/shop/app:1", ""),
        ("containers.0.image", "evil.example/shop/app:1", "ImageRepository?"),
        ("containers.0.image", "shop/other:1", "ImageRepository?"),
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
        ("containers.0.env.+", KNOWN_ENV, "SecretReference"),
        ("containers.0.env.0.valueFrom.secretKeyRef.key", "q", "SecretReference"),
        ("containers.0.env.0.valueFrom.secretKeyRef.name", "db-cred", ""),
        ("containers.0.env.0.valueFrom.secretKeyRef.name", "db-certs", "SecretReference"),
        ("containers.0.env.+", {"name": "HOST", "value": "$(P)"}, "SecretReference"),
        ("containers.0.env.+", {"name": "HOST", "value": "$$(P)"}, ""),
        ("containers.0.env.+", {"name": "HOST", "value": "$(OTHER)"}, ""),
        ("volumes.+", {"name": "again", "secret": {"secretName": "db-certs"}}, ""),
        ("volumes.+", {"name": "s", "secret": {"secretName": "db-creds"}}, "SecretReference"),
        ("hostAliases", [{"ip": "192.0.2.1", "hostnames": ["db"]}], "NameResolution?"),
        ("dnsConfig", {"nameservers": ["192.0.2.1"]}, "NameResolution?"),
        ("containers.0.livenessProbe", {"httpGet": {"host": "192.0.2.1", "port": 80}}, "ProbeHost"),
        ("containers.0.lifecycle", {"preStop": {"httpGet": {"host": "192.0.2.1", "port": 80}}}, "ProbeHost"),
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


def container(*env: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "web", "env": list(env), **fields}]}}


PASSWORD = {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "creds", "key": "password"}}}
FROM_SECRET = [{"secretRef": {"name": "creds"}}]


def variable(name: str, value: str) -> dict[str, Any]:
    return {"name": name, "value": value}


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        (container(PASSWORD), container(PASSWORD, variable("HOST", "db-$(PASSWORD)")), True),
        (
            container(PASSWORD, variable("URL", "x:$(PASSWORD)@db")),
            container(PASSWORD, variable("URL", "x:$(PASSWORD)@db-2")),
            False,
        ),
        (
            container(PASSWORD, variable("URL", "x:$(PASSWORD)@db")),
            container(PASSWORD, variable("URL", "x:y@$(PASSWORD)")),
            True,
        ),
        (
            container(PASSWORD, variable("URL", "x:$(PASSWORD)@db")),
            container(PASSWORD, variable("URL", "x:$(PASSWORD)@db"), variable("HOST", "$(URL)")),
            True,
        ),
        (container(envFrom=FROM_SECRET), container(variable("HOST", "$(ANY)"), envFrom=FROM_SECRET), True),
        (
            container(variable("OWN", "a"), envFrom=FROM_SECRET),
            container(variable("OWN", "a"), variable("HOST", "$(OWN)"), envFrom=FROM_SECRET),
            False,
        ),
        (container(PASSWORD, args=["--a=$(PASSWORB)"]), container(PASSWORD, args=["--a=$(PASSWORD)"]), True),
        (
            container(PASSWORD, command=["sh", "-c", "echo $PASSWORB"]),
            container(PASSWORD, command=["sh", "-c", "echo ${PASSWORD"]),
            True,
        ),
        (
            container(PASSWORD),
            container(PASSWORD, volumeMounts=[{"name": "v", "subPathExpr": "$(PASSWORD)"}]),
            True,
        ),
    ],
    ids=[
        "a new expansion",
        "the text around it",
        "moved within its value",
        "by way of another variable",
        "any unknown name beside a Secret's envFrom",
        "a name of the container's own",
        "in an argument",
        "by the shell",
        "in a path",
    ],
)
def test_a_secrets_value_is_not_expanded_into_what_the_container_tells(
    before: dict[str, Any], after: dict[str, Any], refused: bool
) -> None:
    rules = {concern.rule for concern in judge_change("Pod", before, after, LIMITS)}
    assert ("SecretReference" in rules) is refused


def test_a_corrected_name_of_the_variable_may_read_the_same_key_and_a_second_secret_may_not_join() -> None:
    renamed = container({**PASSWORD, "name": "PASSWORDS"})
    assert not judge_change("Pod", container(PASSWORD), renamed, LIMITS)
    joined = container(envFrom=[*FROM_SECRET, {"secretRef": {"name": "credz"}}])
    assert judge_change("Pod", container(envFrom=FROM_SECRET), joined, LIMITS)[0].rule == "SecretReference"


def test_the_token_stays_unmounted_where_it_was() -> None:
    before = {"spec": {"automountServiceAccountToken": False}}
    assert judge_change("Pod", before, {"spec": {}}, LIMITS)[0].rule == "ServiceAccountToken"
    assert not judge_change("Pod", before, before, LIMITS)


@pytest.mark.parametrize("after_", [{}, {"hostUsers": True}], ids=["removed", "true"])
def test_a_pod_keeps_the_users_of_its_own(after_: dict[str, Any]) -> None:
    before = {"spec": {"hostUsers": False}}
    assert judge_change("Pod", before, {"spec": after_}, LIMITS)[0].rule == "SecurityContext"
    assert not judge_change("Pod", before, before, LIMITS)
    assert not judge_change("Pod", {"spec": {}}, {"spec": after_}, LIMITS)


@pytest.mark.parametrize(
    ("old", "new", "near"),
    [
        ("db-creds/pasword", "db-creds/password", True),
        ("db-craeds", "db-creds", True),
        ("db-cerds/password", "db-creds/password", True),
        ("db", "db2", False),
        ("db-1-creds", "db-2-creds", False),
        ("admin", "admyns", False),
        ("db-creds/user", "db-creds/password", False),
        ("db-cred/passwor", "db-creds/password", False),
        ("db-creds", "db-creds/password", False),
    ],
)
def test_a_near_miss_is_a_slip_in_one_long_name(old: str, new: str, near: bool) -> None:
    assert is_near_miss(old, new) is near


@pytest.mark.parametrize(
    ("one", "other", "distance"), [("", "ab", 2), ("abc", "abc", 0), ("abcd", "acbd", 1), ("kitten", "sitting", 3)]
)
def test_the_edit_distance(one: str, other: str, distance: int) -> None:
    assert edit_distance(one, other) == edit_distance(other, one) == distance


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
    ("image", "expected"),
    [
        ("nginx", "docker.io/library/nginx"),
        ("nginx:1.28@sha256:" + "a" * 64, "docker.io/library/nginx"),
        ("index.docker.io/shop/app", "docker.io/shop/app"),
        ("localhost:5000/app:1", "localhost:5000/app"),
        ("registry.internal/team/app:2", "registry.internal/team/app"),
    ],
)
def test_the_repository_of_an_image(image: str, expected: str) -> None:
    assert repository(image) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("shop/storefrnt:1", "shop/storefront:1", []),
        ("r.example/storefrnt:1", "q.example/storefront:1", ["ImageRepository"]),
        ("shop/app1:1", "shop/app2:1", ["ImageRepository"]),
    ],
    ids=["a slip", "another host", "a number"],
)
def test_a_corrected_repository(old: str, new: str, expected: list[str]) -> None:
    def pod(image: str) -> dict[str, Any]:
        return {"spec": {"containers": [{"name": "web", "image": image}]}}

    assert [concern.rule for concern in judge_change("Pod", pod(old), pod(new), LIMITS)] == expected
    listed = Limits(registries=("q.example/", "shop/storefront"))
    allowed = new.startswith(("q.example", "shop/storefront"))
    rules = [concern.rule for concern in judge_change("Pod", pod(old), pod(new), listed)]
    assert rules == ([] if allowed else ["ImageRegistry"])


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
