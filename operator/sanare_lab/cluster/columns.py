"""The printer columns of built-in kinds, cell by cell. `Name*` is a wide column, `Name:integer` typed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, TypeAlias

from sanare_lab.cluster import resources as kinds
from sanare_lab.cluster.columns_pod import pod_ready, pod_restarts, pod_status
from sanare_lab.cluster.durations import human_duration
from sanare_lab.cluster.objects import Obj, dig, parse_timestamp

Cell: TypeAlias = Callable[[Obj, dt.datetime], Any]
NONE = "<none>"


def age(obj: Obj, now: dt.datetime) -> str:
    """How long ago the object was made."""
    return since(dig(obj, "metadata", "creationTimestamp"), now)


def since(stamp: Any, now: dt.datetime) -> str:
    """How long ago a timestamp was, `<unknown>` without one."""
    return human_duration((now - parse_timestamp(stamp)).total_seconds()) if stamp else "<unknown>"


def created_at(obj: Obj, _: dt.datetime) -> str:
    """metadata.creationTimestamp."""
    return str(dig(obj, "metadata", "creationTimestamp"))


def _at(*path: str | int, default: Any = NONE) -> Cell:
    def cell(obj: Obj, _: dt.datetime) -> Any:
        value = dig(obj, *path)
        return default if value is None else value

    return cell


def _count(*path: str | int) -> Cell:
    return _at(*path, default=0)


def _length(*path: str | int) -> Cell:
    return lambda obj, _: len(dig(obj, *path) or ())


def _data(obj: Obj, _: dt.datetime) -> int:
    return len(obj.get("data") or ()) + len(obj.get("binaryData") or ())


def _of(*readings: tuple[str, ...]) -> Cell:
    return lambda obj, _: "/".join(str(dig(obj, *path) or 0) for path in readings)


def _containers(field: str, *path: str) -> Cell:
    def cell(obj: Obj, _: dt.datetime) -> str:
        return ",".join(item.get(field, "") for item in dig(obj, *path, "spec", "containers") or ())

    return cell


def _selector(*path: str) -> Cell:
    return lambda obj, _: show_selector(dig(obj, *path))


def show_selector(selector: Any) -> str:
    """A selector or a map of labels as `a=b,c in (d,e)`."""
    if not selector:
        return NONE
    labels = selector.get("matchLabels", {} if "matchExpressions" in selector else selector)
    terms = [f"{key}={value}" for key, value in sorted(labels.items())]
    for term in selector.get("matchExpressions") or ():
        operator = {"In": "in", "NotIn": "notin"}.get(term["operator"])
        if operator:
            terms.append(f"{term['key']} {operator} ({','.join(sorted(term['values']))})")
        else:
            terms.append(term["key"] if term["operator"] == "Exists" else f"!{term['key']}")
    return ",".join(terms) or NONE


def _workload_tail(*template: str) -> list[tuple[str, Cell]]:
    return [("Containers*", _containers("name", *template)), ("Images*", _containers("image", *template))]


def _node_status(obj: Obj, _: dt.datetime) -> str:
    ready = next((c for c in dig(obj, "status", "conditions") or () if c["type"] == "Ready"), None)
    word = "Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"
    return f"{word},SchedulingDisabled" if dig(obj, "spec", "unschedulable") else word


def _node_roles(obj: Obj, _: dt.datetime) -> str:
    prefix = "node-role.kubernetes.io/"
    labels = dig(obj, "metadata", "labels") or {}
    return ",".join(sorted(key.removeprefix(prefix) for key in labels if key.startswith(prefix))) or NONE


def _node_address(kind: str) -> Cell:
    def cell(obj: Obj, _: dt.datetime) -> str:
        found = (a["address"] for a in dig(obj, "status", "addresses") or () if a["type"] == kind)
        return next(found, NONE)

    return cell


def _service_ports(obj: Obj, _: dt.datetime) -> str:
    shown = []
    for port in dig(obj, "spec", "ports") or ():
        node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
        shown.append(f"{port['port']}{node_port}/{port.get('protocol', 'TCP')}")
    return ",".join(shown) or NONE


def _service_external(obj: Obj, _: dt.datetime) -> str:
    kind = dig(obj, "spec", "type")
    if kind == "ExternalName":
        return str(dig(obj, "spec", "externalName"))
    addresses = list(dig(obj, "spec", "externalIPs") or ())
    if kind == "LoadBalancer" and not addresses:
        return "<pending>"
    return ",".join(addresses) or NONE


def _endpoints(obj: Obj, _: dt.datetime) -> str:
    shown = []
    for subset in obj.get("subsets") or ():
        for address in subset.get("addresses") or ():
            ports = subset.get("ports") or [{}]
            shown += [f"{address['ip']}:{port['port']}" if port else str(address["ip"]) for port in ports]
    return _few(shown)


def _few(shown: list[str]) -> str:
    more = f" + {len(shown) - 3} more..." if len(shown) > 3 else ""
    return ",".join(shown[:3]) + more or NONE


def _slice_ports(obj: Obj, _: dt.datetime) -> str:
    ports = [str(port["port"]) for port in obj.get("ports") or () if port.get("port")]
    return _few(ports) if ports else "<unset>"


def _slice_endpoints(obj: Obj, _: dt.datetime) -> str:
    found = [address for endpoint in obj.get("endpoints") or () for address in endpoint.get("addresses") or ()]
    return _few(found) if found else "<unset>"


_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def _modes(*path: str) -> Cell:
    return lambda obj, _: ",".join(_MODES[mode] for mode in dig(obj, *path) or ())


def _claim_status(obj: Obj, _: dt.datetime) -> str:
    return "Terminating" if dig(obj, "metadata", "deletionTimestamp") else str(dig(obj, "status", "phase") or "")


def _volume_claim(obj: Obj, _: dt.datetime) -> str:
    claim = dig(obj, "spec", "claimRef")
    return f"{claim['namespace']}/{claim['name']}" if claim else ""


def _quota(part: str) -> Cell:
    def cell(obj: Obj, _: dt.datetime) -> str:
        hard, used = dig(obj, "status", "hard") or {}, dig(obj, "status", "used") or {}
        wants_limits = part == "Limit"
        names = [name for name in sorted(hard) if name.startswith("limits.") is wants_limits]
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return cell


def _job_status(obj: Obj, _: dt.datetime) -> str:
    true = {c["type"] for c in dig(obj, "status", "conditions") or () if c["status"] == "True"}
    for kind, word in (("Complete", "Complete"), ("Failed", "Failed")):
        if kind in true:
            return word
    if dig(obj, "metadata", "deletionTimestamp"):
        return "Terminating"
    if "Suspended" in true:
        return "Suspended"
    return "FailureTarget" if "FailureTarget" in true else "SuccessCriteriaMet" if true else "Running"


def _job_completions(obj: Obj, _: dt.datetime) -> str:
    done, wanted = dig(obj, "status", "succeeded") or 0, dig(obj, "spec", "completions")
    if wanted is not None:
        return f"{done}/{wanted}"
    parallelism = dig(obj, "spec", "parallelism") or 0
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def _job_duration(obj: Obj, now: dt.datetime) -> str:
    start, end = dig(obj, "status", "startTime"), dig(obj, "status", "completionTime")
    if not start:
        return ""
    moment = parse_timestamp(end) if end else now
    return human_duration((moment - parse_timestamp(start)).total_seconds())


def _event_object(obj: Obj, _: dt.datetime) -> str:
    about = obj.get("involvedObject") or {}
    return f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}"


def _event_source(obj: Obj, _: dt.datetime) -> str:
    source = obj.get("source") or {}
    component = source.get("component") or obj.get("reportingComponent") or ""
    host = source.get("host") or obj.get("reportingInstance")
    return f"{component}, {host}" if source.get("host") else str(component)


def _event_seen(first: bool) -> Cell:
    def cell(obj: Obj, now: dt.datetime) -> str:
        last = obj.get("lastTimestamp") or dig(obj, "series", "lastObservedTime") or obj.get("eventTime")
        return since((obj.get("firstTimestamp") or obj.get("eventTime")) if first else last, now)

    return cell


def _subjects(kind: str) -> Cell:
    def cell(obj: Obj, _: dt.datetime) -> str:
        found = [s for s in obj.get("subjects") or () if s["kind"] == kind]
        return ", ".join(f"{s['namespace']}/{s['name']}" if s.get("namespace") else s["name"] for s in found)

    return cell


def _hosts(obj: Obj, _: dt.datetime) -> str:
    return ",".join(rule["host"] for rule in dig(obj, "spec", "rules") or () if rule.get("host")) or "*"


def _reference(obj: Obj, _: dt.datetime) -> str:
    target = dig(obj, "spec", "scaleTargetRef") or {}
    return f"{target.get('kind')}/{target.get('name')}"


def _role(obj: Obj, _: dt.datetime) -> str:
    return f"{dig(obj, 'roleRef', 'kind')}/{dig(obj, 'roleRef', 'name')}"


_AGE: tuple[str, Cell] = ("Age", age)
_BINDING: list[tuple[str, Cell]] = [
    ("Role", _role),
    _AGE,
    ("Users*", _subjects("User")),
    ("Groups*", _subjects("Group")),
    ("ServiceAccounts*", _subjects("ServiceAccount")),
]
_SELECTED: tuple[str, Cell] = ("Selector*", _selector("spec", "selector"))
_REPLICATED: list[tuple[str, Cell]] = [
    ("Desired:integer", _count("spec", "replicas")),
    ("Current:integer", _count("status", "replicas")),
    ("Ready:integer", _count("status", "readyReplicas")),
    _AGE,
    *_workload_tail("spec", "template"),
    _SELECTED,
]

COLUMNS: dict[str, list[tuple[str, Cell]]] = {
    kinds.PODS.key: [
        ("Ready", pod_ready),
        ("Status", pod_status),
        ("Restarts", pod_restarts),
        _AGE,
        ("IP*", _at("status", "podIP")),
        ("Node*", _at("spec", "nodeName")),
        ("Nominated Node*", _at("status", "nominatedNodeName")),
        ("Readiness Gates*", lambda obj, now: NONE),
    ],
    kinds.NAMESPACES.key: [("Status", _at("status", "phase", default="")), _AGE],
    kinds.NODES.key: [
        ("Status", _node_status),
        ("Roles", _node_roles),
        _AGE,
        ("Version", _at("status", "nodeInfo", "kubeletVersion", default="")),
        ("Internal-IP*", _node_address("InternalIP")),
        ("External-IP*", _node_address("ExternalIP")),
        ("OS-Image*", _at("status", "nodeInfo", "osImage", default="<unknown>")),
        ("Kernel-Version*", _at("status", "nodeInfo", "kernelVersion", default="<unknown>")),
        ("Container-Runtime*", _at("status", "nodeInfo", "containerRuntimeVersion", default="<unknown>")),
    ],
    kinds.SERVICES.key: [
        ("Type", _at("spec", "type")),
        ("Cluster-IP", _at("spec", "clusterIP")),
        ("External-IP", _service_external),
        ("Port(s)", _service_ports),
        _AGE,
        _SELECTED,
    ],
    kinds.ENDPOINTS.key: [("Endpoints", _endpoints), _AGE],
    kinds.CONFIG_MAPS.key: [("Data", _data), _AGE],
    kinds.SECRETS.key: [("Type", _at("type")), ("Data", _data), _AGE],
    kinds.SERVICE_ACCOUNTS.key: [_AGE],
    kinds.PERSISTENT_VOLUMES.key: [
        ("Capacity", _at("spec", "capacity", "storage", default="")),
        ("Access Modes", _modes("spec", "accessModes")),
        ("Reclaim Policy", _at("spec", "persistentVolumeReclaimPolicy", default="")),
        ("Status", _claim_status),
        ("Claim", _volume_claim),
        ("StorageClass", _at("spec", "storageClassName", default="")),
        ("VolumeAttributesClass", _at("spec", "volumeAttributesClassName", default="<unset>")),
        ("Reason", _at("status", "reason", default="")),
        _AGE,
        ("VolumeMode*", _at("spec", "volumeMode", default="<unset>")),
    ],
    kinds.PERSISTENT_VOLUME_CLAIMS.key: [
        ("Status", _claim_status),
        ("Volume", _at("spec", "volumeName", default="")),
        ("Capacity", _at("status", "capacity", "storage", default="")),
        ("Access Modes", _modes("status", "accessModes")),
        ("StorageClass", _at("spec", "storageClassName", default="")),
        ("VolumeAttributesClass", _at("spec", "volumeAttributesClassName", default="<unset>")),
        _AGE,
        ("VolumeMode*", _at("spec", "volumeMode", default="<unset>")),
    ],
    kinds.RESOURCE_QUOTAS.key: [("Request", _quota("Request")), ("Limit", _quota("Limit")), _AGE],
    kinds.REPLICATION_CONTROLLERS.key: _REPLICATED,
    kinds.EVENTS.key: [
        ("Last Seen", _event_seen(first=False)),
        ("Type", _at("type", default="")),
        ("Reason", _at("reason", default="")),
        ("Object", _event_object),
        ("Subobject*", _at("involvedObject", "fieldPath", default="")),
        ("Source*", _event_source),
        ("Message", lambda obj, _: str(obj.get("message") or "").strip()),
        ("First Seen*", _event_seen(first=True)),
        ("Count*", _at("count", default=1)),
        ("Name*", _at("metadata", "name")),
    ],
    kinds.DEPLOYMENTS.key: [
        ("Ready", _of(("status", "readyReplicas"), ("spec", "replicas"))),
        ("Up-to-date", _count("status", "updatedReplicas")),
        ("Available", _count("status", "availableReplicas")),
        _AGE,
        *_workload_tail("spec", "template"),
        _SELECTED,
    ],
    kinds.REPLICA_SETS.key: _REPLICATED,
    kinds.STATEFUL_SETS.key: [
        ("Ready", _of(("status", "readyReplicas"), ("spec", "replicas"))),
        _AGE,
        *_workload_tail("spec", "template"),
    ],
    kinds.DAEMON_SETS.key: [
        ("Desired:integer", _count("status", "desiredNumberScheduled")),
        ("Current:integer", _count("status", "currentNumberScheduled")),
        ("Ready:integer", _count("status", "numberReady")),
        ("Up-to-date:integer", _count("status", "updatedNumberScheduled")),
        ("Available:integer", _count("status", "numberAvailable")),
        ("Node Selector", _selector("spec", "template", "spec", "nodeSelector")),
        _AGE,
        *_workload_tail("spec", "template"),
        _SELECTED,
    ],
    kinds.CONTROLLER_REVISIONS.key: [
        ("Controller", lambda obj, _: _owner(obj)),
        ("Revision", _at("revision")),
        _AGE,
    ],
    kinds.JOBS.key: [
        ("Status", _job_status),
        ("Completions", _job_completions),
        ("Duration", _job_duration),
        _AGE,
        *_workload_tail("spec", "template"),
        _SELECTED,
    ],
    kinds.CRON_JOBS.key: [
        ("Schedule", _at("spec", "schedule")),
        ("Timezone", _at("spec", "timeZone")),
        ("Suspend:boolean", _at("spec", "suspend", default=False)),
        ("Active:integer", _length("status", "active")),
        ("Last Schedule", lambda o, now: since(s, now) if (s := dig(o, "status", "lastScheduleTime")) else NONE),
        _AGE,
        *_workload_tail("spec", "jobTemplate", "spec", "template"),
        ("Selector*", _selector("spec", "jobTemplate", "spec", "selector")),
    ],
    kinds.HORIZONTAL_POD_AUTOSCALERS.key: [
        ("Reference", _reference),
        ("Targets", lambda obj, _: "<unknown>"),
        ("MinPods", lambda obj, _: str(dig(obj, "spec", "minReplicas") or "<unset>")),
        ("MaxPods", lambda obj, _: str(dig(obj, "spec", "maxReplicas"))),
        ("Replicas", lambda obj, _: str(dig(obj, "status", "currentReplicas") or 0)),
        _AGE,
    ],
    kinds.INGRESSES.key: [
        ("Class", _at("spec", "ingressClassName")),
        ("Hosts", _hosts),
        ("Address", lambda obj, _: ""),
        ("Ports", lambda obj, _: "80, 443" if dig(obj, "spec", "tls") else "80"),
        _AGE,
    ],
    kinds.INGRESS_CLASSES.key: [("Controller", _at("spec", "controller")), ("Parameters", lambda o, _: NONE), _AGE],
    kinds.NETWORK_POLICIES.key: [("Pod-Selector", _selector("spec", "podSelector")), _AGE],
    kinds.POD_DISRUPTION_BUDGETS.key: [
        ("Min Available", lambda obj, _: str(_at("spec", "minAvailable", default="N/A")(obj, _))),
        ("Max Unavailable", lambda obj, _: str(_at("spec", "maxUnavailable", default="N/A")(obj, _))),
        ("Allowed Disruptions:integer", _count("status", "disruptionsAllowed")),
        _AGE,
    ],
    kinds.ENDPOINT_SLICES.key: [
        ("AddressType", _at("addressType")),
        ("Ports", _slice_ports),
        ("Endpoints", _slice_endpoints),
        _AGE,
    ],
    kinds.LEASES.key: [("Holder", _at("spec", "holderIdentity", default="")), _AGE],
    kinds.ROLE_BINDINGS.key: _BINDING,
    kinds.CLUSTER_ROLE_BINDINGS.key: _BINDING,
    kinds.STORAGE_CLASSES.key: [
        ("Provisioner", _at("provisioner")),
        ("ReclaimPolicy", _at("reclaimPolicy", default="Delete")),
        ("VolumeBindingMode", _at("volumeBindingMode", default="Immediate")),
        ("AllowVolumeExpansion", lambda obj, _: str(bool(obj.get("allowVolumeExpansion"))).lower()),
        _AGE,
    ],
    kinds.PRIORITY_CLASSES.key: [
        ("Value:integer", _count("value")),
        ("Global-Default:boolean", _at("globalDefault", default=False)),
        _AGE,
        ("PreemptionPolicy", _at("preemptionPolicy", default="PreemptLowerPriority")),
    ],
}


def _owner(obj: Obj) -> str:
    owner = next((o for o in dig(obj, "metadata", "ownerReferences") or () if o.get("controller")), None)
    if owner is None:
        return NONE
    group = owner["apiVersion"].rpartition("/")[0]
    return f"{owner['kind'].lower()}{'.' + group if group else ''}/{owner['name']}"
