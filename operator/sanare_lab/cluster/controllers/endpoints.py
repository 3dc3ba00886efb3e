"""Endpoints: where a Service's traffic may go, as Endpoints and as EndpointSlices."""

from __future__ import annotations

from collections.abc import Iterable

from sanare_lab.cluster.controllers.backends import Backend, backends_of, slices_of, subsets_of
from sanare_lab.cluster.controllers.controller import Controller, Key, is_going, key_of, reference_to
from sanare_lab.cluster.controllers.podstate import is_finished, is_ready
from sanare_lab.cluster.objects import Obj, clone, dig, labels_of, namespace_of
from sanare_lab.cluster.resources import ENDPOINT_SLICES, ENDPOINTS, PODS, SERVICES
from sanare_lab.cluster.selectors import has_all
from sanare_lab.cluster.store import Change

SERVICE_LABEL = "kubernetes.io/service-name"
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_OWN, _MIRROR = "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"
_HEADLESS = "service.kubernetes.io/headless"
_TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"


class EndpointsController(Controller):
    """A Service with a selector gets both kinds; one without keeps what people wrote, mirrored into slices."""

    component = "endpoint-controller"
    watches = (SERVICES, PODS, ENDPOINTS, ENDPOINT_SLICES)

    def keys(self, change: Change) -> Iterable[Key]:
        """The Service itself, and every Service that selects a pod, or selected it before."""
        obj = change.object
        if change.resource in (SERVICES, ENDPOINTS):
            yield key_of(obj)
        elif change.resource is ENDPOINT_SLICES:
            if labels_of(obj).get(SERVICE_LABEL):
                yield namespace_of(obj), labels_of(obj)[SERVICE_LABEL]
        else:
            yield from self._selecting(change)

    def _selecting(self, change: Change) -> Iterable[Key]:
        if change.type == "MODIFIED" and change.old and _shows(change.old) == _shows(change.object):
            return
        states = [labels_of(change.object)]
        if change.old is not None and labels_of(change.old) != states[0]:
            states.append(labels_of(change.old))
        for service in self.store.list(SERVICES, namespace_of(change.object)):
            selector = dig(service, "spec", "selector")
            if selector and any(has_all(selector, labels) for labels in states):
                yield key_of(service)

    def reconcile(self, key: Key) -> float | None:
        """Write what the Service's pods make of it."""
        service = self.store.get(SERVICES, *key)
        if service is None or is_going(service):
            if self.store.get(ENDPOINTS, *key) is not None:
                self.store.delete(ENDPOINTS, *key)
            self._write_slices(key, [], None, _MIRROR)
            return None
        if dig(service, "spec", "type") == "ExternalName":
            return None
        selector = dig(service, "spec", "selector")
        if not selector:
            self._mirror(key, service)
            return None
        pods = [pod for pod in self.store.list(PODS, key[0]) if has_all(selector, labels_of(pod))]
        backends = backends_of(service, pods)
        self._write_endpoints(key, service, backends)
        self._write_slices(key, slices_of(backends), service, _OWN)
        return None

    def _write_endpoints(self, key: Key, service: Obj, backends: list[Backend]) -> None:
        subsets = subsets_of(backends)
        labels = {**labels_of(service), "endpoints.kubernetes.io/managed-by": "endpoint-controller"}
        if dig(service, "spec", "clusterIP") == "None":
            labels[_HEADLESS] = ""
        found = self.store.get(ENDPOINTS, *key)
        if found is not None and (found.get("subsets") or []) == subsets and labels_of(found) == labels:
            return
        metadata = {"name": key[1], "namespace": key[0], "labels": labels, "annotations": {_TRIGGER: self.now()}}
        wanted: Obj = {"metadata": metadata, **({"subsets": subsets} if subsets else {})}
        if found is None:
            self.store.create(ENDPOINTS, wanted)
        else:
            self.store.update(ENDPOINTS, wanted)

    def _mirror(self, key: Key, service: Obj) -> None:
        manual = self.store.get(ENDPOINTS, *key)
        self._write_slices(key, _mirrored(manual) if manual is not None else [], service, _MIRROR)
        self._write_slices(key, [], service, _OWN)

    def _write_slices(self, key: Key, wanted: list[Obj], service: Obj | None, manager: str) -> None:
        mine = {SERVICE_LABEL: key[1], _MANAGED_BY: manager}
        present = [item for item in self.store.list(ENDPOINT_SLICES, key[0]) if has_all(mine, labels_of(item))]
        if manager == _OWN and not wanted and service is not None and dig(service, "spec", "selector"):
            wanted = [{"endpoints": None, "ports": None}]
        for position, content in enumerate(wanted):
            if position < len(present):
                self._replace(present[position], content)
            elif service is not None:
                self._create(key, service, content, mine)
        for extra in present[len(wanted) :]:
            self.store.delete(ENDPOINT_SLICES, *key_of(extra))

    def _replace(self, present: Obj, content: Obj) -> None:
        if all(present.get(field) == content[field] for field in ("endpoints", "ports")):
            return
        changed = clone(present)
        changed |= content
        changed["metadata"].setdefault("annotations", {})[_TRIGGER] = self.now()
        self.store.update(ENDPOINT_SLICES, changed)

    def _create(self, key: Key, service: Obj, content: Obj, mine: dict[str, str]) -> None:
        labels = {**labels_of(service), **mine}
        if dig(service, "spec", "clusterIP") == "None":
            labels[_HEADLESS] = ""
        metadata = {
            "generateName": f"{key[1]}-",
            "namespace": key[0],
            "labels": labels,
            "annotations": {_TRIGGER: self.now()},
            "ownerReferences": [reference_to(service)],
        }
        self.store.create(ENDPOINT_SLICES, {"metadata": metadata, "addressType": "IPv4", **content})


def _shows(pod: Obj) -> tuple[object, ...]:
    """What endpoints depend on in a pod."""
    address, ended = dig(pod, "status", "podIP"), is_finished(pod)
    return labels_of(pod), address, ended, is_ready(pod), is_going(pod)


def _mirrored(endpoints: Obj) -> list[Obj]:
    found = []
    for subset in endpoints.get("subsets") or []:
        entries = []
        for field, ready in (("addresses", True), ("notReadyAddresses", False)):
            for address in subset.get(field) or []:
                entry: Obj = {"addresses": [address["ip"]], "conditions": {"ready": ready}}
                entry |= {key: address[key] for key in ("nodeName", "targetRef") if key in address}
                entries.append(entry)
        ports = [{"name": "", "protocol": "TCP", **port} for port in subset.get("ports") or []]
        found.append({"endpoints": entries, "ports": ports})
    return found
