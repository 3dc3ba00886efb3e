"""Requests read as the API server reads them, and the ordered rules that decide them."""

from __future__ import annotations

import pytest

from sanare.api.policy import Guard
from sanare.errors import Refused
from sanare.kubectl.grant import Grant
from sanare.kubectl.request import read_request
from sanare.kubectl.rules import RULES, Spent, check
from sanare.kubectl.screen import screen
from sanare.kubectl.tool import Command

APPS = "/apis/apps/v1/namespaces/shop/deployments"
CORE = "/api/v1/namespaces/shop"
JSON = "application/json"
MERGE = "application/merge-patch+json"
GRANT = Grant("shop", "sanare-system", Guard(max_mutations=3, max_deletes=1))


@pytest.mark.parametrize(
    ("method", "path", "query", "expected"),
    [
        ("GET", "/apis", "", ("discover", "", "", "", "")),
        ("GET", "/openapi/v3/apis/apps/v1", "hash=1", ("discover", "", "", "", "")),
        ("GET", f"{CORE}/pods", "limit=500", ("list", "Pod", "shop", "", "")),
        ("GET", f"{CORE}/pods", "watch=true", ("watch", "Pod", "shop", "", "")),
        ("GET", f"{CORE}/pods/web-1/log", "", ("get", "Pod", "shop", "web-1", "log")),
        ("GET", "/api/v1/namespaces/shop", "", ("get", "Namespace", "", "shop", "")),
        ("GET", "/api/v1/namespaces/shop/status", "", ("get", "Namespace", "", "shop", "status")),
        ("GET", "/api/v1/nodes", "", ("list", "Node", "", "", "")),
        ("DELETE", f"{CORE}/pods", "", ("deletecollection", "Pod", "shop", "", "")),
        ("DELETE", f"{CORE}/pods/a", "timeout=9s", ("delete", "Pod", "shop", "a", "")),
        ("GET", "/apis/x.example/v1/namespaces/shop/things/a", "", ("get", "things", "shop", "a", "")),
        ("GET", "/apis/apps/v1beta1/namespaces/shop/deployments", "", ("list", "deployments", "shop", "", "")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_request_is_read(method: str, path: str, query: str, expected: tuple[str, ...]) -> None:
    request = read_request(method, path, query)
    assert (request.verb, request.kind, request.namespace, request.name, request.subresource) == expected


@pytest.mark.parametrize(
    ("method", "path", "query", "content_type", "body"),
    [
        ("OPTIONS", f"{CORE}/pods", "", "", b""),
        ("POST", "/apis", "", JSON, b"{}"),
        ("GET", f"{CORE}/pods/..%2fsecrets", "", "", b""),
        ("GET", f"{CORE}//secrets", "", "", b""),
        ("GET", f"{CORE}/pods", "watch=false&watch=true", "", b""),
        ("GET", "/metrics", "", "", b""),
        ("GET", "/openapi/v3/../../api/v1/secrets", "", "", b""),
        ("GET", f"{CORE}/pods/a/proxy/etc/passwd", "", "", b""),
        ("PATCH", f"{APPS}/web", "", JSON, b"{}"),
        ("PATCH", f"{APPS}/web", "", "application/json-patch+json", b"{}"),
        ("PATCH", f"{APPS}/web", "", MERGE, b"[]"),
        ("PATCH", f"{APPS}/web", "", MERGE, b'{"a":1,"a":2}'),
        ("PUT", f"{APPS}/web", "", "application/vnd.kubernetes.protobuf", b"k8s"),
        ("DELETE", f"{CORE}/pods/a", "dryRun=All", JSON, b"{}"),
        ("GET", f"{CORE}/pods", "", JSON, b"{}"),
    ],
    ids=lambda value: value.decode() if isinstance(value, bytes) else str(value),
)
def test_what_could_be_read_in_two_ways_is_refused(
    method: str, path: str, query: str, content_type: str, body: bytes
) -> None:
    with pytest.raises(Refused):
        read_request(method, path, query, content_type=content_type, body=body)


def decide(method: str, path: str, *, body: bytes = b"", spent: Spent | None = None, grant: Grant = GRANT) -> str:
    media = MERGE if method == "PATCH" else JSON
    request = read_request(method, path, "", content_type=media, body=body)
    try:
        check(request, grant, spent or Spent())
    except Refused as refused:
        return refused.rule
    return ""


REFUSED = [
    ("GET", "/apis/x.example/v1/namespaces/shop/things", "UnknownResource"),
    ("GET", "/apis/sanare.dev/v1alpha1/namespaces/shop/incidents", "OwnObjects"),
    ("GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles", "ClosedKind"),
    ("PATCH", f"{CORE}/secrets/db", "ClosedKind"),
    ("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "ReadOnlyGroup"),
    ("PATCH", "/api/v1/nodes/n1", "ClusterScope"),
    ("GET", "/api/v1/namespaces", "ClusterScope"),
    ("GET", "/api/v1/namespaces/other", "ClusterScope"),
    ("PATCH", "/api/v1/namespaces/shop", "ClusterScope"),
    ("GET", "/api/v1/pods", "Namespace"),
    ("GET", "/api/v1/namespaces/other/pods", "Namespace"),
    ("POST", f"{CORE}/pods/a/exec", "Subresource"),
    ("GET", f"{CORE}/pods/a/exec", "Subresource"),
    ("GET", f"{CORE}/pods/a/attach", "Subresource"),
    ("GET", f"{CORE}/services/a/proxy", "Subresource"),
    ("POST", f"{CORE}/pods/a/portforward", "Subresource"),
    ("PATCH", f"{CORE}/pods/a/ephemeralcontainers", "Subresource"),
    ("POST", f"{CORE}/pods/a/eviction", "Subresource"),
    ("POST", f"{CORE}/pods/a/binding", "Subresource"),
    ("POST", f"{CORE}/serviceaccounts/a/token", "Subresource"),
    ("PATCH", f"{APPS}/web/status", "Subresource"),
    ("DELETE", f"{CORE}/pods", "DeleteCollection"),
    ("PATCH", f"{CORE}/serviceaccounts/a", "WritableKind"),
    ("PATCH", f"{CORE}/events/a", "WritableKind"),
    ("PATCH", f"{CORE}/endpoints/a", "WritableKind"),
    ("PATCH", f"{CORE}/configmaps/kube-root-ca.crt", "ProtectedObject"),
    ("PATCH", f"{CORE}/services/kubernetes", "ProtectedObject"),
    ("POST", f"{CORE}/configmaps", "Unnamed"),
]


@pytest.mark.parametrize(("method", "path", "rule"), REFUSED, ids=lambda value: str(value))
def test_a_rule_refuses(method: str, path: str, rule: str) -> None:
    assert decide(method, path, body=b"{}" if method in ("POST", "PATCH") else b"") == rule


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"{CORE}/secrets/db"),
        ("GET", f"{CORE}/pods/a/log"),
        ("GET", "/api/v1/nodes"),
        ("GET", "/api/v1/namespaces/shop"),
        ("GET", "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods"),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
        ("PATCH", f"{APPS}/web"),
        ("PATCH", f"{APPS}/web/scale"),
        ("DELETE", f"{CORE}/pods/a"),
    ],
)
def test_everyday_requests_pass(method: str, path: str) -> None:
    assert decide(method, path, body=b"{}" if method in ("POST", "PATCH") else b"") == ""


def test_limits_and_forced_deletions() -> None:
    assert decide("PATCH", f"{APPS}/web", body=b"{}", spent=Spent(3, 0)) == "MutationLimit"
    assert decide("DELETE", f"{CORE}/pods/a", spent=Spent(1, 1)) == "DeleteLimit"
    forced = b'{"gracePeriodSeconds":0}'
    assert decide("DELETE", f"{CORE}/pods/a", body=forced) == "NeedsApproval.ForceDelete"
    person = Grant("shop", "sanare-system", Guard(), approved=True)
    assert decide("DELETE", f"{CORE}/pods/a", body=forced, grant=person) == ""


def test_the_policys_kinds_bite() -> None:
    grant = Grant("shop", "sanare-system", Guard(kinds=("Service",)))
    assert decide("PATCH", f"{APPS}/web", body=b"{}", grant=grant) == "WritableKind"
    assert decide("PATCH", f"{CORE}/services/web", body=b"{}", grant=grant) == ""


def test_a_dry_run_that_kubectl_asks_for_is_no_mutation() -> None:
    asked = read_request("DELETE", f"{CORE}/pods/a", "", content_type=JSON, body=b'{"dryRun":["All"]}')
    assert not asked.mutates
    assert read_request("PATCH", f"{APPS}/web", "dryRun=All", content_type=MERGE, body=b"{}").mutates is False
    hidden = b'{"dryRun":["All"]}'
    assert read_request("PATCH", f"{APPS}/web", "", content_type=MERGE, body=hidden).mutates


def test_every_rule_has_a_case_here() -> None:
    covered = {rule for _, _, rule in REFUSED} | {"MutationLimit", "DeleteLimit", "NeedsApproval.ForceDelete"}
    assert {name for name, _ in RULES} == covered


def test_a_policys_registries_bound_the_screen_and_the_judgement() -> None:
    grant = Grant("shop", "sanare-system", Guard(registries=("registry.internal/",)))
    screen(Command(("set", "image", "deploy/web", "web=registry.internal/app:2")), grant.scope(timeout=10))
    with pytest.raises(Refused, match="allowed registry"):
        screen(Command(("set", "image", "deploy/web", "web=evil.example/app:2")), grant.scope(timeout=10))
    assert grant.limits.registries == ("registry.internal/",)
