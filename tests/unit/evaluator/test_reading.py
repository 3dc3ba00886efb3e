"""Reading answers of the API server's proxy, quantities, images, and the size of a baseline."""

from __future__ import annotations

import json

import pytest

from sanare.evaluator.baseline import LIMIT, Baseline
from sanare.evaluator.images import image_tag, repository
from sanare.evaluator.quantities import quantity
from sanare.evaluator.reach import address, read_answer
from sanare.evaluator.rules.spelling import is_misspelling
from sanare.evaluator.snapshot import Probe
from sanare.kube.client import RawAnswer
from tests.unit.evaluator.namespace import Namespace, baseline_of, config_map, incident, shop, workload


def status(code: int, reason: str, message: str) -> RawAnswer:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason}
    return RawAnswer(code, json.dumps({**body, "code": code}).encode(), "application/json")


TROUBLE = "error trying to reach service: "

# Status objects as API servers of 1.34 and 1.37 word them.
ANSWERS: list[tuple[str, RawAnswer, bool, bool, str]] = [
    ("ok", RawAnswer(200, b"ok", "text/plain"), True, True, ""),
    ("the backend's own 503", RawAnswer(503, b"<h1>down</h1>", "text/html"), True, True, ""),
    ("the backend's own 403", RawAnswer(403, b"no", "text/plain"), True, True, ""),
    ("a backend that speaks JSON", RawAnswer(404, b'{"kind": "Pet"}', "application/json"), True, True, ""),
    (
        "refused",
        status(503, "ServiceUnavailable", TROUBLE + "dial tcp 10.0.0.1:8000: connect: connection refused"),
        True,
        False,
        "connection refused",
    ),
    (
        "no endpoints",
        status(503, "ServiceUnavailable", 'no endpoints available for service "web"'),
        True,
        False,
        "no endpoints",
    ),
    (
        "silence",
        status(503, "ServiceUnavailable", TROUBLE + "dial tcp 10.0.0.1:80: i/o timeout"),
        True,
        False,
        "timeout",
    ),
    (
        "not HTTP",
        status(503, "ServiceUnavailable", TROUBLE + 'malformed HTTP response "hi"'),
        True,
        True,
        "",
    ),
    ("closed at once", status(503, "ServiceUnavailable", TROUBLE + "EOF"), True, True, ""),
    ("no Service", status(404, "NotFound", 'services "web" not found'), True, False, "not found"),
    (
        "no port",
        status(503, "ServiceUnavailable", 'no service port 99 found for service "web"'),
        True,
        False,
        "no such port",
    ),
    (
        "not allowed",
        status(403, "Forbidden", 'services "web:80" is forbidden: User "x" cannot get resource "services/proxy"'),
        False,
        False,
        'services "web:80" is forbidden: User "x" cannot get resource "services/proxy"',
    ),
    ("overloaded", status(429, "TooManyRequests", "slow down"), False, False, "slow down"),
    ("new wording", status(503, "ServiceUnavailable", "something else"), False, False, "something else"),
]


@pytest.mark.parametrize(
    ("raw", "known", "reached", "failure"), [case[1:] for case in ANSWERS], ids=[case[0] for case in ANSWERS]
)
def test_an_answer_tells_down_from_not_looked(raw: RawAnswer, known: bool, reached: bool, failure: str) -> None:
    answer = read_answer(raw)
    assert (answer.known, answer.reached, answer.failure) == (known, reached, failure)


def test_the_path_of_a_probe_goes_through_the_proxy() -> None:
    assert address("shop", Probe("Service", "web", "http", "/ready?full=1")) == (
        "/api/v1/namespaces/shop/services/web:http/proxy/ready",
        {"full": ("1",)},
    )
    said = address("shop", Probe("Service", "web", "http", "/ready?verbose&exclude=a&exclude=b"))[1]
    assert said == {"verbose": ("",), "exclude": ("a", "b")}
    assert address("shop", Probe("Pod", "web-1", "8080"))[0] == "/api/v1/namespaces/shop/pods/web-1:8080/proxy/"


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("128Mi", 128 * 1024**2),
        ("1Gi", 1024**3),
        ("1.5Ki", 1536),
        ("500m", 0.5),
        ("2", 2),
        ("2.", 2),
        (".5", 0.5),
        ("1e3", 1000),
        ("1k", 1000),
        ("x", None),
        ("", None),
        (".", None),
        ("1.2.3", None),
        ("1\n", None),
    ],
)
def test_quantities_are_numbers(written: str, number: float | None) -> None:
    assert quantity(written) == number


@pytest.mark.parametrize(
    ("image", "name", "tag"),
    [
        ("nginx", "nginx", "latest"),
        ("nginx:1.27", "nginx", "1.27"),
        ("shop.local:5000/a/app:1", "shop.local:5000/a/app", "1"),
        ("shop.local:5000/app", "shop.local:5000/app", "latest"),
        ("app@sha256:ab", "app", "sha256:ab"),
    ],
)
def test_images_are_repository_and_pin(image: str, name: str, tag: str) -> None:
    assert (repository(image), image_tag(image)) == (name, tag)


@pytest.mark.parametrize(
    ("one", "other", "slip"),
    [
        ("ngnix", "nginx", True),
        ("shop.local/ap", "shop.local/app", True),
        ("shop.loca/app", "shop.local/app", True),
        ("shop.local/app", "shop.local/httpd", False),
        ("shop.local/app", "other.test/app", False),
        ("app", "team/app", False),
    ],
)
def test_a_slip_of_the_pen_is_told_from_another_image(one: str, other: str, slip: bool) -> None:
    assert is_misspelling(one, other) is slip


def crowded(size: int) -> Namespace:
    namespace = shop()
    for number in range(size):
        namespace.add(*workload(f"neighbour-of-some-length-{number}"), config_map(f"config-map-{number}"))
    return namespace


@pytest.mark.parametrize("size", [1, 300])
def test_a_baseline_stays_small_and_says_what_it_left_out(size: int) -> None:
    taken = baseline_of(crowded(size))
    assert len(json.dumps(taken.wire()).encode()) <= LIMIT
    assert bool(taken.omitted) is (size > 100)
    assert taken.facts.workload("Deployment/web") is not None


def test_a_baseline_survives_the_wire() -> None:
    taken = baseline_of(shop(livenessProbe={"tcpSocket": {"port": 8080}}), incident("Service/web"))
    assert Baseline.parse(json.loads(json.dumps(taken.wire()))) == taken


def test_a_baseline_keeps_no_values_of_variables() -> None:
    taken = baseline_of(shop(env=[{"name": "PASSWORD", "value": "hunter2"}]))
    assert "hunter2" not in json.dumps(taken.wire())
    assert "PASSWORD" in json.dumps(taken.wire())
