"""The journeys after a repair on a real cluster."""

from tests.journeys.watch_journeys import *  # noqa: F403
