"""Where a Service leads, as an address to connect to, taken from the snapshot alone. Pure.

The operator stands where many namespaces' people do not reach, so it connects to nothing that a Service merely
claims: no external names, no addresses written by hand, only pods that the kubelets report in this namespace.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from sanare.api.manifest import Manifest, dig, items, number, text
from sanare.evaluator.declared.reply import Reply
from sanare.evaluator.kinds import Kind, blindness
from sanare.evaluator.ownership import service_selector
from sanare.evaluator.reach import is_ready_endpoint, slices_of
from sanare.evaluator.snapshot import Snapshot

_NEEDED = ("Service", "EndpointSlice", "Pod")


@dataclass(frozen=True, slots=True)
class Destination:
    """An address behind a Service, and the name that a client would have used."""

    address: str
    port: int
    host: str

    @property
    def authority(self) -> str:
        """Address and port as a URL writes them."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


def destination(snapshot: Snapshot, service: str, port: str) -> Destination | Reply:
    """The Service's address and port, or why there is none to connect to. An empty port means the first one."""
    found = vouched_for(snapshot, service)
    if isinstance(found, Reply):
        return found
    chosen = find_port(found, port)
    if chosen is None:
        return no_port(service, port)
    host = f"{service}.{snapshot.namespace}.svc"
    address = text(found, "spec", "clusterIP")
    if _is_address(address):
        return Destination(address, number(chosen, "port"), host)
    return _headless(snapshot, service, chosen, host)


def vouched_for(snapshot: Snapshot, service: str) -> Manifest | Reply:
    """The Service, or why it is not asked: one that leads out of its namespace would tell what stands there."""
    for kind in _NEEDED:
        if not snapshot.is_listed(kind):
            why = snapshot.unseen.get(kind, "nobody asked for them")
            return Reply(failure=f"{kind} objects could not be listed: {why}", unknown=blindness(why))
    found = snapshot.find("Service", service)
    if found is None:
        return Reply(failure=f"Service/{service} does not exist", unknown=Kind.NOT_FOUND)
    if text(found, "spec", "type") == "ExternalName" or not service_selector(found):
        return _refused(f"Service/{service} has no selector: only pods of its own namespace are asked")
    stranger = next(_strangers(snapshot, service), "")
    if stranger:
        return _refused(f"Service/{service} leads to {stranger}, which is no pod of its namespace")
    return found


def no_port(service: str, port: str) -> Reply:
    """What is said where the Service has no such TCP port."""
    return Reply(failure=f"Service/{service} has no TCP port {port}".rstrip(), unknown=Kind.NOT_FOUND)


def find_port(service: Manifest, port: str) -> Manifest | None:
    """The TCP port of a Service with that name or number; without one, the first."""
    ports = [item for item in items(service, "spec", "ports") if text(item, "protocol") in ("", "TCP")]
    return next((item for item in ports if port in ("", text(item, "name"), str(item.get("port")))), None)


def _headless(snapshot: Snapshot, service: str, port: Manifest, host: str) -> Destination | Reply:
    """The first ready pod of a Service without an address of its own."""
    for each in slices_of(snapshot, service):
        numbers = [number(one, "port") for one in items(each, "ports") if text(one, "name") == text(port, "name")]
        for endpoint in items(each, "endpoints"):
            address = dig(endpoint, "addresses", 0)
            if is_ready_endpoint(endpoint) and numbers and numbers[0] and isinstance(address, str):
                return Destination(address, numbers[0], host)
    return Reply(failure="no endpoints")


def _strangers(snapshot: Snapshot, service: str) -> Iterator[str]:
    """Addresses behind the Service that no pod of the namespace has."""
    known = {text(entry, "ip") for pod in snapshot.all("Pod") for entry in items(pod, "status", "podIPs")} | {
        text(pod, "status", "podIP") for pod in snapshot.all("Pod")
    }
    for each in slices_of(snapshot, service):
        for endpoint in items(each, "endpoints"):
            addresses = endpoint.get("addresses")
            yield from (str(found) for found in addresses or () if found not in known)


def _is_address(value: str) -> bool:
    try:
        ip_address(value)
    except ValueError:
        return False
    return True


def _refused(why: str) -> Reply:
    return Reply(failure=why, unknown=Kind.FORBIDDEN)
