"""Faults hit the requests they are for, the same ones every time."""

from __future__ import annotations

from sanare_lab.cluster.faults import Fault, FaultKind, Faults


def _hits(faults: Faults, method: str, path: str, times: int) -> list[int]:
    return [number for number in range(1, times + 1) if faults.next(method, path)]


def test_chosen_requests_are_hit_and_no_others() -> None:
    faults = Faults(Fault(FaultKind.CONFLICT, "^PATCH .*/status", requests=frozenset({2, 4})))
    assert _hits(faults, "PATCH", "/apis/a/v1/b/status", 5) == [2, 4]
    assert _hits(faults, "GET", "/apis/a/v1/b/status", 5) == []
    assert faults.hits == 2


def test_a_rate_hits_the_same_requests_for_the_same_seed() -> None:
    fault = Fault(FaultKind.ERROR, rate=0.3)
    first, second = Faults(fault, seed=7), Faults(fault, seed=7)
    hits = _hits(first, "GET", "/api", 200)
    assert hits == _hits(second, "GET", "/api", 200)
    assert 30 < len(hits) < 90
    assert hits != _hits(Faults(fault, seed=8), "GET", "/api", 200)


def test_cleared_faults_hit_nothing() -> None:
    faults = Faults(Fault(FaultKind.ERROR, rate=1))
    faults.clear()
    assert _hits(faults, "GET", "/api", 3) == []
    faults.add(Fault(FaultKind.ERROR, requests=frozenset({1})))
    assert _hits(faults, "GET", "/api", 3) == [1]
