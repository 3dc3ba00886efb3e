"""The lab of the node's tests."""

from __future__ import annotations

import pytest

from tests.unit.cluster_sim.virtual import Lab


@pytest.fixture
def lab() -> Lab:
    return Lab()
