"""Kubernetes objects as plain JSON, and the few things that everyone does with them."""

from __future__ import annotations

import datetime as dt
from typing import Any, TypeAlias, TypeVar

Obj: TypeAlias = dict[str, Any]
T = TypeVar("T")


def clone(value: T) -> T:
    """A deep copy of JSON, much faster than copy.deepcopy."""
    if isinstance(value, dict):
        return {key: clone(item) for key, item in value.items()}  # type: ignore[return-value]
    if isinstance(value, list):
        return [clone(item) for item in value]  # type: ignore[return-value]
    return value


def dig(value: Any, *path: str | int) -> Any:
    """The value at a path of keys and list positions, or None."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        elif isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def name_of(obj: Obj) -> str:
    """metadata.name, or an empty string."""
    return str(obj.get("metadata", {}).get("name") or "")


def namespace_of(obj: Obj) -> str:
    """metadata.namespace, or an empty string."""
    return str(obj.get("metadata", {}).get("namespace") or "")


def labels_of(obj: Obj) -> dict[str, str]:
    """metadata.labels, possibly empty; not to be changed."""
    return obj.get("metadata", {}).get("labels") or {}


def timestamp(moment: dt.datetime) -> str:
    """A metav1.Time: UTC, whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_timestamp(moment: dt.datetime) -> str:
    """A metav1.MicroTime: UTC, microseconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_timestamp(text: str) -> dt.datetime:
    """The moment of a metav1.Time or MicroTime. Raises ValueError."""
    return dt.datetime.fromisoformat(text)
