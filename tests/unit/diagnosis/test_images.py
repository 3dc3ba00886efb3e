"""An image that cannot be pulled is repaired from images that the cluster is known to have."""

from __future__ import annotations

import pytest

from sanare.diagnosis.analyzers.images import ImageName
from sanare.diagnosis.finding import Confidence
from tests.unit.diagnosis.builders import App, Object, app, box, found, only, patch_of, thing, values, waiting

PULL = waiting("ImagePullBackOff", 'Back-off pulling image "x": not found')


def broken(image: str, **more: object) -> App:
    return app("web", box(image=image), state=PULL, **more)  # type: ignore[arg-type]


def other(name: str, image: str) -> App:
    return app(name, box(name, image))


def node(*names: str) -> Object:
    return thing("Node", "n1", status={"images": [{"names": list(names)}]})


ONE_CANDIDATE = {
    "a slip in the tag": (
        [broken("shop/app:1.4.2-slin"), other("cart", "shop/app:1.4.2-slim")],
        "shop/app:1.4.2-slim",
    ),
    "a dot left out": ([broken("shop/app:1.42"), other("cart", "shop/app:1.4.2")], "shop/app:1.4.2"),
    "a slip in the repository": ([broken("shop/ap:1.0"), other("cart", "shop/app:1.0")], "shop/app:1.0"),
    "a registry with a port": ([broken("r:5000/app:v1x"), other("cart", "r:5000/app:v1")], "r:5000/app:v1"),
    "the only version that runs": ([broken("shop/app:1.1"), other("cart", "shop/app:1.0")], "shop/app:1.0"),
    "an image that the node has": ([broken("shop/app:1.0x"), node("shop/app:1.0", "db:9")], "shop/app:1.0"),
    "an earlier revision with ready pods": (
        [broken("shop/app:2.0", old=[(box(image="shop/app:1.0"), 1)]), other("cart", "shop/api:7")],
        "shop/app:1.0",
    ),
    "a near miss before an earlier revision": (
        [broken("shop/app:2.0-alpin", old=[(box(image="shop/app:1.0"), 1)]), other("cart", "shop/app:2.0-alpine")],
        "shop/app:2.0-alpine",
    ),
    "the change cause": (
        [broken("shop/app:9", annotations={"kubernetes.io/change-cause": "release shop/app:2.1 to web"})],
        "shop/app:2.1",
    ),
}


@pytest.mark.parametrize(("parts", "image"), ONE_CANDIDATE.values(), ids=ONE_CANDIDATE)
def test_one_candidate_is_the_repair(parts: list[App], image: str) -> None:
    finding = only(found(*parts), "ImageNotPullable")
    assert values(finding) == [image]
    assert finding.missing == ""
    test, replace = patch_of(finding)
    assert test == {"op": "test", "path": "/spec/template/spec/containers/0/image", "value": finding.observed}
    assert replace == {"op": "replace", "path": test["path"], "value": image}


NO_REPAIR = {
    "two tags equally near": [
        broken("shop/app:1.0-alpin"),
        other("a", "shop/app:1.0-alpine"),
        other("b", "shop/app:1.0-alping"),
    ],
    "two repositories equally near": [broken("shop/apx:1"), other("a", "shop/app:1"), other("b", "shop/api:1")],
    "other versions are no slips": [broken("shop/app:1.3"), other("a", "shop/app:1.2"), other("b", "shop/app:1.4")],
    "another application": [broken("shop/app:1.0x"), other("a", "shop/db:1.0")],
    "a neighbour with the same mistake": [broken("shop/app:1.0x"), app("a", box("a", "shop/app:1.0x"), state=PULL)],
    "an earlier revision that was never ready": [broken("shop/app:2", old=[(box(image="shop/app:77"), 0)])],
}


@pytest.mark.parametrize("parts", NO_REPAIR.values(), ids=NO_REPAIR)
def test_doubt_is_said_and_not_repaired(parts: list[App]) -> None:
    finding = only(found(*parts), "ImageNotPullable")
    assert finding.repair is None
    assert finding.missing


def test_what_the_cluster_runs_is_surer_than_what_an_annotation_says() -> None:
    proven = only(found(broken("shop/app:1.0x"), other("cart", "shop/app:1.0")), "ImageNotPullable")
    named = only(found(broken("shop/app:9", annotations={"note": "use shop/app:2.1"})), "ImageNotPullable")
    assert (proven.confidence, named.confidence) == (Confidence.HIGH, Confidence.MEDIUM)


def test_pods_of_an_earlier_revision_that_stand_in_do_not_hide_a_failed_update() -> None:
    update = app("web", box(image="shop/app:2.0"), state=PULL, replicas=1, old=[(box(image="shop/app:1.0"), 1)])
    assert values(only(found(update), "ImageNotPullable")) == ["shop/app:1.0"]


def test_a_log_that_names_an_image_is_no_evidence() -> None:
    talking = app("cart", box("cart", "shop/db:1"), state=waiting("ErrImagePull"))
    logged = App(talking.objects, {"cart-9-a/cart": "pull shop/app:1.0y instead"})
    finding = next(f for f in found(broken("shop/app:1.0x"), logged) if f.ref.name == "web")
    assert finding.candidates == ()


@pytest.mark.parametrize(
    ("image", "repository", "tag"),
    [
        ("app", "app", "latest"),
        ("docker.io/library/nginx:1.27", "nginx", "1.27"),
        ("registry:5000/team/app", "registry:5000/team/app", "latest"),
        ("registry:5000/team/app:2", "registry:5000/team/app", "2"),
    ],
)
def test_an_image_name_has_two_parts(image: str, repository: str, tag: str) -> None:
    assert ImageName.parse(image) == ImageName(repository, tag)
