"""The gate over HTTP, before a strict stand-in for the API server: who may, what is judged, what is kept."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

sys.path.insert(0, str(Path(__file__).parent))
from strict_api import StrictApi, serving

from sanare.api.policy import Guard
from sanare.errors import Refused
from sanare.kube.client import RawAnswer
from sanare.kubectl.gate import Gate, Grant
from sanare.kubectl.journal import MemoryJournal, MutationRecord, fitted
from sanare.kubectl.request import ApiRequest, read_request
from sanare.kubectl.session import Session
from sanare.kubectl.undo import undo
from sanare.telemetry import REGISTRY

CORE = "/api/v1/namespaces/shop"
DEPLOYMENT = "/apis/apps/v1/namespaces/shop/deployments/web"
MERGE = {"Content-Type": "application/merge-patch+json"}
JSON_PATCH = {"Content-Type": "application/json-patch+json"}


def stored(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    version = "apps/v1" if kind == "Deployment" else "v1"
    metadata = {"name": name, "namespace": "shop", "uid": f"u-{name}", "resourceVersion": "1"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


OBJECTS = {
    DEPLOYMENT: stored("Deployment", "web", spec={"replicas": 2, "template": {"spec": {"containers": []}}}),
    f"{DEPLOYMENT}/scale": stored("Scale", "web", spec={"replicas": 2}),
    f"{CORE}/services/web": stored("Service", "web", spec={"ports": [{"port": 80, "targetPort": 8000}]}),
    f"{CORE}/pods/web-1": stored("Pod", "web-1", spec={"containers": []}),
    f"{CORE}/configmaps/conf": stored("ConfigMap", "conf", data={"a": "b"}),
    f"{CORE}/configmaps/*": {},
    f"{CORE}/pods/*": {},
    f"{CORE}/secrets/db": stored("Secret", "db", type="Opaque", data={"password": "aHVudGVyMg=="}),
}


@dataclass(frozen=True)
class Settings:
    gate_listen: tuple[str, int] = ("127.0.0.1", 0)


@dataclass
class Desk:
    """What a test holds: the stand-in, the journal, and HTTP with the attempt's token."""

    api: StrictApi
    journal: MemoryJournal
    url: str
    http: aiohttp.ClientSession
    client: Any = None
    answers: list[str] = field(default_factory=list)

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, Any]]:
        data = None if body is None else json.dumps(body)
        told = {"Content-Type": "application/json"} | headers if data else headers
        async with self.http.request(method, f"{self.url}{path}", data=data, headers=told) as answer:
            return answer.status, json.loads(await answer.read())

    async def patch(self, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        return await self.send("PATCH", path, body, **(JSON_PATCH if isinstance(body, list) else MERGE))


def rule_of(answer: dict[str, Any]) -> str:
    cause: str = answer["details"]["causes"][0]["reason"]
    return cause


@asynccontextmanager
async def desk(journal: MemoryJournal | None = None, **grant: Any) -> AsyncIterator[Desk]:
    api, kept = StrictApi(OBJECTS), journal or MemoryJournal()
    rights = {"guard": Guard(max_mutations=5, max_deletes=1)} | grant
    async with serving(api) as client, aiohttp.ClientSession() as http:
        gate = Gate(client, Settings())
        await gate.start()
        try:
            async with gate.attempt(Grant("shop", "ops", **rights), kept, kubectl_path="/nonexistent") as kubectl:
                yield Desk(api, kept, kubectl.server, http, client)
        finally:
            await gate.stop()


async def test_an_unknown_token_is_unauthorised_and_nothing_is_asked() -> None:
    async with desk() as d:
        base = d.url.rpartition("/")[0]
        async with d.http.get(f"{base}/wrong/api/v1/namespaces/shop/pods") as answer:
            assert answer.status == 401
        assert d.api.seen == []


async def test_a_token_dies_with_its_attempt() -> None:
    async with serving(StrictApi(OBJECTS)) as client, aiohttp.ClientSession() as http:
        gate = Gate(client, Settings())
        await gate.start()
        async with gate.attempt(Grant("shop", "ops", Guard()), MemoryJournal(), kubectl_path="x") as kubectl:
            url, home = kubectl.server, kubectl.home
            async with http.get(f"{url}{CORE}/pods/web-1") as answer:
                assert answer.status == 200
            assert home.exists()
        async with http.get(f"{url}{CORE}/pods/web-1") as answer:
            assert answer.status == 401
        assert not home.exists()
        await gate.stop()


async def test_a_mutation_is_tried_dry_judged_intended_sent_and_recorded_in_that_order() -> None:
    async with desk() as d:
        order: list[str] = []

        async def note(http: web.Request, body: Any) -> None:
            order.append(f"write after {len(d.journal.intended)} intent, {len(d.journal.records)} record")

        d.api.before_write = note
        status, _ = await d.patch(DEPLOYMENT, {"spec": {"replicas": 3}})
        assert status == 200
        assert d.api.writes == [("PATCH", DEPLOYMENT, True), ("PATCH", DEPLOYMENT, False)]
        assert order == ["write after 1 intent, 0 record"]
        (record,) = d.journal.records
        assert (record.status, record.ref.uid, record.mutation().summary) == (200, "u-web", "spec.replicas: 2 -> 3")


async def test_what_a_patch_would_cause_is_judged_not_how_it_is_written() -> None:
    async with desk() as d:
        trick = [{"op": "replace", "path": "/spec/template", "value": {"spec": {"hostPID": True}}}]
        status, answer = await d.patch(DEPLOYMENT, trick)
        assert (status, rule_of(answer)) == (403, "HostAccess")
        assert all(dry for _, _, dry in d.api.writes)
        assert d.journal.intended == []


def reading_secret(name: str, key: str) -> dict[str, Any]:
    env = [{"name": "P", "valueFrom": {"secretKeyRef": {"name": name, "key": key}}}]
    return {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "a", "env": env}]}}}}


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        (("db-credental", "password"), ("db-credential", "password"), ""),
        (("db-credentials", "pasword"), ("db-credentials", "password"), ""),
        (("db-credentials", "password"), ("db-credential", "password"), "SecretReference"),
        (("db-credentials", "password"), ("db-credentials", "passwords"), "SecretReference"),
    ],
    ids=["no such Secret", "no such key", "the Secret is there", "the key is there"],
)
async def test_a_reference_is_corrected_only_where_it_leads_nowhere(
    old: tuple[str, str], new: tuple[str, str], rule: str
) -> None:
    async with desk() as d:
        d.api.objects[f"{CORE}/secrets/db-credentials"] = stored("Secret", "db-credentials", data={"password": ""})
        d.api.objects[DEPLOYMENT].update(reading_secret(*old))
        status, answer = await d.patch(DEPLOYMENT, reading_secret(*new))
        assert (status, rule_of(answer) if rule else "") == (403 if rule else 200, rule)


async def test_a_refusal_is_a_status_that_a_model_can_read() -> None:
    async with desk() as d:
        status, answer = await d.send("GET", "/api/v1/namespaces/kube-system/pods")
        assert (status, answer["kind"], answer["reason"]) == (403, "Status", "Forbidden")
        assert answer["message"] == "[Namespace] namespace kube-system is out of scope; use shop"
        assert d.api.seen == []


async def test_secrets_are_answered_without_their_values() -> None:
    async with desk() as d:
        status, answer = await d.send("GET", f"{CORE}/secrets/db")
        assert status == 200
        assert list(answer["data"]) == ["password"]
        assert "aHVudGVyMg" not in json.dumps(answer)


async def test_an_object_that_changed_meanwhile_is_judged_again_and_kubectl_sees_no_conflict() -> None:
    async with desk() as d:
        touched = iter([True])

        async def controller(http: web.Request, body: Any) -> None:
            if next(touched, False):
                d.api.touch(DEPLOYMENT)

        d.api.before_write = controller
        status, _ = await d.patch(DEPLOYMENT, {"spec": {"replicas": 3}})
        assert status == 200
        assert [record.status for record in d.journal.records] == [409, 200]


async def test_a_conflict_of_kubectls_own_making_is_passed_on() -> None:
    async with desk() as d:
        stale = stored("ConfigMap", "conf", data={"a": "c"})
        stale["metadata"]["resourceVersion"] = "0"
        status, answer = await d.send("PUT", f"{CORE}/configmaps/conf", stale)
        assert (status, answer["reason"]) == (409, "Conflict")
        assert d.journal.intended == []


async def test_nothing_is_sent_when_the_intent_cannot_be_kept() -> None:
    class Broken(MemoryJournal):
        async def intend(self, record: MutationRecord) -> None:
            raise ConnectionError("no store")

    async with desk(Broken()) as d:
        async with d.http.patch(f"{d.url}{DEPLOYMENT}", data='{"spec":{"replicas":3}}', headers=MERGE) as answer:
            assert answer.status == 500
        assert all(dry for _, _, dry in d.api.writes)


async def test_a_dry_run_grant_keeps_nothing_and_records_what_would_be() -> None:
    async with desk(dry_run=True) as d:
        assert (await d.patch(DEPLOYMENT, {"spec": {"replicas": 0}}))[0] == 200
        assert (await d.send("DELETE", f"{CORE}/configmaps/conf", {"propagationPolicy": "Background"}))[0] == 200
        assert all(dry for _, _, dry in d.api.writes)
        assert f"{CORE}/configmaps/conf" in d.api.objects
        assert [r.mutation().summary for r in d.journal.records] == ["spec.replicas: 2 -> 0", "deleted"]
        assert all(r.dry_run for r in d.journal.records)


async def test_what_needs_a_person_passes_only_with_an_approved_grant() -> None:
    async with desk() as d:
        status, answer = await d.send("DELETE", f"{CORE}/configmaps/conf", {})
        assert (status, rule_of(answer)) == (403, "NeedsApproval.Delete")
        assert (
            rule_of((await d.patch(f"{DEPLOYMENT}/scale", {"spec": {"replicas": 0}}))[1])
            == "NeedsApproval.Replicas"
        )
    async with desk(approved=True) as d:
        assert (await d.send("DELETE", f"{CORE}/configmaps/conf", {}))[0] == 200
        assert f"{CORE}/configmaps/conf" not in d.api.objects


async def test_a_deletion_is_of_the_object_that_was_judged() -> None:
    async with desk() as d:

        async def replaced(http: web.Request, body: Any) -> None:
            d.api.objects[f"{CORE}/pods/web-1"]["metadata"]["uid"] = "another"

        d.api.before_write = replaced
        status, _ = await d.send("DELETE", f"{CORE}/pods/web-1", {})
        assert status == 409
        assert f"{CORE}/pods/web-1" in d.api.objects


async def test_recreating_what_the_attempt_deleted_is_a_change_of_it_and_a_new_pod_is_not() -> None:
    async with desk(guard=Guard(max_deletes=2)) as d:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1"}, "spec": {"containers": []}}
        fresh = {**pod, "metadata": {"name": "other"}}
        assert rule_of((await d.send("POST", f"{CORE}/pods", fresh))[1]) == "NeedsApproval.NewWorkload"
        assert (await d.send("DELETE", f"{CORE}/pods/web-1", {}))[0] == 200
        assert (await d.send("POST", f"{CORE}/pods", pod))[0] == 201


async def test_mutations_and_deletions_have_a_limit() -> None:
    async with desk(guard=Guard(max_mutations=1, max_deletes=0)) as d:
        assert rule_of((await d.send("DELETE", f"{CORE}/pods/web-1", {}))[1]) == "DeleteLimit"
        assert (await d.patch(DEPLOYMENT, {"spec": {"replicas": 3}}))[0] == 200
        assert rule_of((await d.patch(DEPLOYMENT, {"spec": {"replicas": 4}}))[1]) == "MutationLimit"


async def test_requests_are_sent_in_the_name_that_the_grant_gives() -> None:
    async with desk(impersonate="system:serviceaccount:ops:agent") as d:
        await d.send("GET", f"{CORE}/pods/web-1")
        await d.patch(DEPLOYMENT, {"spec": {"replicas": 3}})
        assert {headers.get("Impersonate-User") for _, _, headers in d.api.seen} == {
            "system:serviceaccount:ops:agent"
        }


async def test_no_header_of_the_caller_reaches_the_api_server() -> None:
    async with desk() as d:
        await d.send("GET", f"{CORE}/pods/web-1", **{"Impersonate-User": "admin", "Authorization": "Bearer x"})
        (_, _, headers) = d.api.seen[0]
        assert "Impersonate-User" not in headers
        assert "Authorization" not in headers


@pytest.mark.parametrize(
    "headers", [{"Upgrade": "websocket"}, {"Content-Encoding": "gzip"}], ids=lambda h: next(iter(h))
)
async def test_connections_are_not_upgraded_and_bodies_not_encoded(headers: dict[str, str]) -> None:
    async with desk() as d:
        async with d.http.get(f"{d.url}{CORE}/pods/web-1", headers=headers) as answer:
            assert answer.status in (400, 403)
        assert d.api.seen == []


async def test_only_json_is_asked_for() -> None:
    async with desk() as d:
        accept = "application/vnd.kubernetes.protobuf,application/json;as=Table;v=v1;g=meta.k8s.io,application/cbor"
        await d.send("GET", f"{CORE}/pods/web-1", Accept=accept)
        assert d.api.seen[0][2]["Accept"] == "application/json;as=Table;v=v1;g=meta.k8s.io"


async def test_a_mutation_goes_on_when_its_client_leaves() -> None:
    async with desk() as d:
        arrived, leave = asyncio.Event(), asyncio.Event()

        async def slow(http: web.Request, body: Any) -> None:
            arrived.set()
            await leave.wait()

        d.api.before_write = slow
        call = asyncio.create_task(d.patch(DEPLOYMENT, {"spec": {"replicas": 3}}))
        await arrived.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        leave.set()
    assert [record.status for record in d.journal.records] == [200]


def replicas(count: int) -> ApiRequest:
    body = json.dumps({"spec": {"replicas": count}}).encode()
    return read_request("PATCH", DEPLOYMENT, "", content_type=MERGE["Content-Type"], body=body)


@asynccontextmanager
async def two_at_once(guard: Guard) -> AsyncIterator[tuple[Session, asyncio.Event, list[asyncio.Task[RawAnswer]]]]:
    """A session whose first mutation is held at the API server and whose second waits for it."""
    api, arrived, leave = StrictApi(OBJECTS), asyncio.Event(), asyncio.Event()

    async def slow(http: web.Request, body: Any) -> None:
        arrived.set()
        await leave.wait()

    api.before_write = slow
    async with serving(api) as client:
        session = Session(client, Grant("shop", "ops", guard), MemoryJournal(), lambda: datetime.now(UTC))
        first = session.track(session.mutate(replicas(3)))
        await arrived.wait()
        second = session.track(session.mutate(replicas(4)))
        await asyncio.sleep(0)
        yield session, leave, [first, second]


async def test_what_still_waits_when_the_attempt_ends_is_not_sent() -> None:
    async with two_at_once(Guard()) as (session, leave, (first, second)):
        session.close()
        leave.set()
        assert (await first).status == 200
        with pytest.raises(Refused, match="has ended"):
            await second
        assert [record.status for record in session.records] == [200]


async def test_limits_hold_for_mutations_that_wait_for_each_other() -> None:
    async with two_at_once(Guard(max_mutations=1)) as (_, leave, (first, second)):
        leave.set()
        assert (await first).status == 200
        with pytest.raises(Refused, match="maxMutations"):
            await second


async def test_an_attempt_that_ends_while_the_intent_is_kept_sends_nothing() -> None:
    class Ends(MemoryJournal):
        async def intend(self, record: MutationRecord) -> None:
            session.close()

    api = StrictApi(OBJECTS)
    async with serving(api) as client:
        session = Session(client, Grant("shop", "ops", Guard()), Ends(), lambda: datetime.now(UTC))
        with pytest.raises(Refused, match="has ended"):
            await session.mutate(replicas(3))
        assert [dry for _, _, dry in api.writes] == [True]


async def test_undo_puts_back_newest_first_and_proves_it() -> None:
    async with desk(approved=True) as d:
        before = json.loads(json.dumps(d.api.objects))
        await d.patch(DEPLOYMENT, {"spec": {"replicas": 3}, "metadata": {"labels": {"a": "b"}}})
        await d.patch(DEPLOYMENT, {"spec": {"replicas": 4}})
        await d.patch(f"{CORE}/services/web", [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 1}])
        await d.send(
            "POST", f"{CORE}/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n"}}
        )
        await d.send("DELETE", f"{CORE}/configmaps/conf", {})
        kept = MemoryJournal()
        report = await undo(d.client, d.journal.records, journal=kept)
        assert report.leftovers == ()
        assert len(kept.intended) == len(kept.records) == 5
        for path in (DEPLOYMENT, f"{CORE}/services/web", f"{CORE}/configmaps/conf"):
            for key in ("spec", "data"):
                assert d.api.objects[path].get(key) == before[path].get(key)
        assert f"{CORE}/configmaps/n" not in d.api.objects


async def test_undo_leaves_what_somebody_else_changed_since_and_says_so() -> None:
    async with desk() as d:
        await d.patch(DEPLOYMENT, {"spec": {"replicas": 3}})
        d.api.objects[DEPLOYMENT]["spec"]["replicas"] = 7
        report = await undo(d.client, d.journal.records)
        assert report.leftovers == ("Deployment/web: spec.replicas was changed since by someone else",)
        assert d.api.objects[DEPLOYMENT]["spec"]["replicas"] == 7


async def test_undo_names_what_cannot_come_back() -> None:
    async with desk() as d:
        await d.send("DELETE", f"{CORE}/pods/web-1", {})
        report = await undo(d.client, d.journal.records)
        assert report.undone == ()
        assert len(report.leftovers) == 1
        assert "Pod/web-1: was deleted" in report.leftovers[0]


async def test_undo_lists_what_was_too_large_to_keep_and_proves_the_object_whose_name_starts_alike() -> None:
    async with desk() as d:
        await d.patch(f"{CORE}/services/web", [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 1}])
        await d.patch(f"{CORE}/configmaps/conf", {"data": {"a": "x" * 3_000}})
        first, second = d.journal.records
        other = replace(fitted(second, 1_000), ref=replace(first.ref, name="web-2"))
        d.api.objects[f"{CORE}/services/web"]["metadata"]["labels"] = {"by": "someone"}
        report = await undo(d.client, [first, other])
        assert report.leftovers[0] == "Service/web-2: was too large to keep and is not put back"
        assert "Service/web: differs from before: metadata.labels" in report.leftovers[1]


async def test_undo_does_not_delete_a_successor_of_what_it_created() -> None:
    async with desk() as d:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n"}}
        await d.send("POST", f"{CORE}/configmaps", body)
        d.api.objects[f"{CORE}/configmaps/n"]["metadata"]["uid"] = "successor"
        report = await undo(d.client, d.journal.records)
        assert f"{CORE}/configmaps/n" in d.api.objects
        assert "replaced since" in report.leftovers[0]


async def test_decisions_are_counted_by_rule() -> None:
    def count(decision: str, rule: str) -> float:
        return REGISTRY.get_sample_value("sanare_gate_decisions_total", {"decision": decision, "rule": rule}) or 0

    allowed, refused = count("Allowed", ""), count("Refused", "Namespace")
    async with desk() as d:
        await d.send("GET", f"{CORE}/pods/web-1")
        await d.send("GET", "/api/v1/namespaces/kube-system/pods")
    assert (count("Allowed", "") - allowed, count("Refused", "Namespace") - refused) == (1, 1)
