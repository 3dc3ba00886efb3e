"""managedFields, one entry for each manager and way of writing: who and when, not which fields."""

from __future__ import annotations

import datetime as dt

from sanare_lab.cluster.objects import Obj, timestamp
from sanare_lab.cluster.resources import ResourceType


def stamped(
    resource: ResourceType, obj: Obj, manager: str, moment: dt.datetime, *, operation: str, subresource: str = ""
) -> Obj:
    """The object with the manager's entry renewed."""
    entry: Obj = {
        "manager": manager,
        "operation": operation,
        "apiVersion": resource.api_version,
        "time": timestamp(moment),
        "fieldsType": "FieldsV1",
        "fieldsV1": {},
    }
    if subresource:
        entry["subresource"] = subresource
    others = [
        other
        for other in obj["metadata"].get("managedFields") or []
        if (other.get("manager"), other.get("operation"), other.get("subresource", ""))
        != (manager, operation, subresource)
    ]
    return {**obj, "metadata": {**obj["metadata"], "managedFields": [*others, entry]}}
