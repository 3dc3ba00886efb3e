"""The journeys on a real cluster."""

from tests.journeys.model_journeys import *  # noqa: F403
from tests.journeys.person_journeys import *  # noqa: F403
