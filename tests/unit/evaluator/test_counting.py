"""A verdict lists few checks and counts all of them, failures first; and measures progress against the baseline."""

from __future__ import annotations

from sanare.api.verdict import CheckResult, Result
from sanare.evaluator.evaluator import Evaluator
from sanare.evaluator.snapshot import Answer
from tests.unit.evaluator.fake_kube import FakeKube
from tests.unit.evaluator.namespace import POLICY, Namespace, endpoints, incident, service, workload

NAMES = [f"w{number}" for number in range(8)]


def many() -> Namespace:
    namespace = Namespace()
    for name in NAMES:
        namespace.add(*workload(name), service(name), endpoints(name, f"{name}-1-0"))
    return namespace


async def test_the_list_is_cut_and_the_counts_are_not() -> None:
    kube = FakeKube(many())
    about = incident(*(f"Deployment/{name}" for name in NAMES))
    baseline, _ = await Evaluator(kube.door).capture(about, POLICY)
    kube.namespace.silent["w5"] = Answer(failure="connection refused")
    verdict, checks = await Evaluator(kube.door).examine(about, POLICY, baseline)
    counts = verdict.counts
    assert verdict.result is Result.NOT_FIXED
    assert (len(verdict.checks), len(checks) > 32) == (32, True)
    assert counts.passed + counts.failed + counts.unknown == len(checks)
    assert counts.failed == sum(check.result is CheckResult.FAILED for check in checks) > 0
    assert verdict.checks == checks[:32]
    assert verdict.checks[0].result is CheckResult.FAILED


async def test_progress_is_measured_against_the_start() -> None:
    kube = FakeKube(many())
    about = incident("Deployment/w0", "Deployment/w1")
    kube.namespace.silent |= {name: Answer(failure="connection refused") for name in ("w0", "w1")}
    baseline, first = await Evaluator(kube.door).capture(about, POLICY)
    assert first.progress.share == "0/2"
    del kube.namespace.silent["w0"]
    verdict, _ = await Evaluator(kube.door).judge_now(about, POLICY, baseline)
    assert (verdict.progress.share, verdict.progress.resources) == ("1/2", 1)
    assert verdict.progress.vanished == ("Service/w0 Unreachable",)
