"""What a reply to an HTTP or TCP check means, and what a pattern may cost."""

from __future__ import annotations

from typing import Any

import pytest

from sanare import errors
from sanare.api.checks import HttpCheck, TcpCheck
from sanare.evaluator.declared.asker import read_output
from sanare.evaluator.declared.jobs import Ended
from sanare.evaluator.declared.reply import Reply, judge_http, judge_tcp, matches, unanswered
from sanare.evaluator.kinds import Kind

HTTP: list[tuple[str, dict[str, Any], Reply, str, Kind | None, str]] = [
    ("answered", {}, Reply(200, b"ok"), "Passed", None, "is answered with 200"),
    ("another status", {}, Reply(503), "Failed", Kind.DECLARED, "is answered with 503, not 200"),
    ("a redirect that is wanted", {"status": 302}, Reply(302), "Passed", None, "302"),
    ("contains", {"contains": "ok"}, Reply(200, b"it is ok"), "Passed", None, "200"),
    ("contains not", {"contains": "ok"}, Reply(200, b"no"), "Failed", Kind.DECLARED, 'does not contain "ok"'),
    ("matches", {"matches": "^v[0-9]+$"}, Reply(200, b"v17"), "Passed", None, "200"),
    ("matches not", {"matches": "^v[0-9]+$"}, Reply(200, b"v"), "Failed", Kind.DECLARED, "does not match"),
    ("both asked, one met", {"contains": "v", "matches": "x"}, Reply(200, b"v"), "Failed", Kind.DECLARED, "match"),
    ("no text", {"contains": "ok"}, Reply(200, b"\xff\xfe"), "Failed", Kind.DECLARED, "does not contain"),
    ("refused", {}, Reply(failure="connection refused"), "Failed", Kind.DECLARED, "connection refused"),
    ("not HTTP", {}, Reply(), "Failed", Kind.DECLARED, "the answer is not HTTP"),
    ("Forbidden", {}, Reply(failure="no right", unknown=Kind.FORBIDDEN), "Unknown", Kind.FORBIDDEN, "no right"),
    ("Timeout", {}, Reply(failure="too long", unknown=Kind.TIMEOUT), "Unknown", Kind.TIMEOUT, "too long"),
    ("NotFound", {}, Reply(failure="gone", unknown=Kind.NOT_FOUND), "Unknown", Kind.NOT_FOUND, "gone"),
    ("Empty", {}, Reply(failure="nothing", unknown=Kind.EMPTY), "Unknown", Kind.EMPTY, "nothing"),
]


@pytest.mark.parametrize(
    ("check", "reply", "result", "kind", "says"), [case[1:] for case in HTTP], ids=[case[0] for case in HTTP]
)
def test_an_http_check_is_judged_by_its_reply(
    check: dict[str, Any], reply: Reply, result: str, kind: Kind | None, says: str
) -> None:
    seen = judge_http("declared/mine", HttpCheck.parse({"service": "web", **check}), reply)
    assert (seen.result, seen.kind, seen.object) == (result, kind, "Service/web")
    assert says in seen.message


TCP: list[tuple[str, Reply, str, Kind | None]] = [
    ("open", Reply(), "Passed", None),
    ("open and speaking HTTP", Reply(404), "Passed", None),
    ("refused", Reply(failure="connection refused"), "Failed", Kind.DECLARED),
    ("no endpoints", Reply(failure="no endpoints"), "Failed", Kind.DECLARED),
    ("Forbidden", Reply(failure="no right", unknown=Kind.FORBIDDEN), "Unknown", Kind.FORBIDDEN),
    ("Timeout", Reply(failure="silence", unknown=Kind.TIMEOUT), "Unknown", Kind.TIMEOUT),
    ("NotFound", Reply(failure="gone", unknown=Kind.NOT_FOUND), "Unknown", Kind.NOT_FOUND),
]


@pytest.mark.parametrize(("reply", "result", "kind"), [case[1:] for case in TCP], ids=[case[0] for case in TCP])
def test_a_tcp_check_asks_for_a_connection_and_no_more(reply: Reply, result: str, kind: Kind | None) -> None:
    seen = judge_tcp("declared/mine", TcpCheck.parse({"service": "db", "port": "5432"}), reply)
    assert (seen.result, seen.kind) == (result, kind)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        pytest.param(errors.Forbidden("no"), Kind.FORBIDDEN, id="Forbidden"),
        pytest.param(errors.NotFound("no"), Kind.NOT_FOUND, id="NotFound"),
        pytest.param(errors.Unreachable("no"), Kind.TIMEOUT, id="Unreachable"),
        pytest.param(errors.Invalid("no"), Kind.UNKNOWN, id="Invalid"),
    ],
)
def test_an_error_of_the_api_server_tells_nothing_about_the_service(error: errors.KubeError, kind: Kind) -> None:
    assert unanswered(error).unknown is kind


def test_a_pattern_that_would_backtrack_for_ever_takes_linear_time() -> None:
    assert not matches(r"^(a+)+$", "a" * 60_000 + "b")


@pytest.mark.parametrize("pattern", ["(", "(?=a)", r"(a)\1", "a{1001}", "((a{100}){100}){100}", "[z-a]"])
def test_what_is_no_re2_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        matches(pattern, "a")


OUTPUT: list[tuple[str, bytes, Reply]] = [
    ("an answer", b'{"status": 200, "body": "b2s="}\n', Reply(200, b"ok")),
    ("after warnings", b'warning: x\n{"status": 404, "body": ""}\n', Reply(404)),
    ("open", b'{"open": true}\n', Reply()),
    ("refused", b'{"failure": "connection refused"}\n', Reply(failure="connection refused")),
]


@pytest.mark.parametrize(("output", "reply"), [case[1:] for case in OUTPUT], ids=[case[0] for case in OUTPUT])
def test_a_probe_pod_says_what_it_met(output: bytes, reply: Reply) -> None:
    assert read_output(Ended(0, output)) == reply


@pytest.mark.parametrize("output", [b"", b"python3: not found", b"[1]", b'"x"', b'{"status": 200, "body": "%"}'])
def test_a_probe_pod_that_says_something_else_leaves_it_open(output: bytes) -> None:
    assert read_output(Ended(127, output)).unknown is Kind.UNKNOWN
