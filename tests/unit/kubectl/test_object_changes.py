"""What differs between two states of an object, and putting it back."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanare.api.manifest import Ref
from sanare.kubectl.diff import changes, normalise, render_diff, summarise
from sanare.kubectl.journal import MutationRecord, fitted
from sanare.kubectl.plan import PlannedCommand, plan_digest, proposed_action
from sanare.kubectl.tool import Command
from sanare.kubectl.undo import restored

SERVICE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": "1", "managedFields": []},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8000}]},
    "status": {"loadBalancer": {}},
}


def with_port(port: int) -> dict[str, Any]:
    changed = copy.deepcopy(SERVICE)
    changed["spec"]["ports"][0]["targetPort"] = port
    changed["metadata"]["resourceVersion"] = "2"
    changed["status"] = {"loadBalancer": {"ingress": []}}
    return changed


def test_only_what_people_write_counts_as_a_change() -> None:
    assert [str(c) for c in changes(SERVICE, with_port(8765))] == ["spec.ports[0].targetPort: 8000 -> 8765"]


def test_elements_with_names_are_matched_by_name() -> None:
    def pod(*containers: tuple[str, str]) -> dict[str, Any]:
        return {"spec": {"containers": [{"name": n, "image": i} for n, i in containers]}}

    found = changes(pod(("a", "1"), ("b", "1")), pod(("b", "2"), ("c", "1"), ("a", "1")))
    assert [c.path for c in found] == ["spec.containers[b].image", "spec.containers[c]"]


def test_a_summary_is_one_bounded_line() -> None:
    assert summarise(SERVICE, with_port(1)) == "spec.ports[0].targetPort: 8000 -> 1"
    assert summarise(None, SERVICE) == "created"
    assert summarise(SERVICE, None) == "deleted"
    assert summarise(SERVICE, SERVICE) == "no change"
    many = {"data": {f"k{n}": "v" * 200 for n in range(9)}}
    assert len(summarise({"data": {}}, many).encode()) <= 300


def test_a_diff_shows_lines_around_the_change_and_no_secret() -> None:
    told = render_diff(SERVICE, with_port(8765))
    assert "-    targetPort: 8000\n+    targetPort: 8765" in told
    assert "--- Service/web (before)" in told
    secret = {"kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "aHVudGVyMg=="}}
    assert "aHVudGVyMg" not in render_diff(None, secret)
    assert render_diff(SERVICE, SERVICE) == ""


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "b"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "y", "name"]), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.fixed_dictionaries({"metadata": st.just({"name": "a"}), "spec": VALUES})


@given(before=OBJECTS, after=OBJECTS)
def test_putting_every_change_back_gives_the_object_before(before: dict[str, Any], after: dict[str, Any]) -> None:
    back = normalise(restored(after, changes(before, after)))
    assert not changes(before, back)


def record(**fields: Any) -> MutationRecord:
    base: dict[str, Any] = {
        "seq": 1,
        "at": datetime(2026, 11, 30, tzinfo=UTC),
        "verb": "patch",
        "ref": Ref("Service", "shop", "web", "v1", "u1"),
        "method": "PATCH",
        "path": "/api/v1/namespaces/shop/services/web",
        "before": SERVICE,
        "after": with_port(8765),
        "status": 200,
    }
    return MutationRecord(**base | fields)


def test_a_record_survives_being_kept_as_json() -> None:
    one = record(query={"fieldManager": "x"}, body={"spec": {}})
    assert MutationRecord.parse(one.wire()) == one


LARGE = "x" * 5_000


@pytest.mark.parametrize(
    ("fields", "undoable"),
    [
        ({}, True),
        ({"before": {**SERVICE, "status": {"x": LARGE}}}, True),
        ({"body": {"x": LARGE}}, True),
        ({"before": None, "after": {"metadata": {"uid": "u1"}, "data": {"x": LARGE}}}, True),
        ({"before": {**SERVICE, "data": {"x": LARGE}}}, False),
        ({"verb": "delete", "after": None, "before": {**SERVICE, "data": {"x": "ä" * 2_500}}}, False),
    ],
    ids=["small", "status", "body", "created", "changed", "deleted, in bytes"],
)
def test_a_record_is_fitted_to_a_bound_and_marked_where_its_states_had_to_go(
    fields: dict[str, Any], undoable: bool
) -> None:
    one = record(**fields)
    kept = fitted(one, 2_000)
    assert len(json.dumps(kept.wire(), ensure_ascii=False).encode()) <= 2_000
    assert kept.truncated is not undoable
    assert changes(kept.before, kept.after) == (changes(one.before, one.after) if undoable else ())
    assert MutationRecord.parse(kept.wire()) == kept


def test_a_created_object_keeps_the_uid_that_removing_it_needs() -> None:
    made = record(before=None, after={"metadata": {"uid": "u1"}, "data": {"x": LARGE}})
    assert fitted(made, 2_000).after == {"metadata": {"uid": "u1"}}


def test_a_mutation_tells_object_and_change() -> None:
    told = record().mutation()
    assert (told.verb, told.object, told.summary) == (
        "patch",
        "Service/web",
        "spec.ports[0].targetPort: 8000 -> 8765",
    )
    assert "403" in record(status=403).mutation().summary


def test_replicas_are_told_as_a_number_where_a_scale_leaves_out_nought() -> None:
    scale = {"kind": "Scale", "spec": {"replicas": 1}, "status": {"replicas": 1}}
    told = record(subresource="scale", before=scale, after={**scale, "spec": {}}).mutation()
    assert told.summary == "spec.replicas: 1 -> 0"
    assert record(subresource="scale", before=scale, after=None, status=403).mutation().summary.endswith("403")


def digest(*records: MutationRecord, argv: tuple[str, ...] = ("patch",)) -> str:
    return plan_digest([PlannedCommand(Command(argv), records)], attempt=1)


def test_a_plan_is_another_when_command_object_or_effect_is_another() -> None:
    base = digest(record())
    other = Ref("Service", "shop", "web", "v1", "u2")
    assert base == digest(record(at=datetime(2027, 1, 1, tzinfo=UTC), seq=9))
    assert len({base, digest(record(), argv=("x",)), digest(record(ref=other)), digest(record(after=SERVICE))}) == 4


def test_the_moment_of_a_restart_is_no_part_of_a_plan() -> None:
    def restarted(moment: str) -> dict[str, Any]:
        return {**SERVICE, "metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": moment}}}

    assert digest(record(after=restarted("10:00"))) == digest(record(after=restarted("11:00")))


def test_a_new_object_is_shown_as_it_was_asked_for() -> None:
    made = record(verb="create", before=None, body={"kind": "ConfigMap", "data": {"a": "b"}}, after={"x": "random"})
    action = proposed_action(PlannedCommand(Command(("create",)), (made,)))
    assert "a: b" in action.diff
    assert "random" not in action.diff
