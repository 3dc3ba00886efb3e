"""CEL in a process of its own: what it says, and that no expression costs more than that process."""

from __future__ import annotations

from typing import Any

import pytest

from sanare.api.checks import CelCheck
from sanare.evaluator.declared.expression import Value, evaluate, fault
from sanare.evaluator.declared.reply import Reply
from sanare.evaluator.kinds import Kind

WEB: dict[str, Any] = {
    "metadata": {"labels": {"app.kubernetes.io/name": "web"}},
    "spec": {"replicas": 2},
    "status": {"conditions": [{"type": "Available", "status": "True"}]},
}
HOLDS: list[tuple[str, str, bool]] = [
    ("numbers", "web.spec.replicas >= 2", True),
    ("text", "web.metadata.labels['app.kubernetes.io/name'] == 'api'", False),
    ("a macro", "web.status.conditions.exists(c, c.type == 'Available' && c.status == 'True')", True),
    ("an absent field", "!has(web.spec.paused) || !web.spec.paused", True),
    ("a pattern", "'v17'.matches('^v[0-9]+$')", True),
]


@pytest.mark.parametrize(("expression", "holds"), [case[1:] for case in HOLDS], ids=[case[0] for case in HOLDS])
async def test_an_expression_is_true_or_false(expression: str, holds: bool) -> None:
    assert await evaluate(expression, {"web": WEB}) == Value(holds)


_LIST = "[" + ",".join("0" * 100) + "]"
OPEN: list[tuple[str, str, Kind, str]] = [
    ("a missing field", "web.spec.paused", Kind.EMPTY, "ask has"),
    ("a missing item", "web.status.conditions[7].status == 'True'", Kind.EMPTY, "ask has"),
    ("an unknown name", "api.spec.replicas > 0", Kind.UNKNOWN, "Undefined"),
    ("another type", "web.spec.replicas", Kind.UNKNOWN, "a int, not a boolean"),
    ("types that do not compare", "web.spec.replicas + 'a' == 'b'", Kind.UNKNOWN, ""),
    (
        "an explosion",
        "L.all(a, L.all(b, L.all(c, L.all(d, L.all(e, a + b + c + d + e == 0)))))".replace("L", _LIST),
        Kind.UNKNOWN,
        "too much time, memory or depth",
    ),
    ("a bomb of text", "L.map(a, L.map(b, L.map(c, web))).size() > 0".replace("L", _LIST), Kind.UNKNOWN, "memory"),
    ("depth", "(" * 1000 + "true" + ")" * 1000, Kind.UNKNOWN, ""),
]


@pytest.mark.parametrize(
    ("expression", "kind", "says"), [case[1:] for case in OPEN], ids=[case[0] for case in OPEN]
)
async def test_an_expression_that_comes_to_nothing_leaves_it_open(expression: str, kind: Kind, says: str) -> None:
    found = await evaluate(expression, {"web": WEB})
    assert isinstance(found, Reply)
    assert found.unknown is kind
    assert says in found.failure


FAULTS: list[tuple[str, str, str]] = [
    ("usable", "web.status.conditions.all(c, c.status == 'True')", ""),
    ("nested macros", "web.a.all(x, web.b.exists(y, x == y))", ""),
    ("no syntax", "web.spec.replicas >", "Syntax error"),
    ("no object", "api.spec.replicas > 0", "api: no object is read as that"),
    ("a type", "type(web.spec) == map && web.a.existsOne(x, x == 1)", ""),
    (
        "functions in every form",
        "size(web.a) > 1 && web.b.startsWith('x') && timestamp(web.c).getHours() > 1 && int('1') in [1, -1]",
        "",
    ),
    ("no function", "quantity(web.spec.memory) > 1", "quantity: there is no such function"),
    ("no such method", "web.metadata.name.lowerAscii() == 'web'", "lowerAscii: there is no such function"),
]


@pytest.mark.parametrize(("expression", "says"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS])
async def test_what_is_wrong_with_an_expression_is_said_before_anything_is_read(expression: str, says: str) -> None:
    objects = [{"as": "web", "kind": "Deployment", "name": "web"}]
    found = await fault(CelCheck.parse({"expression": expression, "objects": objects}))
    assert (says in found) if says else (found == "")
