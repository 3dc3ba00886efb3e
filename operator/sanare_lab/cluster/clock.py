"""Time of the embedded cluster: wall time for stamps, scaled time for waits."""

from __future__ import annotations

import asyncio
import datetime as dt
import time


class Clock:
    """A clock whose waits are `scale` times as short as they say. Stamps stay wall time."""

    def __init__(self, scale: float = 1.0) -> None:
        if scale <= 0:
            raise ValueError(f"a clock's scale is above zero, not {scale}")
        self.scale = scale

    def now(self) -> dt.datetime:
        """Wall time, UTC."""
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        """Seconds of the cluster's own time since some moment: they pass `scale` times as fast as wall seconds."""
        return time.monotonic() * self.scale

    async def sleep(self, seconds: float) -> None:
        """Wait for so many seconds of the cluster's own time."""
        await asyncio.sleep(max(0.0, seconds) / self.scale)
