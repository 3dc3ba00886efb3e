"""Process: one start of a container, and what the container is to its pod."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from enum import Enum

from sanare_lab.cluster.node.images import Image
from sanare_lab.cluster.node.run import FOREVER, Run
from sanare_lab.cluster.node.volumes import Mounts


class Role(Enum):
    """What the container is to its pod."""

    INIT = "initContainers"
    SIDECAR = "sidecar"
    MAIN = "containers"


@dataclass(slots=True)
class Process:
    """One start of the container: what it does, since when, and until when."""

    run: Run
    since: float
    image: Image
    env: dict[str, str]
    files: Mounts
    id: str = field(default_factory=lambda: f"containerd://{uuid.uuid4().hex}{uuid.uuid4().hex}")
    ended: float = FOREVER

    def elapsed(self, now: float) -> float:
        """Seconds that it has run."""
        return min(now, self.ended) - self.since

    def log(self, now: float) -> list[str]:
        """What it has written."""
        return self.run.log(self.elapsed(now))
