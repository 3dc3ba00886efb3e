"""The journeys with a model on the embedded cluster."""

from tests.journeys.model_journeys import *  # noqa: F403
