"""The journeys on the embedded cluster."""

from tests.journeys.model_journeys import *  # noqa: F403
from tests.journeys.person_journeys import *  # noqa: F403
