"""What the chart renders: the rights are those that are needed, and none of the cluster's."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from sanare.api.crd import policy_values
from sanare.api.policy import PolicySpec
from sanare.api.schema import structural
from sanare.evaluator.listing import LISTABLE
from sanare.evaluator.wanted import BINDINGS, EVERYTHING
from sanare.settings import Settings

CHART = Path(__file__).parents[3] / "charts/sanare"
HELM = shutil.which("helm")
WRITES = {"create", "update", "patch", "delete", "deletecollection"}
READS = {"get", "list", "watch"}

needs_helm = pytest.mark.skipif(HELM is None, reason="helm is not on PATH: the chart cannot be rendered")


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(HELM), *arguments, "--namespace", "sanare-system"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@functools.cache
def rendered(*settings: str) -> list[dict[str, Any]]:
    """The objects of an install with `--set` values."""
    sets = [f"--set-{s}".replace("json:", "json=", 1) if s.startswith("json:") else f"--set={s}" for s in settings]
    run = helm("template", "sanare", str(CHART), "--kube-version", "1.37.0", *sets)
    assert run.returncode == 0, run.stderr
    return [document for document in yaml.safe_load_all(run.stdout) if document]


def json_value(path: str, value: object) -> str:
    """A setting for `rendered` that is not a plain word."""
    return f"json:{path}={json.dumps(value)}"


def of_kind(objects: list[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    return [item for item in objects if item["kind"] in kinds]


def rules(objects: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The rules of the role of that name."""
    (found,) = (
        item["rules"] for item in of_kind(objects, "ClusterRole", "Role") if item["metadata"]["name"] == name
    )
    return list(found)


def grants(given: list[dict[str, Any]]) -> dict[tuple[str, str], set[str]]:
    """(group, resource) to verbs."""
    found: dict[tuple[str, str], set[str]] = {}
    for rule in given:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                found.setdefault((group, resource), set()).update(rule["verbs"])
    return found


@needs_helm
def test_it_lints() -> None:
    run = helm("lint", str(CHART), "--strict")
    assert run.returncode == 0, run.stdout


def test_the_default_policys_schema_is_the_models() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert schema["properties"]["defaultPolicy"] == policy_values(structural(PolicySpec, defaults=False))


def test_every_value_is_in_the_schema_and_no_object_of_ours_is_open() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert values.keys() | {"global"} == schema["properties"].keys()
    for name in ("image", "crds", "serviceAccount", "agent", "rbac", "webhook", "model", "service"):
        node = schema["properties"][name]
        assert (node["additionalProperties"], values[name].keys()) == (False, node["properties"].keys())


UNKNOWN = ("imgae.tag=1", "rbac.namspaces={shop}", "defaultPolicy.budget.atempts=3", "webhook.token=plain-text")


@needs_helm
@pytest.mark.parametrize("setting", UNKNOWN)
def test_an_unknown_value_is_refused(setting: str) -> None:
    run = helm("template", "sanare", str(CHART), "--kube-version", "1.37.0", "--set", setting)
    assert run.returncode != 0
    assert "additional properties" in run.stderr


@needs_helm
def test_a_namespaced_install_has_nothing_of_the_clusters_scope_but_the_crds() -> None:
    objects = rendered("rbac.namespaces={shop,payments}", "crds.install=false")
    roles = {(item["metadata"]["namespace"], item["metadata"]["name"]) for item in of_kind(objects, "Role")}
    assert not of_kind(objects, "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition")
    assert roles == {
        *((namespace, name) for namespace in ("shop", "payments") for name in ("sanare", "sanare-agent")),
        ("sanare-system", "sanare-impersonate"),
    }


@needs_helm
def test_a_namespaced_install_watches_its_namespaces() -> None:
    environment = variables(rendered("rbac.namespaces={shop,payments}"))
    assert Settings.from_environment(environment).watch_namespaces == ("shop", "payments")


def variables(objects: list[dict[str, Any]]) -> dict[str, str]:
    """The plain environment variables of the operator's container."""
    (deployment,) = of_kind(objects, "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return {variable["name"]: variable.get("value", "") for variable in container["env"]}


@needs_helm
def test_the_operator_reads_its_settings_from_the_chart() -> None:
    settings = Settings.from_environment(variables(rendered("webhook.existingSecret=hook", "workers=7")))
    assert (settings.namespace, settings.agent_account) == ("sanare-system", "sanare-system:sanare-agent")
    assert (settings.workers, str(settings.webhook_token_file)) == (7, "/etc/sanare-webhook/token")


@needs_helm
@pytest.mark.parametrize("setting", ["rbac.create=true", "rbac.namespaces={shop}"])
def test_no_role_has_a_wildcard_or_a_right_that_leads_to_others(setting: str) -> None:
    for role in of_kind(rendered(setting), "ClusterRole", "Role"):
        for (group, resource), verbs in grants(role["rules"]).items():
            assert "*" not in {group, resource, *verbs}
            assert group != "rbac.authorization.k8s.io" or verbs <= READS
            assert resource not in {
                "secrets",
                "pods/exec",
                "pods/attach",
                "pods/portforward",
                "serviceaccounts/token",
            }
            assert not verbs & {"escalate", "bind"}


@needs_helm
def test_the_operator_changes_nothing_but_its_own_objects_and_events() -> None:
    written = {key for key, verbs in grants(rules(rendered(), "sanare")).items() if verbs & WRITES}
    assert written == {
        ("sanare.dev", "incidents"),
        ("sanare.dev", "incidents/status"),
        ("sanare.dev", "incidentrecords"),
        ("", "events"),
    }


@needs_helm
def test_jobs_for_declared_checks_are_made_where_a_value_says_so_alone() -> None:
    jobs = grants(rules(rendered("checks.pods=true"), "sanare"))[("batch", "jobs")]
    assert jobs == {*READS, "create", "delete"}
    assert grants(rules(rendered(), "sanare"))[("batch", "jobs")] == READS


@needs_helm
@pytest.mark.parametrize(
    ("setting", "image"),
    [
        pytest.param("image.tag=1.2.3", "sanare:1.2.3", id="the operator's own"),
        pytest.param("checks.probeImage=python:3", "python:3", id="another"),
    ],
)
def test_what_declared_checks_are_asked_with_comes_from_the_chart(setting: str, image: str) -> None:
    prometheus = (
        "checks.prometheus.url=http://prometheus.monitoring:9090",
        "checks.prometheus.existingSecret=prom",
    )
    settings = Settings.from_environment(variables(rendered("checks.pods=true", setting, *prometheus)))
    assert settings.probe_image == image
    assert settings.prometheus_url == "http://prometheus.monitoring:9090"
    assert str(settings.prometheus_token_file) == "/etc/sanare-prometheus/token"


@needs_helm
def test_without_values_declared_checks_have_neither_prometheus_nor_pods() -> None:
    settings = Settings.from_environment(variables(rendered()))
    assert (settings.prometheus_url, settings.probe_image) == ("", "")


@needs_helm
def test_the_operator_cannot_approve() -> None:
    """An approval stands in the spec, and the operator may write a spec only when it creates the Incident."""
    assert grants(rules(rendered(), "sanare"))[("sanare.dev", "incidents")] == {*READS, "create"}


@needs_helm
def test_the_operator_takes_the_agents_identity_and_no_other() -> None:
    (rule,) = rules(rendered(), "sanare-impersonate")
    assert rule == {
        "apiGroups": [""],
        "resources": ["serviceaccounts"],
        "resourceNames": ["sanare-agent"],
        "verbs": ["impersonate"],
    }


@needs_helm
def test_the_agent_writes_nothing_of_ours_and_nothing_of_the_clusters_scope() -> None:
    granted = grants(rules(rendered(), "sanare-agent"))
    written = {resource for (_, resource), verbs in granted.items() if verbs & WRITES}
    assert not {group for group, _ in granted} & {"sanare.dev"}
    assert not written & {"nodes", "namespaces", "persistentvolumes", "storageclasses", "resourcequotas"}


@needs_helm
@pytest.mark.parametrize("name", ["sanare", "sanare-agent"])
@pytest.mark.parametrize("kind", ["Pod", "Service", "Deployment", "ReplicaSet", *EVERYTHING])
def test_what_the_evaluator_lists_both_accounts_may_list(name: str, kind: str) -> None:
    resource = LISTABLE[kind]
    assert grants(rules(rendered(), name))[(resource.group, resource.plural)] >= READS


@needs_helm
@pytest.mark.parametrize("kind", ["Role", *BINDINGS])
def test_the_operator_alone_may_see_what_accounts_are_bound_to(kind: str) -> None:
    resource = LISTABLE[kind]
    key = (resource.group, resource.plural)
    assert grants(rules(rendered(), "sanare"))[key] == {"list"}
    assert key not in grants(rules(rendered(), "sanare-agent"))


@needs_helm
@pytest.mark.parametrize(("setting", "verbs"), [("true", {"create"}), ("false", set())])
def test_pods_are_evicted_where_a_value_says_so_alone(setting: str, verbs: set[str]) -> None:
    granted = grants(rules(rendered(f"rbac.agent.evictPods={setting}"), "sanare-agent"))
    assert granted.get(("", "pods/eviction"), set()) == verbs


@needs_helm
def test_rules_can_be_replaced_and_added() -> None:
    rule = {"apiGroups": ["apps"], "resources": ["deployments"]}
    own = json_value("rbac.agent.rules", [rule | {"verbs": ["get"]}])
    more = json_value("rbac.agent.extraRules", [rule | {"verbs": ["patch"]}])
    assert grants(rules(rendered(own), "sanare-agent")) == {("apps", "deployments"): {"get"}}
    assert grants(rules(rendered(own, more), "sanare-agent")) == {("apps", "deployments"): {"get", "patch"}}


@needs_helm
def test_the_pod_is_hardened() -> None:
    (deployment,) = of_kind(rendered(), "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert (deployment["spec"]["replicas"], deployment["spec"]["strategy"]) == (1, {"type": "Recreate"})
    assert pod["securityContext"] | {"runAsNonRoot": True, "runAsUser": 65532} == pod["securityContext"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {probe for probe in container if probe.endswith("Probe")} == {
        "startupProbe",
        "livenessProbe",
        "readinessProbe",
    }


@needs_helm
def test_secrets_come_by_name_alone() -> None:
    objects = rendered("webhook.existingSecret=hook", "model.existingSecret=key")
    (deployment,) = of_kind(objects, "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    (key,) = (variable for variable in container["env"] if variable["name"] == "ANTHROPIC_API_KEY")
    assert key["valueFrom"]["secretKeyRef"] == {"name": "key", "key": "api-key"}
    assert not of_kind(objects, "Secret")


@needs_helm
@pytest.mark.parametrize(("setting", "is_kept"), [("crds.keep=true", True), ("crds.keep=false", False)])
def test_the_crds_are_templates_and_outlive_the_release_where_wanted(setting: str, is_kept: bool) -> None:
    crds = of_kind(rendered(setting), "CustomResourceDefinition")
    policies = {crd["metadata"].get("annotations", {}).get("helm.sh/resource-policy") for crd in crds}
    assert (len(crds), policies) == (3, {"keep"} if is_kept else {None})
