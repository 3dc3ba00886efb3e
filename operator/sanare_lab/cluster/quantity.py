"""Quantities: `500m`, `64Mi`, `1e3` as numbers, and numbers as quantities. Pure."""

from __future__ import annotations

from functools import lru_cache

_BINARY = {suffix: 1024**power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_DECIMAL = {suffix: 1000**power for power, suffix in enumerate(("k", "M", "G", "T", "P", "E"), 1)}
_SMALL = {"m": 1e-3, "u": 1e-6, "n": 1e-9}
_FACTORS: dict[str, float] = {**_BINARY, **_DECIMAL, **_SMALL}


@lru_cache(maxsize=4096)
def quantity(text: object) -> float:
    """The number that a quantity stands for; what is none counts as 0."""
    raw = str(text)
    for length in (2, 1):
        factor = _FACTORS.get(raw[-length:])
        if factor is not None:
            return _float(raw[:-length]) * factor
    return _float(raw)


def _float(raw: str) -> float:
    try:
        return float(raw)
    except ValueError:
        return 0.0


def show(value: float, unit: str = "") -> str:
    """A quantity in the form of `unit` (`m` for cpu, `Ki`, `Mi`, ...; empty for a plain number)."""
    if unit == "m" or value != int(value):
        milli = round(value * 1000)
        return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"
    for suffix, factor in reversed(_BINARY.items()):
        if unit in _BINARY and value and value % factor == 0:
            return f"{int(value) // factor}{suffix}"
    return str(int(value))
