"""Asking what would confirm a candidate: what cannot be asked stays unknown."""

from __future__ import annotations

from typing import Any, cast

import pytest

from sanare import errors
from sanare.diagnosis.probing import confirm, probes_wanted
from sanare.kube.client import KubeClient
from tests.unit.evaluator.namespace import incident, shop


class Refusing:
    """An API server's door at which every request ends with one error."""

    def __init__(self, error: errors.KubeError) -> None:
        self._error = error

    async def raw(self, *_: Any, **__: Any) -> Any:
        raise self._error


@pytest.mark.parametrize(
    "error",
    [errors.Unreachable("no answer"), errors.Invalid("/x/../healthz: a path may not contain . or .. as a segment")],
    ids=["no answer", "a path that is not sent"],
)
async def test_what_could_not_be_asked_is_unknown(error: errors.KubeError) -> None:
    snapshot = shop(livenessProbe={"httpGet": {"path": "/x/../healthz", "port": 8080}}).snapshot()
    wanted = probes_wanted(snapshot, incident())
    assert wanted
    seen = await confirm(cast(KubeClient, Refusing(error)), snapshot, incident())
    assert [(seen.answers[probe].known, seen.answers[probe].failure) for probe in wanted] == [
        (False, str(error)) for _ in wanted
    ]
