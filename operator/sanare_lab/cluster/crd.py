"""CustomResources: kinds that CRDs add. A store hook for their objects, a listener for the CRDs themselves."""

from __future__ import annotations

from typing import Any

from sanare_lab.cluster import schemas
from sanare_lab.cluster.changes import Change
from sanare_lab.cluster.errors import Cause, invalid
from sanare_lab.cluster.objects import Obj, name_of, namespace_of, timestamp
from sanare_lab.cluster.resources import CUSTOM_RESOURCE_DEFINITIONS, ResourceType
from sanare_lab.cluster.schemas import Schema, SchemaBook
from sanare_lab.cluster.store import Store, Verb
from sanare_lab.cluster.structural import violations
from sanare_lab.cluster.tables import TableBook


class CustomResources:
    """Serves what CRDs declare; fills in defaults and checks custom objects."""

    def __init__(self, store: Store, book: SchemaBook, tables: TableBook) -> None:
        self._store = store
        self._book = book
        self._tables = tables
        store.log.listeners.append(self._observe)

    def __call__(self, verb: Verb, resource: ResourceType, old: Obj | None, new: Obj | None) -> Obj | None:
        """Admission of CRDs and of custom objects. Raises ApiError 422."""
        if new is None:
            return None
        if resource is CUSTOM_RESOURCE_DEFINITIONS:
            return self._admit_definition(old, new)
        if not resource.custom:
            return new
        schema = self._book.of(resource)
        filled: Obj = schemas.with_defaults(schema, without_nulls(schema, new))
        found = violations(schema, filled, old)
        if found:
            raise invalid(resource, name_of(filled), found)
        return filled

    def _admit_definition(self, old: Obj | None, new: Obj) -> Obj:
        spec = new["spec"]
        names = dict(spec["names"])
        wanted = f"{names['plural']}.{spec['group']}"
        if name_of(new) != wanted:
            why = f'Invalid value: "{name_of(new)}": must be spec.names.plural+"."+spec.group'
            raise invalid(CUSTOM_RESOURCE_DEFINITIONS, name_of(new), [Cause("metadata.name", why)])
        names.setdefault("singular", names["kind"].lower())
        names.setdefault("listKind", names["kind"] + "List")
        spec = {**spec, "names": names, "conversion": spec.get("conversion") or {"strategy": "None"}}
        status = self._status(names, spec) if old is None else old.get("status")
        return {**new, "spec": spec, "status": status}

    def _status(self, names: Obj, spec: Obj) -> Obj:
        now = timestamp(self._store.clock.now())
        conditions = (
            ("NamesAccepted", "NoConflicts", "no conflicts found"),
            ("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        )
        return {
            "acceptedNames": names,
            "conditions": [
                {"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": now}
                for kind, reason, message in conditions
            ],
            "storedVersions": [version["name"] for version in spec["versions"] if version.get("storage")],
        }

    def _observe(self, change: Change) -> None:
        if change.resource is not CUSTOM_RESOURCE_DEFINITIONS:
            return
        spec = change.object["spec"]
        if change.type == "DELETED":
            self._forget(spec)
            return
        for version in spec["versions"]:
            if version.get("served"):
                self._serve(spec, version)

    def _serve(self, spec: Obj, version: Obj) -> None:
        names, subresources = spec["names"], version.get("subresources") or {}
        resource = ResourceType(
            kind=names["kind"],
            group=spec["group"],
            version=version["name"],
            plural=names["plural"],
            singular=names["singular"],
            namespaced=spec["scope"] == "Namespaced",
            short=tuple(names.get("shortNames") or ()),
            categories=tuple(names.get("categories") or ()),
            subresources=tuple(name for name in ("status", "scale") if name in subresources),
            custom=True,
        )
        self._store.registry.add(resource)
        self._book.add(resource, _whole((version.get("schema") or {}).get("openAPIV3Schema") or {}))
        self._tables.add(resource, version.get("additionalPrinterColumns") or [])

    def _forget(self, spec: Obj) -> None:
        """The kind goes, and its objects with it."""
        group, plural = spec["group"], spec["names"]["plural"]
        found = [
            resource for resource in self._store.registry if (resource.group, resource.plural) == (group, plural)
        ]
        for obj in self._store.list(found[0]) if found else ():
            bare = {**obj, "metadata": {k: v for k, v in obj["metadata"].items() if k != "finalizers"}}
            self._store.update(found[0], bare)
            self._store.remove(found[0], namespace_of(obj), name_of(obj))
        self._store.registry.remove(group, plural)


def _whole(schema: Schema) -> Schema:
    """The schema with what every object has."""
    head: Schema = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": schemas.OBJECT_META}
    return {**schema, "properties": {**(schema.get("properties") or {}), **head}}


def without_nulls(schema: Schema, value: Any) -> Any:
    """The value without nulls where the schema allows none: they count as missing."""
    schema = schemas.resolve(schema)
    if isinstance(value, dict):
        kept: Obj = {}
        for name, item in value.items():
            part = schemas.resolve(schemas.field(schema, name) or schemas.ANYTHING)
            if item is not None or part.get("nullable") or schemas.is_open(part):
                kept[name] = without_nulls(part, item)
        return kept
    if isinstance(value, list):
        part = schemas.items(schema)
        return [without_nulls(part, item) for item in value]
    return value
