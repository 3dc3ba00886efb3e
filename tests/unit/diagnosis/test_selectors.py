"""A Service's selector is repaired from the labels of the workload that it is meant for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.unit.diagnosis.builders import App, Object, app, box, found, only, patch_of, service, values

CART = (app("cart"), service("cart"))
ONE_CANDIDATE: dict[str, tuple[list[App | Object], Mapping[str, str]]] = {
    "a slip in the value": ([app("web"), service("web", selector={"app": "wbe"}), *CART], {"app": "web"}),
    "a slip in the key": ([app("web"), service("web", selector={"ap": "web"}), *CART], {"app": "web"}),
    "one of two pairs": (
        [
            app("web", labels={"app": "web", "tier": "back"}),
            service("web", selector={"app": "web", "tier": "bakc"}),
            *CART,
        ],
        {"app": "web", "tier": "back"},
    ),
    "a Service of another name": ([app("web"), service("front", selector={"app": "weeb"}), *CART], {"app": "web"}),
    "nothing alike but the name": (
        [app("web"), service("web", selector={"app": "frontend-v1"}), *CART],
        {"app": "web"},
    ),
}


@pytest.mark.parametrize("target", ["Deployment/web", "Service/{}"])
@pytest.mark.parametrize(("parts", "selector"), ONE_CANDIDATE.values(), ids=ONE_CANDIDATE)
def test_one_workload_is_the_repair(parts: list[App | Object], selector: Mapping[str, str], target: str) -> None:
    broken = parts[1]
    assert isinstance(broken, dict)
    finding = only(found(*parts, target=target.format(broken["metadata"]["name"])), "SelectorMatchesNothing")
    test, replace = patch_of(finding)
    assert test["value"] == broken["spec"]["selector"]
    assert replace["value"] == selector


def test_without_any_likeness_the_only_workload_that_nobody_serves_is_the_repair() -> None:
    parts = [app("web"), service("entry", selector={"role": "frontend"}), *CART]
    finding = only(found(*parts, target="Service/entry"), "SelectorMatchesNothing")
    assert patch_of(finding)[1]["value"] == {"app": "web"}


def test_two_workloads_equally_alike_are_a_doubt() -> None:
    parts = [app("web-a"), app("web-b"), service("web", selector={"app": "web-c"})]
    finding = only(found(*parts, target="Service/web"), "SelectorMatchesNothing")
    assert finding.repair is None
    assert values(finding) == ["app=web-a", "app=web-b"]
    assert "Deployment/web-a" in finding.missing


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([app("web"), service("web")], id="the selector is right"),
        pytest.param([app("web"), {**service("web"), "spec": {"ports": []}}], id="a Service without selector"),
        pytest.param(
            [app("web"), service("web"), service("cart", selector={"app": "gone"})], id="another's Service"
        ),
        pytest.param(
            [
                app("web", labels={"app": "web", "track": "stable"}),
                app("web-canary", box("web"), labels={"app": "web", "track": "canary"}),
                service("web", selector={"app": "web"}),
            ],
            id="two releases of one application behind one Service",
        ),
    ],
)
def test_what_is_no_fault_gives_no_finding(parts: list[App | Object]) -> None:
    assert found(*parts) == ()


def test_a_shared_label_is_narrowed_to_the_service_s_own_workload() -> None:
    web = app("web", labels={"part-of": "shop", "app": "web"})
    db = app("db", box("db", "shop/db:1"), labels={"part-of": "shop", "app": "db"})
    finding = only(found(web, db, service("web", selector={"part-of": "shop"})), "SelectorTakesOthers")
    assert patch_of(finding)[1]["value"] == {"part-of": "shop", "app": "web"}
    assert "Deployment/db" in finding.observed
