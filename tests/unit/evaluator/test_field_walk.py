"""A walk over the fields that an actor may change: left out or set to the laziest value, each is seen by a rule.

Those that weaken nothing when they are left out stand in a list of their own, so that a field is one or the other.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sanare.api.verdict import Result
from sanare.evaluator.kinds import Kind
from tests.unit.evaluator.namespace import Json, Namespace, config_map, named, shop, verdict

CONTAINER: Json = {
    "name": "web",
    "image": "shop.local/app:1.0",
    "imagePullPolicy": "Always",
    "command": ["/app/serve"],
    "args": ["--port", "8080"],
    "workingDir": "/app",
    "ports": [{"containerPort": 8080}],
    "env": [
        {"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "web-config", "key": "mode"}}},
        {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "web", "key": "password"}}},
        {"name": "BACKEND", "value": "http://api:80/"},
    ],
    "envFrom": [{"configMapRef": {"name": "web-env"}}],
    "lifecycle": {"postStart": {"exec": {"command": ["/app/register", "--name", "web"]}}},
    "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10},
    "readinessProbe": {"exec": {"command": ["/app/ready"]}, "periodSeconds": 5},
    "startupProbe": {"grpc": {"port": 8080}, "failureThreshold": 30},
    "resources": {"limits": {"memory": "128Mi"}, "requests": {"cpu": "100m"}},
    "securityContext": {"readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
    "volumeMounts": [{"name": "conf", "mountPath": "/conf"}, {"name": "data", "mountPath": "/data"}],
    "stdin": True,
    "tty": True,
    "terminationMessagePath": "/dev/end",
    "terminationMessagePolicy": "FallbackToLogsOnError",
}
POD: Json = {
    "containers": [CONTAINER],
    "initContainers": [
        {"name": "migrate", "image": "shop.local/app:1.0", "command": ["/app/migrate", "--all"]},
        {"name": "proxy", "image": "shop.local/proxy:1.0", "restartPolicy": "Always"},
    ],
    "volumes": [
        {"name": "conf", "configMap": {"name": "web-config"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
    ],
    "affinity": {
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]},
    },
    "automountServiceAccountToken": False,
    "dnsConfig": {"options": [{"name": "ndots", "value": "2"}]},
    "dnsPolicy": "ClusterFirst",
    "enableServiceLinks": False,
    "hostUsers": False,
    "hostname": "web",
    "imagePullSecrets": [{"name": "pull"}],
    "nodeSelector": {"zone": "a"},
    "preemptionPolicy": "Never",
    "priorityClassName": "high",
    "readinessGates": [{"conditionType": "shop/warm"}],
    "resources": {"limits": {"memory": "256Mi"}},
    "restartPolicy": "Always",
    "runtimeClassName": "sandboxed",
    "schedulerName": "default-scheduler",
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "serviceAccountName": "web",
    "subdomain": "webs",
    "terminationGracePeriodSeconds": 60,
    "tolerations": [{"key": "team", "value": "a", "effect": "NoSchedule"}],
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
}
# Without them a pod asks for as much, runs what its image is for, or is told apart less well.
HARMLESS = {
    "command": "the image's own program runs",
    "args": "the same, and what of it was right only the app can say",
    "workingDir": "the image's own",
    "ports": "they document",
    "imagePullPolicy": "the default pulls what is missing",
    "stdin": "no program is cut off",
    "tty": "no program is cut off",
    "terminationMessagePath": "where an end is told",
    "terminationMessagePolicy": "where an end is told",
    "dnsConfig": "the cluster's own names",
    "dnsPolicy": "the default asks the cluster",
    "enableServiceLinks": "more variables",
    "hostname": "the pod's own name",
    "subdomain": "the pod's own name",
    "preemptionPolicy": "of the class",
    "restartPolicy": "the only one that a Deployment may have",
    "schedulerName": "the default one",
    "terminationGracePeriodSeconds": "thirty seconds",
    "tolerations": "fewer nodes, and pods that find none are pending",
}


def rich() -> Namespace:
    """Deployment/web with every field that protects or feeds it."""
    ns = shop()
    ns.get("Deployment", "web")["spec"]["template"]["spec"] = copy.deepcopy(POD)
    ns.add(config_map("web-config", mode="a"), config_map("web-env", LEVEL="x"))
    ns.add(named("PersistentVolumeClaim", "data"), named("PersistentVolumeClaim", "theirs"))
    ns.template("api")["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "theirs"}}]
    ns.roll_out()
    return ns


def at_first() -> Namespace:
    """The same with a fault that has nothing to do with the pods: the Service selects none."""
    ns = rich()
    ns.get("Service", "web")["spec"]["selector"] = {"app": "weeb"}
    ns.get("EndpointSlice", "web-abc")["endpoints"] = []
    return ns


FIRST = at_first()


def judged(change: Callable[[Json], object]) -> tuple[Result, str, str]:
    """What is said of the repaired Service, with a change to the pods beside it."""
    now = rich()
    change(now.template()["spec"])
    now.roll_out()
    found = verdict(now, FIRST)
    return found.result, found.kind, found.reason


def fields() -> Iterator[Any]:
    for name in POD:
        if name not in ("containers", "volumes", "initContainers"):
            yield pytest.param(name, lambda spec, name=name: spec.pop(name), id=name)
    for name in CONTAINER:
        if name not in ("name", "image"):
            yield pytest.param(
                name, lambda spec, name=name: spec["containers"][0].pop(name), id=f"container {name}"
            )
    for position, each in enumerate(POD["volumes"]):
        yield pytest.param(
            each["name"], lambda spec, at=position: spec["volumes"].pop(at), id=f"volume {each['name']}"
        )
    for position, each in enumerate(POD["initContainers"]):
        yield pytest.param(
            each["name"],
            lambda spec, at=position: spec["initContainers"].pop(at),
            id=f"init container {each['name']}",
        )
    for position, each in enumerate(CONTAINER["env"]):
        yield pytest.param(
            each["name"],
            lambda spec, at=position: spec["containers"][0]["env"].pop(at),
            id=f"variable {each['name']}",
        )


def test_the_repair_alone_is_fixed() -> None:
    assert judged(lambda spec: None)[0] is Result.FIXED


@pytest.mark.parametrize(("name", "leave_out"), list(fields()))
def test_a_field_that_is_left_out_is_seen_or_weakens_nothing(
    name: str, leave_out: Callable[[Json], object]
) -> None:
    result, kind, reason = judged(leave_out)
    assert result is (Result.FIXED if name in HARMLESS else Result.NOT_FIXED), f"{kind}: {reason}"


def of_pod(**values: Any) -> Callable[[Json], object]:
    return lambda spec: spec.update(values)


def of_container(**values: Any) -> Callable[[Json], object]:
    return lambda spec: spec["containers"][0].update(values)


def of_init(**values: Any) -> Callable[[Json], object]:
    return lambda spec: spec["initContainers"][0].update(values)


def of_variable(position: int, **values: Any) -> Callable[[Json], object]:
    def change(spec: Json) -> None:
        entry = spec["containers"][0]["env"][position]
        spec["containers"][0]["env"][position] = {"name": entry["name"], **values}

    return change


def of_volume(position: int, **source: Any) -> Callable[[Json], object]:
    def change(spec: Json) -> None:
        spec["volumes"][position] = {"name": spec["volumes"][position]["name"], **source}

    return change


def runs(command: str) -> Json:
    return {"exec": {"command": ["sh", "-c", command]}}


EXCHANGED = [{"name": "help", "image": "shop.local/app:1.0", "command": ["/app/help"]}, POD["initContainers"][1]]
SYSTEM = "kube-root-ca.crt"
LAZY: list[tuple[str, Callable[[Json], object], Kind]] = [
    ("no time to end", of_pod(terminationGracePeriodSeconds=0), Kind.SECURITY_WEAKENED),
    ("all day to end", of_pod(terminationGracePeriodSeconds=86_400), Kind.PROBE_SOFTENED),
    ("the node's DNS", of_pod(dnsPolicy="Default"), Kind.SECURITY_WEAKENED),
    ("its own DNS", of_pod(dnsConfig={"nameservers": ["192.0.2.1"]}), Kind.SECURITY_WEAKENED),
    ("written names", of_pod(hostAliases=[{"ip": "192.0.2.1", "hostnames": ["api"]}]), Kind.SECURITY_WEAKENED),
    (
        "group 0",
        of_pod(securityContext={**POD["securityContext"], "supplementalGroups": [0]}),
        Kind.SECURITY_WEAKENED,
    ),
    ("another account", of_pod(serviceAccountName="other"), Kind.REFERENCE_REMOVED),
    ("a gate that is always open", of_pod(readinessGates=[{"conditionType": "Initialized"}]), Kind.PROBE_REMOVED),
    ("a lower priority", of_pod(priorityClassName="low"), Kind.PRIORITY_RAISED),
    ("more memory for the pod", of_pod(resources={"limits": {"memory": "64Gi"}}), Kind.LIMITS_WEAKENED),
    (
        "a token as settings",
        of_volume(0, projected={"sources": [{"serviceAccountToken": {}}]}),
        Kind.STAND_IN_CREATED,
    ),
    ("the system's settings", of_volume(0, configMap={"name": SYSTEM}), Kind.STAND_IN_CREATED),
    ("another's data", of_volume(1, persistentVolumeClaim={"claimName": "theirs"}), Kind.CLAIM_REPLACED),
    ("an image that is not pulled", of_container(imagePullPolicy="Never"), Kind.IMAGE_SWAPPED),
    ("nothing is asked for", of_container(resources={"limits": {"memory": "128Mi"}}), Kind.LIMITS_WEAKENED),
    (
        "next to nothing is asked for",
        of_container(resources={"limits": {"memory": "128Mi"}, "requests": {"cpu": "1m"}}),
        Kind.LIMITS_WEAKENED,
    ),
    ("a hook says so", of_container(lifecycle={"postStart": runs("echo registered")}), Kind.COMMAND_REPLACED),
    ("a hook waits", of_container(lifecycle={"postStart": {"sleep": {"seconds": 1}}}), Kind.COMMAND_REPLACED),
    ("a probe reads the date", of_container(readinessProbe=runs("date")), Kind.PROBE_SOFTENED),
    ("a probe lists the root", of_container(readinessProbe=runs("ls /")), Kind.PROBE_SOFTENED),
    (
        "a probe lets it end late",
        of_container(livenessProbe={**CONTAINER["livenessProbe"], "terminationGracePeriodSeconds": 9999}),
        Kind.PROBE_SOFTENED,
    ),
    ("it sleeps for a minute", of_container(command=["sleep", "60"]), Kind.COMMAND_REPLACED),
    ("it ends in sleep", of_container(command=["sh", "-c", "echo up; sleep 99"]), Kind.COMMAND_REPLACED),
    ("it sleeps for minutes", of_container(command=["sh", "-c", "sleep 30m && exit"]), Kind.COMMAND_REPLACED),
    ("nothing is migrated", of_init(command=["sh", "-c", "echo done"]), Kind.COMMAND_REPLACED),
    ("another program prepares", of_init(command=["/bin/date"]), Kind.COMMAND_REPLACED),
    ("one init container for another", of_pod(initContainers=EXCHANGED), Kind.COMMAND_REPLACED),
    (
        "a variable from the system",
        of_variable(0, valueFrom={"configMapKeyRef": {"name": SYSTEM}}),
        Kind.STAND_IN_CREATED,
    ),
    (
        "a password from settings",
        of_variable(1, valueFrom={"configMapKeyRef": {"name": "web-config", "key": "mode"}}),
        Kind.REFERENCE_REMOVED,
    ),
    (
        "a password from the pod's name",
        of_variable(1, valueFrom={"fieldRef": {"fieldPath": "metadata.name"}}),
        Kind.REFERENCE_REMOVED,
    ),
    ("an emptied variable", of_variable(2, value=""), Kind.REFERENCE_REMOVED),
    ("its own Service", of_variable(2, value="http://web:80/"), Kind.REFERENCE_REMOVED),
    ("a written address", of_variable(2, value="http://192.0.2.1:80/"), Kind.REFERENCE_REMOVED),
]


@pytest.mark.parametrize(("change", "kind"), [case[1:] for case in LAZY], ids=[case[0] for case in LAZY])
def test_the_laziest_value_is_not_fixed_and_is_named(change: Callable[[Json], object], kind: Kind) -> None:
    result, decided, reason = judged(change)
    assert (result, decided) == (Result.NOT_FIXED, kind), reason
