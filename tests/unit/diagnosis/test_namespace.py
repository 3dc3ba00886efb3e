"""A namespace looked at without an Incident: what is asked about, what is left out, and what is refused."""

from __future__ import annotations

import pytest

from sanare import errors
from sanare.api.incident import Target
from sanare.diagnosis.namespace import survey
from sanare.evaluator.snapshot import Answer
from tests.unit.evaluator.fake_kube import FakeKube
from tests.unit.evaluator.namespace import Namespace, endpoints, named, service, shop, workload


async def test_where_everything_works_nothing_is_found() -> None:
    found = await survey(FakeKube(shop()).door, "shop")
    assert (found.findings, found.failing, found.looked_at) == ((), (), 4)


async def test_a_service_that_does_not_answer_is_found_and_its_neighbours_are_not() -> None:
    namespace = shop()
    namespace.silent["web"] = Answer(failure="connection refused")
    found = await survey(FakeKube(namespace).door, "shop")
    assert set(found.failing) <= {"Deployment/web", "Service/web"}
    assert len(found.failing) == 1


async def test_one_target_is_looked_at_alone() -> None:
    namespace = shop()
    namespace.silent["web"] = Answer(failure="connection refused")
    found = await survey(FakeKube(namespace).door, "shop", Target(kind="Deployment", name="api"))
    assert (found.failing, found.looked_at) == ((), 1)


async def test_what_has_done_its_work_is_not_asked_about() -> None:
    done = named("Pod", "migration")
    done["status"] = {"phase": "Succeeded"}
    found = await survey(FakeKube(shop().add(done)).door, "shop")
    assert (found.failing, found.looked_at) == ((), 4)


async def test_what_may_not_be_listed_is_told() -> None:
    kube = FakeKube(shop(), {"StatefulSet": errors.Forbidden("no such right", status=403)})
    found = await survey(kube.door, "shop")
    assert found.unseen["StatefulSet"].startswith("Forbidden: ")


async def test_what_may_not_be_listed_is_told_in_the_same_order_each_time() -> None:
    refused = {kind: errors.Forbidden("no such right", status=403) for kind in ("Service", "Job", "Deployment")}
    found = await survey(FakeKube(Namespace(), refused).door, "shop")
    assert list(found.unseen) == ["Deployment", "Job", "Service"]


async def test_an_empty_namespace_is_well_and_a_missing_one_is_refused() -> None:
    assert (await survey(FakeKube(Namespace()).door, "shop")).looked_at == 0
    with pytest.raises(errors.InvalidIncident, match="namespace shop does not exist"):
        await survey(FakeKube(Namespace(), namespaces=()).door, "shop")


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(errors.Forbidden("no right to namespaces", status=403), id="namespaces may not be read"),
        pytest.param(errors.Unreachable("no answer"), id="the API server does not answer"),
    ],
)
async def test_a_namespace_that_cannot_be_read_is_told_by_its_lists_alone(refusal: errors.KubeError) -> None:
    assert (await survey(FakeKube(Namespace(), {"Namespace": refusal}).door, "shop")).looked_at == 0


async def test_the_number_that_is_looked_into_is_bounded() -> None:
    namespace = Namespace()
    for number in range(42):
        namespace.add(*workload(f"w{number}"), service(f"w{number}"))
        namespace.silent[f"w{number}"] = Answer(failure="connection refused")
        namespace.objects["Deployment"][-1]["spec"]["replicas"] = 0
    found = await survey(FakeKube(namespace).door, "shop")
    assert (len(found.failing), found.left_out) == (42, 2)


def behind_addresses(name: str) -> Namespace:
    """A Service without a selector whose endpoints somebody wrote, as the API server's own is."""
    manual = endpoints(name, "x", by="")
    del manual["endpoints"][0]["targetRef"]
    alone = service(name)
    del alone["spec"]["selector"]
    return Namespace({}, {name: Answer(failure="no endpoints")}).add(alone, manual)


async def test_a_service_that_leads_to_addresses_alone_is_not_checked_rather_than_failing() -> None:
    found = await survey(FakeKube(behind_addresses("db")).door, "shop")
    assert (found.failing, list(found.unsure)) == ((), ["Service/db"])


async def test_services_beyond_what_one_look_asks_are_told_as_not_checked() -> None:
    namespace = Namespace()
    for number in range(30):
        namespace.add(*workload(f"w{number}"), service(f"w{number}"), endpoints(f"w{number}", f"w{number}-1-0"))
    found = await survey(FakeKube(namespace).door, "shop")
    assert (found.failing, len(found.unsure)) == ((), 6)
