"""The journeys with a person on the embedded cluster."""

from tests.journeys.person_journeys import *  # noqa: F403
