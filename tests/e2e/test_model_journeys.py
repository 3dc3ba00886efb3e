"""The journeys with a model on a real cluster."""

from tests.journeys.model_journeys import *  # noqa: F403
