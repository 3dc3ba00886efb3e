"""The running cluster of these tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sanare_lab.cluster.cluster import Cluster
from tests.integration.cluster_behaviour.world import IMAGES, SCALE, World


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Cluster(scale=SCALE, images=IMAGES) as cluster:
        yield World(cluster)
