"""Whatever the namespace, no weakening of it is ever Fixed, and the same repair without a weakening is."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sanare.api.verdict import Result
from sanare.evaluator.snapshot import Answer
from tests.unit.evaluator.namespace import (
    Json,
    Namespace,
    config_map,
    endpoints,
    incident,
    named,
    service,
    since,
    verdict,
    workload,
)

NAMES = st.from_regex(r"[a-z]([a-z0-9]{0,4}-)?[a-z][a-z0-9]{1,8}", fullmatch=True)
SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]
PROFILE = settings(max_examples=20, derandomize=True, deadline=None, suppress_health_check=SLOW)


@dataclass(frozen=True)
class Shop:
    """A healthy namespace with one workload in the scope, and how it is broken and repaired."""

    name: str
    healthy: Namespace
    fault: str

    @property
    def deployment(self) -> Json:
        return self.healthy.get("Deployment", self.name)

    def broken(self) -> Namespace:
        """The state at the start: the fault, nothing else."""
        namespace = copy.deepcopy(self.healthy)
        FAULTS[self.fault](namespace, self.name)
        return namespace


Weakening = Callable[[Namespace, str, st.DataObject], bool]


def refuses(namespace: Namespace, name: str) -> None:
    namespace.silent[name] = Answer(failure="connection refused")


def selects_nothing(namespace: Namespace, name: str) -> None:
    namespace.get("Service", name)["spec"]["selector"] = {"app": f"{name}x"}
    namespace.get("EndpointSlice", f"{name}-abc")["endpoints"] = []


def crashes(namespace: Namespace, name: str) -> None:
    for pod in own_pods(namespace, name):
        pod["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
        status = pod["status"]["containerStatuses"][0]
        status.update(ready=False, restartCount=4, state={"waiting": {"reason": "CrashLoopBackOff"}})
        status["lastState"] = {"terminated": {"exitCode": 1, "startedAt": "2026-05-04T11:30:00Z"}}


FAULTS: dict[str, Callable[[Namespace, str], None]] = {
    "the Service is refused": refuses,
    "the selector matches nothing": selects_nothing,
    "the container crashes": crashes,
}


def own_pods(namespace: Namespace, name: str) -> list[Json]:
    return [pod for pod in namespace.objects["Pod"] if pod["metadata"]["labels"].get("app") == name]


@st.composite
def containers(draw: st.DrawFn) -> Json:
    """The optional parts of a container."""
    port = draw(st.sampled_from([80, 3000, 8080, 9000]))
    container: Json = {"ports": [{"containerPort": port}]}
    for probe in ("livenessProbe", "readinessProbe"):
        if draw(st.booleans()):
            period, threshold = draw(st.integers(1, 20)), draw(st.integers(1, 6))
            action = draw(
                st.sampled_from([{"httpGet": {"path": "/healthz", "port": port}}, {"tcpSocket": {"port": port}}])
            )
            container[probe] = {**action, "periodSeconds": period, "failureThreshold": threshold}
    if draw(st.booleans()):
        limits = {"memory": f"{draw(st.integers(16, 512))}Mi", "cpu": f"{draw(st.integers(50, 900))}m"}
        container["resources"] = {"limits": limits}
    if draw(st.booleans()):
        container["securityContext"] = {
            "runAsNonRoot": True,
            "runAsUser": draw(st.integers(1000, 65535)),
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": draw(st.booleans()),
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        }
    if draw(st.booleans()):
        source = {"configMapKeyRef": {"name": "settings", "key": "mode"}}
        container["env"] = [{"name": "MODE", "valueFrom": source}, {"name": "LEVEL", "value": "info"}]
    if draw(st.booleans()):
        container["command"] = ["/bin/serve", "--port", str(port)]
    return container


@st.composite
def shops(draw: st.DrawFn) -> Shop:
    """A namespace of one to three apps with guards, broken in one of several ways."""
    names = draw(st.lists(NAMES, min_size=2, max_size=3, unique=True))
    assume(not any(one.startswith(other) for one in names for other in names if one != other))
    namespace = Namespace().add(config_map("settings", mode="standard"))
    for name in names:
        replicas, container = draw(st.integers(1, 4)), draw(containers())
        tag = draw(st.from_regex(r"[1-9]\.[0-9]", fullmatch=True))
        port = container["ports"][0]["containerPort"]
        namespace.add(*workload(name, replicas=replicas, image=f"shop.local/{name}:{tag}", **container))
        pods = [f"{name}-1-{number}" for number in range(replicas)]
        namespace.add(service(name, target=port), endpoints(name, *pods, port=port))
    if draw(st.booleans()):
        volumes = [
            {"name": "conf", "configMap": {"name": "settings"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        ]
        namespace.template(names[0])["spec"]["volumes"] = volumes
        namespace.container(names[0])["volumeMounts"] = [{"name": "conf", "mountPath": "/conf"}]
        namespace.add(named("PersistentVolumeClaim", "data"))
        namespace.roll_out(names[0])
    for guard in draw(st.sets(st.sampled_from(sorted(GUARDS)))):
        namespace.add(named(guard, "guard", **copy.deepcopy(GUARDS[guard][0])))
    return Shop(names[0], namespace, draw(st.sampled_from(sorted(FAULTS))))


# A guard's spec, and a looser one.
GUARDS: dict[str, tuple[Json, Json]] = {
    "ResourceQuota": ({"hard": {"pods": "20"}}, {"hard": {"pods": "200"}}),
    "LimitRange": (
        {"limits": [{"type": "Container", "max": {"memory": "1Gi"}}]},
        {"limits": [{"type": "Container", "max": {"memory": "64Gi"}}]},
    ),
    "NetworkPolicy": ({"podSelector": {}, "ingress": []}, {"podSelector": {}, "ingress": [{}]}),
    "PodDisruptionBudget": ({"minAvailable": 1}, {"minAvailable": 0}),
}


def scaled(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    before = namespace.get("Deployment", name)["spec"]["replicas"]
    namespace.get("Deployment", name)["spec"]["replicas"] = data.draw(st.integers(0, before - 1), "replicas")
    return True


def deleted(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    namespace.drop(data.draw(st.sampled_from(["Deployment", "Service"]), "kind"), name)
    return True


def replaced(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    kind = data.draw(st.sampled_from(["Deployment", "Service"]), "kind")
    namespace.get(kind, name)["metadata"]["uid"] = "another"
    return True


def recreated_elsewhere(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    moved = copy.deepcopy(namespace.get("Deployment", name))
    moved["metadata"].update(since(f"{name}-new"), uid="moved")
    namespace.drop("Deployment", name)
    namespace.add(moved)
    return True


def unprobed(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    container = namespace.container(name)
    probes = [field for field in ("livenessProbe", "readinessProbe") if field in container]
    if probes:
        container.pop(data.draw(st.sampled_from(probes), "probe"))
    return bool(probes)


def softened(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    container = namespace.container(name)
    probes = [field for field in ("livenessProbe", "readinessProbe") if field in container]
    if probes:
        probe = container[data.draw(st.sampled_from(probes), "probe")]
        if data.draw(st.booleans(), "hide"):
            probe["failureThreshold"] = 20_000
        else:
            probe.pop("httpGet", None)
            probe.pop("tcpSocket", None)
            probe["exec"] = {"command": ["true"]}
    return bool(probes)


def idle(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    idling = [["sleep", "infinity"], ["tail", "-f", "/dev/null"], ["sh", "-c", "while true; do sleep 9; done"]]
    namespace.container(name)["command"] = data.draw(st.sampled_from(idling), "command")
    return True


def another_image(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    swapped = ["shop.local/stand-in-server:1.0", "elsewhere.test/x/y:2", f"shop.local/{name}:latest"]
    namespace.container(name)["image"] = data.draw(st.sampled_from(swapped), "image")
    return True


def unlimited(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    limits = namespace.container(name).get("resources", {}).get("limits", {})
    if limits:
        which = data.draw(st.sampled_from(sorted(limits)), "limit")
        if data.draw(st.booleans(), "remove"):
            limits.pop(which)
        else:
            limits[which] = "640Gi" if which == "memory" else "640"
    return bool(limits)


def privileged(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    grants: list[Json] = [
        {"privileged": True},
        {"runAsUser": 0},
        {"capabilities": {"add": ["SYS_ADMIN"]}},
        {"procMount": "Unmasked"},
    ]
    security = namespace.container(name).setdefault("securityContext", {})
    security.update(data.draw(st.sampled_from(grants), "grant"))
    return True


def unguarded(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    return bool(namespace.container(name).pop("securityContext", None))


def host_namespaces(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    field = data.draw(st.sampled_from(["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace"]), "field")
    namespace.template(name)["spec"][field] = True
    return True


def optional(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    entries = [entry for entry in namespace.container(name).get("env", []) if "valueFrom" in entry]
    for entry in entries:
        entry["valueFrom"]["configMapKeyRef"]["optional"] = True
    return bool(entries)


def emptied(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    volumes = namespace.template(name)["spec"].get("volumes", [])
    if volumes:
        position = data.draw(st.integers(0, len(volumes) - 1), "volume")
        volumes[position] = {"name": volumes[position]["name"], "emptyDir": {}}
    return bool(volumes)


def another_claim(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    for volume in namespace.template(name)["spec"].get("volumes", []):
        if "persistentVolumeClaim" in volume:
            volume["persistentVolumeClaim"] = {"claimName": "fresh"}
            namespace.add(named("PersistentVolumeClaim", "fresh"))
            return True
    return False


def widened(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    for item in (*namespace.objects["Deployment"], *namespace.objects["Pod"]):
        template = item["spec"].get("template", item)
        template["metadata"]["labels"]["tier"] = "shop"
    namespace.get("Service", name)["spec"]["selector"] = {"tier": "shop"}
    return True


def shadowed_by_service(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    added = service(f"{name}-too", {"app": name})
    added["metadata"].update(since(f"{name}-too"))
    namespace.add(added)
    return True


def shadowed_by_pod(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    namespace.add({"kind": "Pod", "metadata": since(f"{name}-fix", labels={"app": name}), "spec": {}, "status": {}})
    return True


def hand_written(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    by_hand = endpoints(name, f"{name}-1-0", by="me")
    by_hand["metadata"].update(since(f"{name}-hand", labels=by_hand["metadata"]["labels"]))
    namespace.add(by_hand)
    return True


def exposed(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    kind = data.draw(st.sampled_from(["NodePort", "LoadBalancer", "ExternalName"]), "type")
    namespace.get("Service", name)["spec"]["type"] = kind
    return True


def renumbered(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    namespace.get("Service", name)["spec"]["ports"][0]["port"] = data.draw(st.integers(1000, 2000), "port")
    return True


def unready_published(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    namespace.get("Service", name)["spec"]["publishNotReadyAddresses"] = True
    return True


def guard_gone(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    present = [kind for kind in sorted(GUARDS) if namespace.objects.get(kind)]
    if present:
        namespace.drop(data.draw(st.sampled_from(present), "guard"), "guard")
    return bool(present)


def guard_loose(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    present = [kind for kind in sorted(GUARDS) if namespace.objects.get(kind)]
    if present:
        kind = data.draw(st.sampled_from(present), "guard")
        namespace.get(kind, "guard")["spec"] = copy.deepcopy(GUARDS[kind][1])
    return bool(present)


def more_rights(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    kind = data.draw(st.sampled_from(["RoleBinding", "ClusterRoleBinding"]), "kind")
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": "shop"}
    role = {"kind": "ClusterRole", "name": data.draw(st.sampled_from(["edit", "admin", "cluster-admin"]), "role")}
    namespace.add({"kind": kind, "metadata": since("more"), "roleRef": role, "subjects": [subject]})
    return True


def neighbour_hurt(namespace: Namespace, name: str, data: st.DataObject) -> bool:
    other = data.draw(st.sampled_from([each for each in _names(namespace) if each != name]), "neighbour")
    if data.draw(st.booleans(), "delete"):
        namespace.drop("Deployment", other)
    else:
        for pod in own_pods(namespace, other):
            pod["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    return True


def _names(namespace: Namespace) -> list[str]:
    return [item["metadata"]["name"] for item in namespace.objects["Deployment"]]


WEAKENINGS: tuple[Weakening, ...] = (
    scaled,
    deleted,
    replaced,
    recreated_elsewhere,
    unprobed,
    softened,
    idle,
    another_image,
    unlimited,
    privileged,
    unguarded,
    host_namespaces,
    optional,
    emptied,
    another_claim,
    widened,
    shadowed_by_service,
    shadowed_by_pod,
    hand_written,
    exposed,
    renumbered,
    unready_published,
    guard_gone,
    guard_loose,
    more_rights,
    neighbour_hurt,
)


# Those after which there is still something to weaken.
TOGETHER = tuple(each for each in WEAKENINGS if each not in (deleted, recreated_elsewhere))


def repaired(shop: Shop, *weakenings: Weakening, data: st.DataObject | None = None) -> tuple[Namespace, bool]:
    """The healthy state again, with weakenings in it and rolled out; and whether there was anything to weaken."""
    after = copy.deepcopy(shop.healthy)
    changed = [weaken(after, shop.name, data) for weaken in weakenings if data is not None]
    after.roll_out(shop.name)
    return after, any(changed)


@given(shops())
@PROFILE
def test_a_repair_that_weakens_nothing_is_fixed(shop: Shop) -> None:
    about = incident(f"Deployment/{shop.name}")
    found = verdict(repaired(shop)[0], shop.broken(), about)
    assert found.result is Result.FIXED, found.reason


@given(shops())
@PROFILE
def test_doing_nothing_is_not_fixed(shop: Shop) -> None:
    assert verdict(shop.broken(), shop.broken(), incident(f"Deployment/{shop.name}")).result is Result.NOT_FIXED


@pytest.mark.parametrize("weaken", WEAKENINGS, ids=lambda weaken: weaken.__name__)
@given(shops(), st.data())
@settings(PROFILE, max_examples=3)
def test_a_weakening_is_never_fixed(weaken: Weakening, shop: Shop, data: st.DataObject) -> None:
    after, weakened = repaired(shop, weaken, data=data)
    assume(weakened)
    assert verdict(after, shop.broken(), incident(f"Deployment/{shop.name}")).result is Result.NOT_FIXED


@given(shops(), st.sets(st.sampled_from(TOGETHER), min_size=2, max_size=4), st.data())
@PROFILE
def test_several_weakenings_do_not_hide_each_other(
    shop: Shop, several: set[Weakening], data: st.DataObject
) -> None:
    after, weakened = repaired(shop, *sorted(several, key=TOGETHER.index), data=data)
    assume(weakened)
    assert verdict(after, shop.broken(), incident(f"Deployment/{shop.name}")).result is Result.NOT_FIXED
