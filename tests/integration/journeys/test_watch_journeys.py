"""The journeys after a repair on the embedded cluster."""

from tests.journeys.watch_journeys import *  # noqa: F403
