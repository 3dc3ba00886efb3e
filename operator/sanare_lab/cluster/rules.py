"""CEL rules of custom resources (x-kubernetes-validations), transition rules with oldSelf included."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import cel

from sanare_lab.cluster import schemas
from sanare_lab.cluster.errors import Cause
from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.schemas import Schema

_RULES = "x-kubernetes-validations"


@lru_cache(maxsize=512)
def _program(rule: str) -> cel.Program:
    return cel.compile(rule)


def has_rules(schema: Schema) -> bool:
    """Whether any rule stands anywhere in a schema."""
    if schema.get(_RULES):
        return True
    parts = [*(schema.get("properties") or {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return any(has_rules(part) for part in parts if isinstance(part, dict))


def check_rules(schema: Schema, value: Any, old: Any, path: str = "") -> Iterator[Cause]:
    """What the rules refuse. A rule that names oldSelf is checked only where there was a value before."""
    schema = schemas.resolve(schema)
    for rule in schema.get(_RULES) or ():
        if "oldSelf" not in rule["rule"] or old is not None:
            yield from _check(rule, value, old, path)
    if isinstance(value, dict):
        for name, item in value.items():
            part = schemas.field(schema, name)
            if part is not None and has_rules(part):
                before = old.get(name) if isinstance(old, dict) else None
                yield from check_rules(part, item, before, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        part = schemas.items(schema)
        if has_rules(part):
            for index, item in enumerate(value):
                yield from check_rules(part, item, _counterpart(schema, item, old), f"{path}[{index}]")


def _counterpart(schema: Schema, item: Any, old: Any) -> Any:
    """The item of the old list with the same keys; items of other lists have none."""
    keys = schemas.list_keys(schema)
    if not keys or not isinstance(old, list) or not isinstance(item, dict):
        return None
    return next((o for o in old if all(o.get(key) == item.get(key) for key in keys)), None)


def _check(rule: Obj, value: Any, old: Any, path: str) -> Iterator[Cause]:
    variables = {"self": value} if old is None else {"self": value, "oldSelf": old}
    try:
        holds = _program(rule["rule"]).execute(variables)
    except Exception as error:  # the library raises many kinds; each means that the rule did not evaluate
        yield Cause(path, f"Invalid value: {_shown(value)}rule evaluation error: {error}")
        return
    if holds is not True:
        yield Cause(
            path + rule.get("fieldPath", ""),
            f"Invalid value: {_shown(value)}{_message(rule, variables)}",
            str(rule.get("reason") or "FieldValueInvalid"),
        )


def _message(rule: Obj, variables: Obj) -> str:
    if rule.get("messageExpression"):
        try:
            return str(_program(rule["messageExpression"]).execute(variables))
        except Exception:  # noqa: S110 - as on the real server, the plain message takes over
            pass
    return str(rule.get("message") or f"failed rule: {rule['rule']}")


def _shown(value: Any) -> str:
    """Scalars are shown, objects and lists are not."""
    return "" if isinstance(value, dict | list) else f"{json.dumps(value)}: "
