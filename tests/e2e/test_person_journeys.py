"""The journeys with a person on a real cluster."""

from tests.journeys.person_journeys import *  # noqa: F403
