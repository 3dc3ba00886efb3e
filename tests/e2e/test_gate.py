"""The real kubectl through the gate to a real API server.

Needs KUBECONFIG with the right to create namespaces, and kubectl on PATH or in SANARE_KUBECTL. No image has to run.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from sanare.api.policy import Guard
from sanare.errors import BudgetExceeded
from sanare.kube.client import KubeClient
from sanare.kube.resources import BY_KIND
from sanare.kubectl.diff import changes
from sanare.kubectl.gate import Gate, Grant
from sanare.kubectl.journal import MemoryJournal, MutationRecord
from sanare.kubectl.plan import PlannedCommand, plan_digest
from sanare.kubectl.tool import Command, ToolResult
from sanare.kubectl.undo import undo

KUBECTL = os.environ.get("SANARE_KUBECTL") or shutil.which("kubectl") or "kubectl"
PASSWORD = "hunter2-of-the-database"

DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "initContainers": [{"name": "init", "image": "shop.local/app:1", "command": ["ehco", "ready"]}],
                "containers": [
                    {
                        "name": "web",
                        "image": "shop.local/app:1",
                        "env": [
                            {
                                "name": "DB_PASSWORD",
                                "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}},
                            },
                            {"name": "API_TOKEN", "value": PASSWORD},
                        ],
                    }
                ],
            },
        },
    },
}
SERVICE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web"},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8000}]},
}
CONFIG: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf"}, "data": {"a": "1"}}
SECRET: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "db"},
    "stringData": {"password": PASSWORD},
}
CRON_JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "report"},
    "spec": {
        "schedule": "0 0 1 1 *",
        "suspend": True,
        "jobTemplate": {
            "spec": {
                "template": {
                    "spec": {
                        "restartPolicy": "Never",
                        "containers": [{"name": "c", "image": "shop.local/app:1", "command": ["true"]}],
                    }
                }
            }
        },
    },
}


@dataclass(frozen=True)
class Settings:
    gate_listen: tuple[str, int] = ("127.0.0.1", 0)


@dataclass
class Cluster:
    """A namespace with a small shop in it, and a gate in front of it."""

    kube: KubeClient
    gate: Gate
    namespace: str
    journal: MemoryJournal = field(default_factory=MemoryJournal)

    def grant(self, **fields: Any) -> Grant:
        rights = {"guard": Guard(max_mutations=40, max_deletes=5)} | fields
        return Grant(self.namespace, "sanare-system", **rights)

    async def run(self, *argv: str, stdin: str = "", **grant: Any) -> ToolResult:
        """One command as an attempt of its own."""
        async with self.gate.attempt(self.grant(**grant), self.journal, kubectl_path=KUBECTL) as kubectl:
            return await kubectl.run(Command(argv, stdin))

    async def get(self, kind: str, name: str) -> Any:
        return await self.kube.get(BY_KIND[kind], self.namespace, name)


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A fresh namespace, deleted afterwards."""
    name = f"gate-{uuid.uuid4().hex[:8]}"
    async with await KubeClient.connect() as kube:
        await kube.create(BY_KIND["Namespace"], "", {"metadata": {"name": name}})
        for body in (SECRET, CONFIG, SERVICE, DEPLOYMENT, CRON_JOB):
            await kube.create(BY_KIND[body["kind"]], name, body)
        gate = Gate(kube, Settings())
        await gate.start()
        try:
            yield Cluster(kube, gate, name)
        finally:
            await gate.stop()
            await kube.delete(BY_KIND["Namespace"], "", name)


READS = [
    "get pods",
    "get all",
    "get deploy,rs,svc,endpoints -o wide",
    "get deploy/web -o jsonpath={.spec.replicas}",
    "get events --sort-by=.lastTimestamp",
    "get nodes",
    "get cm conf -o yaml",
    "describe deploy/web",
    "describe svc web",
    "describe pods",
    "events",
    "explain deployment.spec.strategy",
    "version",
    "api-resources",
    "auth can-i patch deployments",
    "auth can-i --list",
    "rollout history deploy/web",
    "wait --for=jsonpath={.spec.replicas}=1 deploy/web --timeout=10s",
    "set env deploy/web --list",
]
WRITES = [
    "patch svc web -p {'spec':{'ports':[{'port':80,'targetPort':8765}]}}",
    "patch svc web --type=merge -p {'spec':{'selector':{'app':'shop'}}}",
    "patch svc web --type=json -p [{'op':'replace','path':'/spec/ports/0/targetPort','value':9}]",
    "set image deploy/web web=shop.local/app:2",
    "set env deploy/web MODE=debug",
    "set resources deploy/web -c web --limits=memory=96Mi",
    "rollout restart deploy/web",
    "rollout undo deploy/web",
    "rollout pause deploy/web",
    "scale deploy/web --replicas=2",
    "label deploy web team=a",
    "annotate deploy web note=x",
    "create configmap flags --from-literal=a=b",
    "create job again --from=cronjob/report",
    "create service clusterip extra --tcp=80:8080",
    "expose deploy web --port=81 --target-port=8080 --name=second",
    "autoscale deploy web --min=1 --max=3 --cpu-percent=80",
]
APPLIES = [("apply",), ("apply", "--server-side", "--force-conflicts"), ("replace",)]


def argv(line: str) -> tuple[str, ...]:
    return tuple(line.replace("'", '"').split())


async def test_everyday_reads_work(cluster: Cluster) -> None:
    failed = {}
    async with cluster.gate.attempt(cluster.grant(), cluster.journal, kubectl_path=KUBECTL) as kubectl:
        for line in READS:
            result = await kubectl.run(Command(argv(line)))
            if not result.ok:
                failed[line] = result.output
    assert failed == {}
    assert cluster.journal.intended == []


async def test_everyday_writes_work_and_each_is_recorded_once(cluster: Cluster) -> None:
    failed = {}
    await cluster.run(*argv("set env deploy/web FIRST=revision"))
    async with cluster.gate.attempt(cluster.grant(), cluster.journal, kubectl_path=KUBECTL) as kubectl:
        for line in WRITES:
            result = await kubectl.run(Command(argv(line)))
            if not result.ok or len(result.mutations) != 1:
                failed[line] = (result.output, result.mutations)
    assert failed == {}
    assert len(cluster.journal.intended) == len(cluster.journal.records)


@pytest.mark.parametrize("verb", APPLIES, ids=" ".join)
async def test_manifests_on_stdin_work(cluster: Cluster, verb: tuple[str, ...]) -> None:
    changed = {**CONFIG, "data": {"a": "2"}}
    result = await cluster.run(*verb, "-f", "-", stdin=yaml.safe_dump(changed))
    assert result.ok, result.output
    assert "data.a: 1 -> 2" in [m.summary for m in result.mutations]
    assert (await cluster.get("ConfigMap", "conf"))["data"] == {"a": "2"}


@pytest.mark.parametrize("said", ["a > b && c < d", "für 北京", 'a "quote" \\ and \t'])
async def test_a_patch_finds_the_text_that_stands_there(cluster: Cluster, said: str) -> None:
    await cluster.kube.create(BY_KIND["ConfigMap"], cluster.namespace, {**CONFIG, "metadata": {"name": "said"}})
    change = [{"op": "add", "path": "/data/a", "value": said}]
    assert (await cluster.run("patch", "cm", "said", "--type=json", "-p", json.dumps(change))).ok
    tested = [{"op": "test", "path": "/data", "value": {"a": said}}, {"op": "add", "path": "/data/b", "value": "2"}]
    result = await cluster.run("patch", "cm", "said", "--type=json", "-p", json.dumps(tested))
    assert result.ok, result.output
    assert (await cluster.get("ConfigMap", "said"))["data"] == {"a": said, "b": "2"}


async def test_no_secret_value_is_ever_printed(cluster: Cluster) -> None:
    for line in ("get deploy web -o yaml", "describe deploy web", "set env deploy/web --list", "get secrets"):
        assert PASSWORD not in (await cluster.run(*argv(line))).output
    assert "in secret 'db'" in (await cluster.run("describe", "deploy", "web")).output


async def test_kubectl_prints_the_gates_refusal(cluster: Cluster) -> None:
    other = (
        '{"spec":{"template":{"spec":{"containers":[{"name":"web","envFrom":[{"secretRef":{"name":"admin"}}]}]}}}}'
    )
    result = await cluster.run("patch", "deploy", "web", "-p", other)
    assert (result.exit_code, result.refused) == (1, "SecretReference")
    assert "Error from server (Forbidden): [SecretReference]" in result.output
    assert result.mutations == ()


async def test_a_misspelt_command_may_be_corrected_and_another_needs_a_person(cluster: Cluster) -> None:
    def init(command: str) -> str:
        return f'{{"spec":{{"template":{{"spec":{{"initContainers":[{{"name":"init","command":{command}}}]}}}}}}}}'

    another = await cluster.run("patch", "deploy", "web", "-p", init('["sh","-c","id"]'))
    assert another.refused == "NeedsApproval.Command"
    assert (await cluster.run("patch", "deploy", "web", "-p", init('["echo","ready"]'))).ok
    approved = await cluster.run("patch", "deploy", "web", "-p", init('["sh","-c","id"]'), approved=True)
    assert approved.ok, approved.output


async def test_a_dry_run_changes_nothing_and_gives_the_same_plan_twice(cluster: Cluster) -> None:
    lines = [
        "set env deploy/web X=1",
        "rollout restart deploy/web",
        "delete cm conf",
        "create cm n --from-literal=a=b",
    ]
    before = [dict(await cluster.get(*ref)) for ref in (("Deployment", "web"), ("ConfigMap", "conf"))]
    digests = []
    for _ in range(2):
        planned = []
        for line in lines:
            start = len(cluster.journal.records)
            result = await cluster.run(*argv(line), dry_run=True)
            assert result.ok, result.output
            assert result.rendered is not None
            planned.append(PlannedCommand(result.rendered, tuple(cluster.journal.records[start:])))
        digests.append(plan_digest(planned, attempt=1))
    assert digests[0] == digests[1]
    after = [dict(await cluster.get(*ref)) for ref in (("Deployment", "web"), ("ConfigMap", "conf"))]
    assert [changes(a, b) for a, b in zip(before, after, strict=True)] == [(), ()]


async def test_undo_restores_the_namespace(cluster: Cluster) -> None:
    refs = (("Deployment", "web"), ("Service", "web"), ("ConfigMap", "conf"))
    before = [await cluster.get(*ref) for ref in refs]
    for line in (
        "scale deploy/web --replicas=3",
        "set image deploy/web web=shop.local/app:2",
        "set env deploy/web API_TOKEN- MODE=x",
        "patch svc web -p {'spec':{'ports':[{'port':80,'targetPort':1}],'selector':{'b':'c'}}}",
        "create configmap extra --from-literal=a=b",
        "delete configmap conf",
    ):
        result = await cluster.run(*argv(line), approved=True)
        assert result.ok, result.output
    records = [MutationRecord.parse(record.wire()) for record in cluster.journal.records]
    numbered = [MutationRecord.parse(record.wire() | {"seq": n}) for n, record in enumerate(records, start=1)]
    report = await undo(cluster.kube, numbered, journal=MemoryJournal())
    assert report.leftovers == ()
    after = [await cluster.get(*ref) for ref in refs]
    assert [changes(a, b) for a, b in zip(before, after, strict=True)] == [(), (), ()]


async def test_an_attempt_that_used_up_its_changes_is_told_so(cluster: Cluster) -> None:
    grant = cluster.grant(guard=Guard(max_mutations=1))
    async with cluster.gate.attempt(grant, cluster.journal, kubectl_path=KUBECTL) as kubectl:
        assert (await kubectl.run(Command(("label", "svc", "web", "a=b")))).ok
        with pytest.raises(BudgetExceeded, match="made its 1 changes"):
            await kubectl.run(Command(("label", "svc", "web", "a=c", "--overwrite")))
        assert (await kubectl.run(Command(("get", "svc", "web")))).ok


async def test_the_token_of_the_gate_is_in_no_output(cluster: Cluster) -> None:
    async with cluster.gate.attempt(cluster.grant(), cluster.journal, kubectl_path=KUBECTL) as kubectl:
        await cluster.gate.stop()
        result = await kubectl.run(Command(("get", "pods")))
        assert result.exit_code == 1
        assert "refused" in result.output
        assert kubectl.server.rpartition("/")[2] not in result.output


async def test_an_impersonated_attempt_has_the_rights_of_its_account_only(cluster: Cluster) -> None:
    rules = [{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list", "patch"]}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "agent"}
    subject = {"kind": "ServiceAccount", "name": "agent", "namespace": cluster.namespace}
    for kind, fields in (
        ("ServiceAccount", {}),
        ("Role", {"rules": rules}),
        ("RoleBinding", {"roleRef": role, "subjects": [subject]}),
    ):
        await cluster.kube.create(BY_KIND[kind], cluster.namespace, {"metadata": {"name": "agent"}, **fields})
    account = f"system:serviceaccount:{cluster.namespace}:agent"
    allowed = await cluster.run("label", "deploy", "web", "a=b", impersonate=account)
    assert allowed.ok, allowed.output
    refused = await cluster.run("label", "svc", "web", "a=b", impersonate=account)
    assert refused.exit_code == 1
    assert f'User "{account}" cannot' in refused.output
