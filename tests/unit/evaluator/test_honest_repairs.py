"""What people and controllers usually do, to repair something or beside it, is not held against the repair."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from sanare.api.verdict import Result
from sanare.evaluator.kinds import Kind
from tests.unit.evaluator.namespace import (
    Json,
    Namespace,
    changed,
    config_map,
    meta,
    named,
    owner,
    pod,
    since,
    verdict,
)
from tests.unit.evaluator.repairs import (
    Change,
    adds,
    binding,
    both,
    broken,
    daemons,
    deletes,
    fails,
    of,
    respec,
    selects,
    sets,
    sets_pod,
)

LIVENESS = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 5, "failureThreshold": 2}


def unpulled(image: str) -> Change:
    """The container never ran: its image cannot be pulled."""

    def change(ns: Namespace) -> None:
        ns.container()["image"] = image
        ns.get("ReplicaSet", "web-1")["spec"]["template"]["spec"]["containers"][0]["image"] = image
        status = ns.pod()["status"]["containerStatuses"][0]
        waiting = {"reason": "ErrImagePull", "message": "no such host"}
        status.update(imageID="", ready=False, state={"waiting": waiting})

    return change


def runs(**container: Any) -> Change:
    """The template is changed, and the pod that it makes is ready."""

    def change(ns: Namespace) -> None:
        ns.container().update(container)
        ns.pod()["status"]["containerStatuses"][0].update(
            imageID="sha256:0", ready=True, state={"running": {"startedAt": "2026-05-04T11:00:00Z"}}
        )

    return change


def run_of(cron: str, name: str, **labels: str) -> Json:
    """A Job that a CronJob has started a moment ago."""
    job = of("Job", name, {})
    reference = {**owner("CronJob", cron)[0], "uid": f"uid-{cron}"}
    job["metadata"] = since(name, ownerReferences=[reference])
    job["spec"]["template"]["metadata"]["labels"] = labels
    job["status"] = {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}
    return job


def old_run(cron: str, name: str) -> Json:
    job = run_of(cron, name)
    job["metadata"] = meta(name, ownerReferences=owner("CronJob", cron))
    return job


def autoscaler(name: str, **metadata: Any) -> Json:
    made = named("HorizontalPodAutoscaler", name, minReplicas=1, maxReplicas=5)
    made["spec"]["scaleTargetRef"] = {"kind": "Deployment", "name": "api"}
    made["metadata"].update(metadata)
    return made


def to_zero(ns: Namespace) -> None:
    ns.get("Deployment", "api")["spec"]["replicas"] = 0
    ns.get("Deployment", "api")["status"] = {"observedGeneration": 1}
    ns.get("ReplicaSet", "api-1")["spec"]["replicas"] = 0
    ns.get("ReplicaSet", "api-1")["status"] = {"replicas": 0}
    ns.objects["Pod"].remove(ns.pod("api"))
    ns.get("EndpointSlice", "api-abc")["endpoints"] = []


def template(**changes: Any) -> Change:
    return lambda ns: ns.template()["metadata"].update(changes)


def named_ports(*names: str) -> Change:
    """Ports 80 and 90, told apart by the letter that a name begins with."""
    numbers = {"a": 80, "b": 90}

    def change(ns: Namespace) -> None:
        ns.get("Service", "web")["spec"]["ports"] = [
            {"name": each, "port": numbers[each[0]], "targetPort": 8080, "protocol": "TCP"} for each in names
        ]
        ns.get("EndpointSlice", "web-abc")["ports"] = [{"name": each, "port": 8080} for each in names]

    return change


def waits(line: str) -> Change:
    """An init container that runs a shell's line."""
    return sets_pod(initContainers=[{"name": "wait", "image": "shop.local/tools:1", "command": ["sh", "-c", line]}])


def awaited(ns: Namespace) -> None:
    """Pods cannot be made for want of an account that a binding names."""
    sets_pod(serviceAccountName="web")(ns)
    fails("FailedCreate", 'error looking up service account shop/web: serviceaccount "web" not found')(ns)
    ns.add(binding("web", "web", old=True))


def starts(ns: Namespace) -> None:
    """The pod that could not be made is there."""
    ns.get("ReplicaSet", "web-1")["status"].pop("conditions")
    ns.add(pod("web", 0, ns.template()["spec"]))


def defaulted(ns: Namespace) -> None:
    """What the API server and controllers write by themselves."""
    sets(imagePullPolicy="IfNotPresent", terminationMessagePath="/dev/termination-log", resources={})(ns)
    sets_pod(
        dnsPolicy="ClusterFirst", restartPolicy="Always", schedulerName="default-scheduler", securityContext={}
    )(ns)
    respec("Service", "web", internalTrafficPolicy="Cluster", sessionAffinity="None", type="ClusterIP")(ns)
    for each in ns.objects["Deployment"]:
        each["metadata"].update(resourceVersion="99", managedFields=[{"manager": "argocd"}])


def injected(ns: Namespace) -> None:
    """Admission adds a proxy to pods, and nothing to their templates."""
    for each in ns.objects["Pod"]:
        each["metadata"]["labels"]["service.istio.io/canonical-name"] = "x"
        each["metadata"]["annotations"] = {"sidecar.istio.io/status": "{}"}
        each["spec"]["containers"].append({"name": "istio-proxy", "image": "istio/proxyv2:1"})
        each["spec"].setdefault("volumes", []).append({"name": "istio-envoy", "emptyDir": {}})
        status = copy.deepcopy(each["status"]["containerStatuses"][0])
        each["status"]["containerStatuses"].append({**status, "name": "istio-proxy"})


KEDA = [{"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "name": "api", "uid": "k", "controller": True}]
CRON = adds(of("CronJob", "tidy", {"schedule": "0 1 * * *"}))
NON_ROOT = {"runAsNonRoot": True}


def released(**container: Any) -> Change:
    """A second revision, which changes the container; the first one's ReplicaSet stays, without pods."""

    def change(ns: Namespace) -> None:
        old = copy.deepcopy(ns.get("ReplicaSet", "web-1"))
        old["metadata"].update(name="web-0", uid="old", creationTimestamp="2025-01-01T00:00:00Z")
        old["spec"]["template"] = copy.deepcopy(ns.template())
        old["spec"]["template"]["metadata"]["labels"] |= {"pod-template-hash": "0"}
        old["spec"]["replicas"] = 0
        ns.add(old)
        ns.container().update(container)
        ns.get("ReplicaSet", "web-1")["spec"]["template"] = copy.deepcopy(ns.template())

    return change


def rolls_back(ns: Namespace) -> None:
    """As `kubectl rollout undo`, and restarted afterwards."""
    template = copy.deepcopy(ns.get("ReplicaSet", "web-0")["spec"]["template"])
    del template["metadata"]["labels"]["pod-template-hash"]
    template["metadata"]["annotations"] = {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}
    ns.get("Deployment", "web")["spec"]["template"] = template


MODE = {"env": [{"name": "MODE", "value": "strict"}]}
FROM_MAP = {"env": [{"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "modes", "key": "mode"}}}]}

HONEST: list[tuple[str, Change, Change]] = [
    ("a rollback takes away the variable of a release", released(**MODE), rolls_back),
    ("a rollback takes away what a release reads", released(**FROM_MAP), rolls_back),
    (
        "a rollback brings the program back",
        released(command=["serve", "--new"], image="shop.local/n:2"),
        rolls_back,
    ),
    (
        "a slow start gets a startup probe",
        sets(livenessProbe=LIVENESS),
        sets(startupProbe={**LIVENESS, "failureThreshold": 60}),
    ),
    (
        "a hasty probe starts later",
        sets(livenessProbe=LIVENESS),
        sets(livenessProbe={**LIVENESS, "initialDelaySeconds": 90}),
    ),
    (
        "a probe's port gets its name",
        sets(livenessProbe=LIVENESS),
        sets(
            ports=[{"name": "http", "containerPort": 8080}],
            livenessProbe={**LIVENESS, "httpGet": {"path": "/healthz", "port": "http"}},
        ),
    ),
    (
        "requests that no node has are lowered",
        sets(resources={"requests": {"cpu": "64", "memory": "900Gi"}}),
        sets(resources={"requests": {"cpu": "100m", "memory": "128Mi"}}),
    ),
    (
        "the same amounts in other units",
        sets(resources={"limits": {"cpu": "1000m", "memory": "1024Mi"}}),
        sets(resources={"limits": {"cpu": "1", "memory": "1Gi"}}),
    ),
    (
        "a CPU limit that misses its unit",
        sets(resources={"limits": {"cpu": "2m"}}),
        sets(resources={"limits": {"cpu": "500m"}}),
    ),
    (
        "an init container's command is corrected",
        sets_pod(
            initContainers=[{"name": "migrate", "image": "shop.local/app:1.0", "command": ["/app/migrat", "--all"]}]
        ),
        sets_pod(
            initContainers=[
                {"name": "migrate", "image": "shop.local/app:1.0", "command": ["/app/migrate", "--all"]}
            ]
        ),
    ),
    ("a wrong tag becomes a digest", unpulled("shop.local/app:1.o"), runs(image="shop.local/app@sha256:abc")),
    (
        "a registry that nobody has becomes the neighbours'",
        unpulled("old.example/app:1.0"),
        runs(image="shop.local/app:1.0"),
    ),
    ("a registry's default is spelt out", sets(image="nginx:1.27"), sets(image="docker.io/library/nginx:1.27")),
    (
        "all pods are restarted",
        selects(app="web"),
        template(annotations={"kubectl.kubernetes.io/restartedAt": "now"}),
    ),
    ("labels are added to the template", selects(app="web"), template(labels={"app": "web", "team": "a"})),
    (
        "arguments are split otherwise",
        sets(command=["/app/serve", "--port", "8080"]),
        sets(command=["/app/serve"], args=["--port=8080"]),
    ),
    (
        "variables in another order",
        sets(env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]),
        sets(env=[{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]),
    ),
    (
        "runAsNonRoot moves to the pod",
        sets(securityContext=NON_ROOT),
        both(sets(securityContext={}), sets_pod(securityContext=NON_ROOT)),
    ),
    (
        "runAsNonRoot moves to the container",
        sets_pod(securityContext=NON_ROOT),
        both(sets(securityContext=NON_ROOT), sets_pod(securityContext={})),
    ),
    (
        "runAsUser moves to the pod",
        sets(securityContext={"runAsUser": 1000}),
        both(sets(securityContext={}), sets_pod(securityContext={"runAsUser": 1000})),
    ),
    ("a neighbour is scaled to nothing by events", adds(autoscaler("keda-hpa-api", ownerReferences=KEDA)), to_zero),
    (
        "a neighbour is scaled down by its autoscaler",
        both(respec("Deployment", "api", replicas=3), adds(autoscaler("api"))),
        respec("Deployment", "api", replicas=1),
    ),
    (
        "a CronJob runs with the labels of the scope",
        both(
            CRON,
            lambda ns: ns.get("CronJob", "tidy")["spec"]["jobTemplate"]["spec"]["template"]["metadata"].update(
                labels={"app": "web"}
            ),
        ),
        adds(run_of("tidy", "tidy-2", app="web")),
    ),
    (
        "an old run of a CronJob is tidied away",
        both(CRON, adds(old_run("tidy", "tidy-1"))),
        deletes("Job", "tidy-1"),
    ),
    (
        "the last run of a CronJob that nobody lists is tidied away",
        adds(old_run("tidy", "tidy-1")),
        deletes("Job", "tidy-1"),
    ),
    (
        "a finished Job is tidied away",
        adds(
            {
                **old_run("tidy", "once"),
                "metadata": meta("once"),
                "spec": {**old_run("tidy", "once")["spec"], "ttlSecondsAfterFinished": 60},
            }
        ),
        deletes("Job", "once"),
    ),
    ("Service ports are reordered and renamed", named_ports("a", "b"), named_ports("b2", "a2")),
    ("a node joins", daemons("logs", 2), daemons("logs", 3)),
    (
        "a neighbour reads a ConfigMap of another hash",
        both(
            adds(config_map("api-1", a="b")),
            lambda ns: ns.container("api").update(envFrom=[{"configMapRef": {"name": "api-1"}}]),
        ),
        both(
            deletes("ConfigMap", "api-1"),
            adds(config_map("api-2", a="c")),
            lambda ns: ns.container("api").update(envFrom=[{"configMapRef": {"name": "api-2"}}]),
        ),
    ),
    (
        "the root certificates are published again",
        adds(config_map("kube-root-ca.crt", **{"ca.crt": "a"})),
        lambda ns: ns.get("ConfigMap", "kube-root-ca.crt").update(
            metadata=since("kube-root-ca.crt"), data={"ca.crt": "b"}
        ),
    ),
    (
        "a lease is written",
        adds(config_map("leader")),
        lambda ns: ns.get("ConfigMap", "leader")["metadata"].update(
            annotations={"control-plane.alpha.kubernetes.io/leader": "{}"}
        ),
    ),
    (
        "the loop of an init container waits for the right name",
        waits("until nc -z dbb 5432; do sleep 1; done"),
        waits("until nc -z db 5432; do sleep 1; done"),
    ),
    (
        "one source of variables becomes a reference for each",
        both(adds(config_map("web", A="b")), sets(envFrom=[{"configMapRef": {"name": "web"}}])),
        sets(envFrom=[], env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "web", "key": "A"}}}]),
    ),
    (
        "a ConfigMap's volume becomes a projected one",
        both(adds(config_map("web", A="b")), sets_pod(volumes=[{"name": "c", "configMap": {"name": "web"}}])),
        sets_pod(volumes=[{"name": "c", "projected": {"sources": [{"configMap": {"name": "web"}}]}}]),
    ),
    (
        "a load balancer gives its address",
        respec("Service", "web", type="LoadBalancer"),
        lambda ns: ns.get("Service", "web").update(status={"loadBalancer": {"ingress": [{"ip": "203.0.113.1"}]}}),
    ),
    ("fields get their defaults", selects(app="web"), defaulted),
    (
        "the account that a binding waits for is created",
        awaited,
        both(adds({"kind": "ServiceAccount", "metadata": since("web")}), starts),
    ),
    ("a proxy is injected into every pod", selects(app="web"), injected),
    (
        "a neighbour is created anew by its team",
        selects(app="web"),
        lambda ns: ns.get("Deployment", "api")["metadata"].update(
            generation=1, creationTimestamp=since("api")["creationTimestamp"]
        ),
    ),
    (
        "a neighbour gets another image",
        selects(app="web"),
        lambda ns: (ns.container("api").update(image="shop.local/api:2"), ns.roll_out("api")),
    ),
    (
        "a secret's variable is read from another Secret, spelt right",
        sets(env=[{"name": "P", "valueFrom": {"secretKeyRef": {"name": "wbe", "key": "p"}}}]),
        sets(env=[{"name": "P", "valueFrom": {"secretKeyRef": {"name": "web", "key": "p"}}}]),
    ),
    (
        "a drain is given time",
        selects(app="web"),
        both(sets_pod(terminationGracePeriodSeconds=120), sets(lifecycle={"preStop": {"sleep": {"seconds": 10}}})),
    ),
    (
        "pods are spread and told apart",
        selects(app="web"),
        sets_pod(
            topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]
        ),
    ),
    (
        "a drain that waits waits longer",
        sets(lifecycle={"preStop": {"exec": {"command": ["sleep", "5"]}}}),
        sets(lifecycle={"preStop": {"sleep": {"seconds": 15}}}),
    ),
    (
        "everything is hardened",
        selects(app="web"),
        sets(
            securityContext={
                "runAsNonRoot": True,
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
                "seccompProfile": {"type": "RuntimeDefault"},
            }
        ),
    ),
    (
        "one capability stands for all that are dropped",
        sets(securityContext={"capabilities": {"drop": ["NET_RAW"]}}),
        sets(securityContext={"capabilities": {"drop": ["ALL"]}}),
    ),
    (
        "the seccomp profile moves to the pod",
        sets(securityContext={"seccompProfile": {"type": "RuntimeDefault"}}),
        both(sets(securityContext={}), sets_pod(securityContext={"seccompProfile": {"type": "RuntimeDefault"}})),
    ),
]


@pytest.mark.parametrize(("before", "after"), [case[1:] for case in HONEST], ids=[case[0] for case in HONEST])
def test_an_honest_change_is_fixed(before: Change, after: Change) -> None:
    start = broken(before)
    found = verdict(changed(start, after), start)
    assert found.result is Result.FIXED, found.reason


CHEAP: list[tuple[str, Change, Change, Kind]] = [
    (
        "more than the release is taken away",
        both(sets(**FROM_MAP), released(command=["serve"])),
        sets(env=[]),
        Kind.REFERENCE_REMOVED,
    ),
    (
        "a rollback takes the probe of a release away",
        released(livenessProbe=LIVENESS),
        rolls_back,
        Kind.PROBE_REMOVED,
    ),
    (
        "a rollback takes safeguards of a release away",
        released(securityContext=NON_ROOT),
        rolls_back,
        Kind.SECURITY_WEAKENED,
    ),
    ("the template of another workload", both(sets(**FROM_MAP), released()), sets(env=[]), Kind.REFERENCE_REMOVED),
    (
        "a registry that nobody runs from",
        unpulled("old.example/app:1.0"),
        runs(image="new.example/app:1.0"),
        Kind.IMAGE_SWAPPED,
    ),
    (
        "another path in the neighbours' registry",
        unpulled("old.example/app:1.0"),
        runs(image="shop.local/pause:1.0"),
        Kind.IMAGE_SWAPPED,
    ),
    (
        "an image that ran comes from elsewhere",
        both(unpulled("old.example/app:1.0"), runs()),
        sets(image="shop.local/app:1.0"),
        Kind.IMAGE_SWAPPED,
    ),
    (
        "runAsNonRoot moves to one container of two",
        both(sets_pod(securityContext=NON_ROOT), sets_pod(initContainers=[{"name": "first", "image": "i:1"}])),
        both(sets_pod(securityContext={}), sets(securityContext=NON_ROOT)),
        Kind.SECURITY_WEAKENED,
    ),
    (
        "runAsNonRoot moves to a pod that says false",
        sets(securityContext=NON_ROOT),
        both(sets(securityContext={}), sets_pod(securityContext={"runAsNonRoot": False})),
        Kind.SECURITY_WEAKENED,
    ),
    (
        "the loop waits for nothing",
        waits("until nc -z dbb 5432; do sleep 1; done"),
        waits("until true; do sleep 1; done"),
        Kind.COMMAND_REPLACED,
    ),
    (
        "the loop waits for what is there",
        waits("until nc -z dbb 5432; do sleep 1; done"),
        waits("until nc -z api 80; do sleep 1; done"),
        Kind.COMMAND_REPLACED,
    ),
    (
        "the account and its binding are created together",
        both(awaited, deletes("RoleBinding", "web")),
        adds({"kind": "ServiceAccount", "metadata": since("web")}, binding("web", "web")),
        Kind.RBAC_WIDENED,
    ),
    (
        "a drain waits no longer",
        sets(lifecycle={"preStop": {"exec": {"command": ["sleep", "5"]}}}),
        sets(lifecycle={"preStop": {"exec": {"command": ["true"]}}}),
        Kind.COMMAND_REPLACED,
    ),
    ("a CPU limit is gone", sets(resources={"limits": {"cpu": "2m"}}), sets(resources={}), Kind.LIMITS_WEAKENED),
    ("a neighbour sleeps without events", adds(autoscaler("api")), to_zero, Kind.NEIGHBOUR_BROKEN),
    (
        "a neighbour sleeps by an autoscaler that is new",
        selects(app="web"),
        both(adds({**autoscaler("keda"), "metadata": since("keda", ownerReferences=KEDA)}), to_zero),
        Kind.NEIGHBOUR_BROKEN,
    ),
]


@pytest.mark.parametrize(("before", "after", "kind"), [case[1:] for case in CHEAP], ids=[case[0] for case in CHEAP])
def test_what_looks_like_it_is_not(before: Change, after: Change, kind: Kind) -> None:
    start = broken(before)
    found = verdict(changed(start, after), start)
    assert (found.result, found.kind) == (Result.NOT_FIXED, kind), found.reason
