"""What changed between two states of an object: field by field, and as the diff a person reads. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import yaml

from sanare.api.manifest import Manifest, Ref, mapping
from sanare.kubectl.redact import mask_output, mask_secrets
from sanare.text import cap_middle, one_line, redact, strip_hidden

_NOISE = frozenset({"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"})
_NOISY_ANNOTATIONS = frozenset(
    {"kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision"}
)


class _Missing:
    """The value of a field that is not there; null is a value."""

    def __repr__(self) -> str:
        return "(unset)"


MISSING: Final = _Missing()


@dataclass(frozen=True, slots=True)
class Named:
    """A step into a list whose elements are told apart by their `name`."""

    name: str


Step: TypeAlias = str | int | Named


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs. `before` or `after` is MISSING where the field was added or removed."""

    steps: tuple[Step, ...]
    before: object
    after: object

    @property
    def path(self) -> str:
        """The field as people write it: `spec.template.spec.containers[web].image`."""
        told = ""
        for step in self.steps:
            if isinstance(step, str):
                told += f".{step}" if told else step
            else:
                told += f"[{step.name if isinstance(step, Named) else step}]"
        return told

    def __str__(self) -> str:
        return f"{self.path}: {_show(self.before)} -> {_show(self.after)}"


def normalise(manifest: Manifest | None) -> dict[str, Any]:
    """The part of an object that people and kubectl write, Secret values masked."""
    if not manifest:
        return {}
    kept = {key: value for key, value in mask_secrets(manifest).items() if key != "status"}
    metadata = {k: v for k, v in mapping(manifest, "metadata").items() if k not in _NOISE}
    annotations = {k: v for k, v in mapping(metadata, "annotations").items() if k not in _NOISY_ANNOTATIONS}
    metadata.pop("annotations", None)
    return {**kept, "metadata": metadata | ({"annotations": annotations} if annotations else {})}


def changes(before: Manifest | None, after: Manifest | None) -> tuple[FieldChange, ...]:
    """Every field that differs; empty for a new or deleted object, whose difference is itself."""
    if before is None or after is None:
        return ()
    return tuple(_walk(normalise(before), normalise(after), ()))


def _walk(before: object, after: object, steps: tuple[Step, ...]) -> Iterator[FieldChange]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            yield from _pair(before.get(key, MISSING), after.get(key, MISSING), (*steps, key))
    elif _is_named(before) and _is_named(after):
        assert isinstance(before, list)  # noqa: S101 - narrowed by _is_named
        assert isinstance(after, list)  # noqa: S101
        old, new = ({item["name"]: item for item in side} for side in (before, after))
        for name in dict.fromkeys((*old, *new)):
            yield from _pair(old.get(name, MISSING), new.get(name, MISSING), (*steps, Named(name)))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _pair(one, other, (*steps, index))
    elif before != after:
        yield FieldChange(steps, before, after)


def _pair(before: object, after: object, steps: tuple[Step, ...]) -> Iterator[FieldChange]:
    if before is MISSING or after is MISSING:
        yield FieldChange(steps, before, after)
    else:
        yield from _walk(before, after, steps)


def _is_named(value: object) -> bool:
    if not isinstance(value, list) or not value:
        return False
    names = [item.get("name") if isinstance(item, Mapping) else None for item in value]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


def _show(value: object) -> str:
    if value is MISSING:
        return "(unset)"
    if isinstance(value, Mapping | list):
        return one_line(yaml.safe_dump(value, default_flow_style=True, width=10_000), 120)
    return one_line(str(value), 120)


def summarise(before: Manifest | None, after: Manifest | None) -> str:
    """One line of at most 300 bytes: the changed fields, or that the object is new or gone."""
    if before is None or after is None:
        return "created" if before is None else "deleted"
    found = changes(before, after)
    told = "; ".join(redact(str(change)) for change in found[:4])
    more = f"; and {len(found) - 4} more" if len(found) > 4 else ""
    return one_line(told + more, 300) or "no change"


def render_diff(before: Manifest | None, after: Manifest | None, *, limit: int = 4096) -> str:
    """A unified YAML diff of at most `limit` bytes, credentials masked; empty when nothing differs."""
    known = after or before or {}
    ref = Ref.of(known)
    old, new = (_lines(side) for side in (before, after))
    found = difflib.unified_diff(old, new, f"{ref} (before)", f"{ref} (after)", lineterm="", n=3)
    return cap_middle("\n".join(found), limit)


def _lines(manifest: Manifest | None) -> list[str]:
    if not manifest:
        return []
    told = yaml.safe_dump(normalise(manifest), sort_keys=False, width=200, allow_unicode=True)
    return mask_output(strip_hidden(told)).splitlines()
