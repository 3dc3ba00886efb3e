"""What stands in the cells of built-in kinds' tables, as the real server prints it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, TypeAlias

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


def at(*path: str | int, default: Any = NONE) -> Cell:
    def cell(obj: Obj, _: dt.datetime) -> Any:
        value = dig(obj, *path)
        return default if value is None else value

    return cell


def count(*path: str | int) -> Cell:
    return at(*path, default=0)


def length(*path: str | int) -> Cell:
    return lambda obj, _: len(dig(obj, *path) or ())


def data(obj: Obj, _: dt.datetime) -> int:
    return len(obj.get("data") or ()) + len(obj.get("binaryData") or ())


def of(*readings: tuple[str, ...]) -> Cell:
    return lambda obj, _: "/".join(str(dig(obj, *path) or 0) for path in readings)


def _containers(field: str, *path: str) -> Cell:
    def cell(obj: Obj, _: dt.datetime) -> str:
        return ",".join(item.get(field, "") for item in dig(obj, *path, "spec", "containers") or ())

    return cell


def selector(*path: str) -> Cell:
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


def workload_tail(*template: str) -> list[tuple[str, Cell]]:
    return [("Containers*", _containers("name", *template)), ("Images*", _containers("image", *template))]


def node_status(obj: Obj, _: dt.datetime) -> str:
    ready = next((c for c in dig(obj, "status", "conditions") or () if c["type"] == "Ready"), None)
    word = "Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"
    return f"{word},SchedulingDisabled" if dig(obj, "spec", "unschedulable") else word


def node_roles(obj: Obj, _: dt.datetime) -> str:
    prefix = "node-role.kubernetes.io/"
    labels = dig(obj, "metadata", "labels") or {}
    return ",".join(sorted(key.removeprefix(prefix) for key in labels if key.startswith(prefix))) or NONE


def node_address(kind: str) -> Cell:
    def cell(obj: Obj, _: dt.datetime) -> str:
        found = (a["address"] for a in dig(obj, "status", "addresses") or () if a["type"] == kind)
        return next(found, NONE)

    return cell


def service_ports(obj: Obj, _: dt.datetime) -> str:
    shown = []
    for port in dig(obj, "spec", "ports") or ():
        node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
        shown.append(f"{port['port']}{node_port}/{port.get('protocol', 'TCP')}")
    return ",".join(shown) or NONE


def service_external(obj: Obj, _: dt.datetime) -> str:
    kind = dig(obj, "spec", "type")
    if kind == "ExternalName":
        return str(dig(obj, "spec", "externalName"))
    addresses = list(dig(obj, "spec", "externalIPs") or ())
    if kind == "LoadBalancer" and not addresses:
        return "<pending>"
    return ",".join(addresses) or NONE


def endpoints(obj: Obj, _: dt.datetime) -> str:
    shown = []
    for subset in obj.get("subsets") or ():
        for address in subset.get("addresses") or ():
            ports = subset.get("ports") or [{}]
            shown += [f"{address['ip']}:{port['port']}" if port else str(address["ip"]) for port in ports]
    return _few(shown)


def _few(shown: list[str]) -> str:
    more = f" + {len(shown) - 3} more..." if len(shown) > 3 else ""
    return ",".join(shown[:3]) + more or NONE


def slice_ports(obj: Obj, _: dt.datetime) -> str:
    ports = [str(port["port"]) for port in obj.get("ports") or () if port.get("port")]
    return _few(ports) if ports else "<unset>"


def slice_endpoints(obj: Obj, _: dt.datetime) -> str:
    found = [address for endpoint in obj.get("endpoints") or () for address in endpoint.get("addresses") or ()]
    return _few(found) if found else "<unset>"


_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def modes(*path: str) -> Cell:
    return lambda obj, _: ",".join(_MODES[mode] for mode in dig(obj, *path) or ())


def claim_status(obj: Obj, _: dt.datetime) -> str:
    return "Terminating" if dig(obj, "metadata", "deletionTimestamp") else str(dig(obj, "status", "phase") or "")


def volume_claim(obj: Obj, _: dt.datetime) -> str:
    claim = dig(obj, "spec", "claimRef")
    return f"{claim['namespace']}/{claim['name']}" if claim else ""


def quota(part: str) -> Cell:
    def cell(obj: Obj, _: dt.datetime) -> str:
        hard, used = dig(obj, "status", "hard") or {}, dig(obj, "status", "used") or {}
        wants_limits = part == "Limit"
        names = [name for name in sorted(hard) if name.startswith("limits.") is wants_limits]
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return cell


def job_status(obj: Obj, _: dt.datetime) -> str:
    true = {c["type"] for c in dig(obj, "status", "conditions") or () if c["status"] == "True"}
    for kind, word in (("Complete", "Complete"), ("Failed", "Failed")):
        if kind in true:
            return word
    if dig(obj, "metadata", "deletionTimestamp"):
        return "Terminating"
    if "Suspended" in true:
        return "Suspended"
    return "FailureTarget" if "FailureTarget" in true else "SuccessCriteriaMet" if true else "Running"


def job_completions(obj: Obj, _: dt.datetime) -> str:
    done, wanted = dig(obj, "status", "succeeded") or 0, dig(obj, "spec", "completions")
    if wanted is not None:
        return f"{done}/{wanted}"
    parallelism = dig(obj, "spec", "parallelism") or 0
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def job_duration(obj: Obj, now: dt.datetime) -> str:
    start, end = dig(obj, "status", "startTime"), dig(obj, "status", "completionTime")
    if not start:
        return ""
    moment = parse_timestamp(end) if end else now
    return human_duration((moment - parse_timestamp(start)).total_seconds())


def event_object(obj: Obj, _: dt.datetime) -> str:
    about = obj.get("involvedObject") or {}
    return f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}"


def event_source(obj: Obj, _: dt.datetime) -> str:
    source = obj.get("source") or {}
    component = source.get("component") or obj.get("reportingComponent") or ""
    host = source.get("host") or obj.get("reportingInstance")
    return f"{component}, {host}" if source.get("host") else str(component)


def event_seen(first: bool) -> Cell:
    def cell(obj: Obj, now: dt.datetime) -> str:
        last = obj.get("lastTimestamp") or dig(obj, "series", "lastObservedTime") or obj.get("eventTime")
        return since((obj.get("firstTimestamp") or obj.get("eventTime")) if first else last, now)

    return cell


def subjects(kind: str) -> Cell:
    def cell(obj: Obj, _: dt.datetime) -> str:
        found = [s for s in obj.get("subjects") or () if s["kind"] == kind]
        return ", ".join(f"{s['namespace']}/{s['name']}" if s.get("namespace") else s["name"] for s in found)

    return cell


def hosts(obj: Obj, _: dt.datetime) -> str:
    return ",".join(rule["host"] for rule in dig(obj, "spec", "rules") or () if rule.get("host")) or "*"


def reference(obj: Obj, _: dt.datetime) -> str:
    target = dig(obj, "spec", "scaleTargetRef") or {}
    return f"{target.get('kind')}/{target.get('name')}"


def targets(obj: Obj, _: dt.datetime) -> str:
    """`cpu: <unknown>/80%`: nothing here measures."""
    shown = []
    for metric in dig(obj, "spec", "metrics") or ():
        resource = metric.get("resource") or {}
        percent = dig(resource, "target", "averageUtilization")
        wanted = f"{percent}%" if percent else dig(resource, "target", "averageValue") or "<auto>"
        shown.append(f"{resource.get('name', metric['type'])}: <unknown>/{wanted}")
    return ", ".join(shown) or NONE


def role(obj: Obj, _: dt.datetime) -> str:
    return f"{dig(obj, 'roleRef', 'kind')}/{dig(obj, 'roleRef', 'name')}"


def owner(obj: Obj) -> str:
    owner = next((o for o in dig(obj, "metadata", "ownerReferences") or () if o.get("controller")), None)
    if owner is None:
        return NONE
    group = owner["apiVersion"].rpartition("/")[0]
    return f"{owner['kind'].lower()}{'.' + group if group else ''}/{owner['name']}"
