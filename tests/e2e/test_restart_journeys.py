"""The journeys over a restart on a real cluster."""

from tests.journeys.restart_journeys import *  # noqa: F403
