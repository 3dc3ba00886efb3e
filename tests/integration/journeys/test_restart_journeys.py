"""The journeys over a restart on the embedded cluster."""

from tests.journeys.restart_journeys import *  # noqa: F403
