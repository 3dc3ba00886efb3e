"""Timers: callbacks after so many seconds of the cluster's own time, all ended at once when their owner stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from sanare_lab.cluster.clock import Clock


class Timer:
    """One callback to come. It runs at most once."""

    def __init__(self, timers: Timers, run: Callable[[], None]) -> None:
        self._timers = timers
        self._run = run
        self.handle: asyncio.TimerHandle | None = None

    @property
    def is_due(self) -> bool:
        """Whether it is still to run."""
        return self in self._timers

    def fire(self) -> None:
        """Run the callback (the event loop calls this)."""
        self._timers.forget(self)
        self._run()

    def cancel(self) -> None:
        """Let it not run; after it ran, nothing."""
        if self.handle is not None:
            self.handle.cancel()
        self._timers.forget(self)


class Timers:
    """The event loop's own timer heap: no task for each wait."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pending: set[Timer] = set()

    def __len__(self) -> int:
        return len(self._pending)

    def __contains__(self, timer: Timer) -> bool:
        return timer in self._pending

    def after(self, seconds: float, run: Callable[[], None]) -> Timer:
        """Call `run` after so many seconds of the cluster's time."""
        timer = Timer(self, run)
        loop = asyncio.get_running_loop()
        timer.handle = loop.call_later(max(0.0, seconds) / self._clock.scale, timer.fire)
        self._pending.add(timer)
        return timer

    def forget(self, timer: Timer) -> None:
        """Drop a timer that ran or was cancelled."""
        self._pending.discard(timer)

    def cancel_all(self) -> None:
        """No callback runs any more."""
        for timer in list(self._pending):
            timer.cancel()
