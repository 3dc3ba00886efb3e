"""Kubernetes quantities as numbers. Pure."""

from __future__ import annotations

import re

_QUANTITY = re.compile(
    r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([eE][+-]?[0-9]+)|(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|E|Ei))?", re.ASCII
)
_UNITS = {"": 1.0, "m": 1e-3} | {
    unit + binary: (1024.0 if binary else 1000.0) ** power
    for power, unit in enumerate("kMGTPE", start=1)
    for binary in ("", "i")
}
_UNITS["Ki"] = 1024.0


def quantity(value: object) -> float | None:
    """A Kubernetes quantity (`128Mi`, `500m`, `1e3`) as a number, None where it is none."""
    found = _QUANTITY.fullmatch(str(value))
    if not found:
        return None
    base, exponent, unit = found.groups()
    return float(base + (exponent or "")) * _UNITS[unit or ""]
