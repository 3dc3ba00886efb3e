"""Cluster IPs and node ports of Services: given out once, kept, checked. A store hook."""

from __future__ import annotations

import ipaddress
import itertools
import random

from sanare_lab.cluster.errors import Cause, invalid
from sanare_lab.cluster.objects import Obj, dig, name_of
from sanare_lab.cluster.resources import SERVICES, ResourceType
from sanare_lab.cluster.store import Store, Verb

_RANGE = ipaddress.ip_network("10.96.0.0/12")
_NODE_PORTS = range(30000, 32768)


class Addresses:
    """The hook: fills in clusterIP(s) and nodePort where the type of a Service has them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._numbers = itertools.cycle(random.sample(range(300, 60000), 20000))

    def __call__(self, verb: Verb, resource: ResourceType, old: Obj | None, new: Obj | None) -> Obj | None:
        """Fill in a new or changed Service."""
        if resource is not SERVICES or new is None:
            return new
        spec = dict(new.get("spec") or {})
        kind = spec.get("type", "ClusterIP")
        if kind == "ExternalName":
            return new
        before = (old or {}).get("spec") or {}
        if not spec.get("clusterIP"):
            spec["clusterIP"] = before.get("clusterIP") or self._free_address()
        self._check_address(new, before, spec)
        spec["clusterIPs"] = [spec["clusterIP"]]
        spec.setdefault("ipFamilies", ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "SingleStack")
        if kind in ("NodePort", "LoadBalancer"):
            spec["ports"] = [self._with_node_port(port, before) for port in spec.get("ports") or ()]
        return {**new, "spec": spec}

    def _taken(self) -> set[str]:
        return {str(dig(service, "spec", "clusterIP")) for service in self._store.list(SERVICES)}

    def _free_address(self) -> str:
        taken = self._taken()
        found = (str(_RANGE.network_address + number) for number in self._numbers)
        return next(address for address in found if address not in taken)

    def _check_address(self, service: Obj, before: Obj, spec: Obj) -> None:
        wanted, had = spec["clusterIP"], before.get("clusterIP")
        if had and wanted != had:
            why = f'Invalid value: ["{wanted}"]: may not change once set'
            raise invalid(SERVICES, name_of(service), [Cause("spec.clusterIPs[0]", why)])
        if not had and wanted != "None" and wanted in self._taken():
            why = f'Invalid value: ["{wanted}"]: failed to allocate IP {wanted}: provided IP is already allocated'
            raise invalid(SERVICES, name_of(service), [Cause("spec.clusterIPs", why)])

    def _with_node_port(self, port: Obj, before: Obj) -> Obj:
        if port.get("nodePort"):
            return port
        known = (
            p["nodePort"] for p in before.get("ports") or () if p.get("nodePort") and p["port"] == port["port"]
        )
        taken = {p.get("nodePort") for s in self._store.list(SERVICES) for p in dig(s, "spec", "ports") or ()}
        free = (number for number in random.sample(_NODE_PORTS, len(_NODE_PORTS)) if number not in taken)
        return {**port, "nodePort": next(known, None) or next(free)}
