"""Durations as Kubernetes prints them in ages."""

from __future__ import annotations


def human_duration(seconds: float) -> str:
    """`42s`, `3m5s`, `7h`, `2d3h`: two units while the first is small."""
    total = int(seconds)
    if total < -1:
        return "<invalid>"
    total = max(0, total)
    minutes, hours, days, years = total // 60, total // 3600, total // 86400, total // 31536000
    if total < 120:
        return f"{total}s"
    if minutes < 10:
        return _two(minutes, "m", total % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    return _two(years, "y", days % 365, "d") if years < 8 else f"{years}y"


def _two(first: int, first_unit: str, second: int, second_unit: str) -> str:
    return f"{first}{first_unit}" + (f"{second}{second_unit}" if second else "")
