"""What the screen makes of commands beyond the corpus: bounds, canonical spelling, and words a model can act on."""

from __future__ import annotations

import pytest

from sanare.errors import Refused
from sanare.kubectl.scope import Scope
from sanare.kubectl.screen import screen
from sanare.kubectl.tool import Command

SCOPE = Scope(namespaces=frozenset({"shop"}), default="shop", timeout=60)


def rendered(*argv: str, stdin: str = "", scope: Scope = SCOPE) -> str:
    return " ".join(screen(Command(argv, stdin), scope).argv)


def rule(*argv: str, stdin: str = "", scope: Scope = SCOPE) -> str:
    with pytest.raises(Refused) as refused:
        screen(Command(argv, stdin), scope)
    return refused.value.rule


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("kubectl", "get", "po"), "--namespace=shop get pods"),
        (("get", "DEPLOY,Svc"), "--namespace=shop get deployments.apps,services"),
        (("get", "deployments.v1.apps/web"), "--namespace=shop get deployments.apps/web"),
        (
            ("logs", "web-1", "-p"),
            "--namespace=shop logs --limit-bytes=200000 --previous=true --tail=200 pods/web-1",
        ),
        (("logs", "web-1", "--tail=99999"), "--namespace=shop logs --limit-bytes=200000 --tail=2000 pods/web-1"),
        (("rollout", "status", "deploy/web"), "--namespace=shop rollout status --timeout=60s deployments.apps/web"),
        (
            ("wait", "--for=condition=Ready", "pod/web-1", "--timeout=1h"),
            "--namespace=shop wait --for=condition=Ready --timeout=60s pods/web-1",
        ),
        (
            ("scale", "deploy", "web", "--replicas", "0x10"),
            "--namespace=shop scale --replicas=16 deployments.apps/web",
        ),
        (
            ("patch", "svc", "web", "-p", "spec: {ports: [{port: 80}]}"),
            '--namespace=shop patch --patch={"spec":{"ports":[{"port":80}]}} --type=strategic services/web',
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_is_rendered_in_one_spelling_and_bounded(argv: tuple[str, ...], expected: str) -> None:
    assert rendered(*argv) == expected


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("get", "pods", "--watch"), "FlagNotAllowed"),
        (("get", "pods", "--show_labels"), "FlagNotAllowed"),
        (("-v=9", "get", "pods"), "FlagBeforeVerb"),
        (("get pods -n shop",), "OneWord"),
        (("delete", "pod", "web-1", "--cascade", "orphan"), "FlagValue"),
        (("logs", "web-1", "--tail", "-1"), "FlagValue"),
        (("describe", "node", "n1"), "Describe"),
        (("get", "rolebindings"), "ClosedKind"),
        (("get", "ns", "default"), "ClusterScope"),
        (("set", "image", "deploy/web", "nginx"), "Ambiguous"),
        (("create", "deployment", "x", "--image=a"), "Verb"),
        (("patch", "deploy", "web", "--type=json", "-p", '[{"op":"move","from":"/a","path":"/b"}]'), "Patch"),
        (("delete", "pods", "a", "b"), "NeedsApproval.Bulk"),
        (("rollout", "restart", "deploy"), "NeedsApproval.Bulk"),
        (("delete", "svc", "web"), "NeedsApproval.Delete"),
        (("create", "quota", "q", "--hard=pods=9"), "NeedsApproval.GuardedKind"),
        (("delete", "pod", "web-1", "--now"), "NeedsApproval.ForceDelete"),
        (("patch", "deploy", "web", "-p", '{"spec":{"replicas":0}}'), "NeedsApproval.Replicas"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_refusal_names_its_rule(argv: tuple[str, ...], expected: str) -> None:
    assert rule(*argv) == expected


def test_a_refusal_says_what_to_write_instead() -> None:
    with pytest.raises(Refused, match=r"use -n shop|use shop"):
        screen(Command(("get", "pods", "-n", "kube-system")), SCOPE)
    with pytest.raises(Refused, match="--tail=100"):
        screen(Command(("logs", "web-1", "--follow")), SCOPE)
    with pytest.raises(Refused, match="kubectl patch"):
        screen(Command(("edit", "deploy", "web")), SCOPE)


def test_the_operators_namespace_is_out_of_scope_even_when_listed() -> None:
    scope = Scope(namespaces=frozenset({"shop", "ops"}), default="ops", operator_namespace="ops")
    assert rule("get", "pods", scope=scope) == "Namespace"


def test_the_policys_kinds_are_the_only_ones_that_may_be_written() -> None:
    scope = Scope(namespaces=frozenset({"shop"}), default="shop", kinds=("Service",))
    assert rendered("label", "svc", "web", "a=b", scope=scope).endswith("services/web a=b")
    assert rule("label", "deploy", "web", "a=b", scope=scope) == "PolicyKinds"
    assert rendered("get", "deploy", scope=scope).endswith("get deployments.apps")


def test_an_approved_command_may_do_what_needs_a_person_and_nothing_else() -> None:
    approved = Scope(namespaces=frozenset({"shop"}), default="shop", approved=True)
    assert rendered("scale", "deploy/web", "--replicas=0", scope=approved).endswith("deployments.apps/web")
    assert rule("get", "secret", "db", scope=approved) == "ClosedKind"
    host = '{"spec":{"template":{"spec":{"hostPID":true}}}}'
    assert rule("patch", "deploy", "web", "-p", host, scope=approved) == "HostAccess"


def test_a_dry_run_needs_no_approval_but_never_opens_what_is_closed() -> None:
    assert "--dry-run=server" in rendered("delete", "svc", "web", "--dry-run=server")
    assert rule("delete", "secret", "db", "--dry-run=server") == "ClosedKind"
    assert rule("delete", "svc", "web", "--dry-run=none") == "NeedsApproval.Delete"


def test_with_a_gate_behind_it_only_the_live_object_decides_about_commands_and_references() -> None:
    gated = Scope(namespaces=frozenset({"shop"}), default="shop", gated=True)
    command = '{"spec":{"template":{"spec":{"initContainers":[{"name":"i","command":["cp","a","b"]}]}}}}'
    assert rule("patch", "deploy", "web", "-p", command) == "NeedsApproval.Command"
    assert rendered("patch", "deploy", "web", "-p", command, scope=gated).endswith("deployments.apps/web")
    host = '{"spec":{"template":{"spec":{"hostPID":true}}}}'
    assert rule("patch", "deploy", "web", "-p", host, scope=gated) == "HostAccess"


def test_stdin_is_only_taken_by_commands_that_read_it() -> None:
    assert rule("get", "pods", stdin="kind: Pod") == "Stdin"


def test_what_the_api_server_owns_is_dropped_from_a_manifest() -> None:
    manifest = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: x, resourceVersion: '1', managedFields: []}\n"
        "data: {a: b}\nstatus: {x: y}\n"
    )
    found = screen(Command(("apply", "-f", "-"), manifest), SCOPE)
    assert found.stdin == '{"apiVersion":"v1","data":{"a":"b"},"kind":"ConfigMap","metadata":{"name":"a"}}'
