"""Discovery: which groups, versions and kinds there are, in the legacy and in the aggregated form."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.resources import Registry, ResourceType

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
VERSION: Obj = {
    "major": "1",
    "minor": "37",
    "emulationMajor": "1",
    "emulationMinor": "37",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "36",
    "gitVersion": "v1.37.2",
    "gitCommit": "embedded",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "none",
    "compiler": "python",
    "platform": "linux/amd64",
}

_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
_WRITE = ["get", "patch", "update"]
_SUBRESOURCES: dict[str, tuple[str, str, str, list[str]]] = {
    "status": ("", "", "", _WRITE),
    "scale": ("autoscaling", "v1", "Scale", _WRITE),
    "log": ("", "", "", ["get"]),
    "proxy": ("", "v1", "", ["create", "delete", "get", "patch", "update"]),
    "binding": ("", "v1", "Binding", ["create"]),
    "eviction": ("policy", "v1", "Eviction", ["create"]),
    "token": ("authentication.k8s.io", "v1", "TokenRequest", ["create"]),
    "finalize": ("", "", "", ["update"]),
}


def _by_group_version(registry: Registry) -> list[tuple[str, list[tuple[str, list[ResourceType]]]]]:
    def key(resource: ResourceType) -> tuple[bool, str, str]:
        return (resource.custom, resource.group, resource.version)

    ordered = sorted(registry, key=lambda resource: (*key(resource), resource.plural))
    groups = []
    for (_, group), of_group in groupby(ordered, key=lambda resource: key(resource)[:2]):
        versions = [(v, list(found)) for v, found in groupby(of_group, key=lambda resource: resource.version)]
        groups.append((group, versions))
    return groups


def aggregated(registry: Registry, *, core: bool) -> Obj:
    """The APIGroupDiscoveryList of the core group, or of the named ones."""
    groups = [
        {
            "metadata": {"name": group} if group else {},
            "versions": [
                {"version": version, "resources": [_aggregated_resource(r) for r in found], "freshness": "Current"}
                for version, found in versions
            ],
        }
        for group, versions in _by_group_version(registry)
        if (not group) is core
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": groups,
    }


def _aggregated_resource(resource: ResourceType) -> Obj:
    found: Obj = {
        "resource": resource.plural,
        "responseKind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": _VERBS,
    }
    if resource.short:
        found["shortNames"] = list(resource.short)
    if resource.categories:
        found["categories"] = list(resource.categories)
    if resource.subresources:
        found["subresources"] = [
            {
                "subresource": name,
                "responseKind": {"group": group, "version": version, "kind": kind},
                "verbs": verbs,
            }
            for name, group, version, kind, verbs in _subresources(resource)
        ]
    return found


def _subresources(resource: ResourceType) -> Iterable[tuple[str, str, str, str, list[str]]]:
    for name in resource.subresources:
        group, version, kind, verbs = _SUBRESOURCES[name]
        if not kind:
            group, version, kind = resource.group, resource.version, resource.kind
        yield name, group, version, kind, verbs


def legacy(registry: Registry, path: str) -> Obj | None:
    """The discovery document at a path, None where the path is none."""
    parts = path.split("/")
    if path == "api":
        return api_versions()
    if path == "apis":
        return group_list(registry)
    if path == "api/v1":
        return resource_list(registry, "v1")
    if parts[0] == "apis" and len(parts) == 2:
        return group(registry, parts[1])
    if parts[0] == "apis" and len(parts) == 3:
        return resource_list(registry, f"{parts[1]}/{parts[2]}")
    return None


def api_versions() -> Obj:
    """The answer of /api."""
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def group_list(registry: Registry) -> Obj:
    """The answer of /apis."""
    groups = [_group(group, [v for v, _ in versions]) for group, versions in _by_group_version(registry) if group]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(registry: Registry, name: str) -> Obj | None:
    """The answer of /apis/GROUP, None where there is no such group."""
    for found, versions in _by_group_version(registry):
        if found == name:
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, [version for version, _ in versions])}
    return None


def _group(name: str, versions: list[str]) -> Obj:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def resource_list(registry: Registry, group_version: str) -> Obj | None:
    """The answer of /api/v1 and /apis/GROUP/VERSION, None where there is no such version."""
    found = sorted((r for r in registry if r.api_version == group_version), key=lambda r: r.plural)
    listed = [entry for resource in found for entry in _listed(resource)]
    if not listed:
        return None
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": listed}


def _listed(resource: ResourceType) -> Iterable[dict[str, Any]]:
    entry: Obj = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": _VERBS,
    }
    if resource.short:
        entry["shortNames"] = list(resource.short)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    yield entry
    for name, group_name, version, kind, verbs in _subresources(resource):
        entry = {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": kind,
            "verbs": verbs,
        }
        if group_name != resource.group:
            entry |= {"group": group_name, "version": version}
        yield entry
