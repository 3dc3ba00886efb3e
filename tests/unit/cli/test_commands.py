"""The command line: its grammar and exit codes, and what verify and diagnose print."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import pytest

from sanare import errors
from sanare.api.manifest import Ref
from sanare.api.status import BaselineRef
from sanare.api.verdict import CheckOutcome, CheckResult, Counts, Progress, Result
from sanare.cli import diagnose, verify
from sanare.cli.arguments import EXIT_ERROR, parser
from sanare.cli.main import main, told
from sanare.cli.table import Screen
from sanare.diagnosis.finding import Candidate, Confidence, Finding
from sanare.diagnosis.namespace import Survey
from sanare.kubectl.tool import Command
from tests.unit.incidents import DIGEST, T0, incident, verdict

FAILED = CheckOutcome(
    name="containers", result=CheckResult.FAILED, kind="ImagePull", object="Deployment/web", message="no such image"
)
PASSED = CheckOutcome(name="rollout", result=CheckResult.PASSED, object="Deployment/api", message="complete")
SEEN = verdict(reason="Deployment/web: no such image").model_copy(
    update={
        "checks": (FAILED,),
        "counts": Counts(passed=1, failed=1),
        "progress": Progress(repaired=1, faults=2, resources=1, vanished=("Service/web Unreachable",)),
    }
)
ABOUT = incident(baseline=BaselineRef(taken_at=T0, store="web-baseline-0", digest=DIGEST))


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["verify"],
        ["verify", "incident/web", "-o", "yaml"],
        ["diagnose", "a", "b"],
        ["audit"],
        ["audit", "show"],
        ["nonsense"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_no_verdict(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(argv)
    assert ended.value.code == EXIT_ERROR
    assert "usage: sanare" in capsys.readouterr().err


def test_no_connection_is_no_verdict_either(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "incident/web", "--kubeconfig", "/nonexistent/kubeconfig"]) == EXIT_ERROR
    assert "set KUBECONFIG to a readable kubeconfig" in capsys.readouterr().err


def test_what_an_error_quotes_does_not_steer_the_terminal() -> None:
    error = errors.InvalidIncident("PolicyNotFound", "RemediationPolicy/\x1b[2J\x1b]0;x\x07shop is not there")
    assert told(error) == "sanare: RemediationPolicy/shop is not there"


def test_each_verdict_has_an_exit_code_of_its_own() -> None:
    assert {verify.EXIT[result] for result in Result} == {0, 1, 2}
    assert verify.EXIT[Result.FIXED] == 0


def test_a_verdict_is_shown_with_every_check() -> None:
    lines = list(verify.as_table(ABOUT, SEEN, [FAILED, PASSED], Screen()))
    assert lines == [
        "NotFixed  incident/web in shop",
        "  reason    Deployment/web: no such image",
        "  checks    1 failed, 0 could not run, 1 passed",
        "  progress  1/2 faults repaired, 1 object(s) failing",
        "  gone      Service/web Unreachable",
        "  baseline  2026-11-01T12:00:00Z",
        "",
        "RESULT  CHECK       OBJECT          KIND       SEEN",
        "Failed  containers  Deployment/web  ImagePull  no such image",
        "Passed  rollout     Deployment/api  -          complete",
    ]


def test_a_verdict_as_json_has_every_check_too() -> None:
    said = json.loads(json.dumps(verify.as_json(ABOUT, SEEN, [FAILED, PASSED])))
    assert (said["incident"], said["namespace"], said["result"]) == ("web", "shop", "NotFixed")
    assert [check["name"] for check in said["checks"]] == ["containers", "rollout"]
    assert said["progress"]["share"] == "1/2"


REPAIR = Candidate("8080", "container web listens there", (Command(("patch", "service/web", "-p", "{}")),))
ONE = Finding(
    "TargetPortWrong",
    Ref("Service", "shop", "web"),
    "spec.ports[http].targetPort",
    "80",
    "",
    Confidence.HIGH,
    (REPAIR,),
)
OPEN = Finding(
    "ImageNotPullable",
    Ref("Deployment", "shop", "web"),
    "spec.image",
    "x:1",
    "an image",
    Confidence.LOW,
    missing="no image like it",
)


BOTH = Survey((ONE, OPEN), 5, ("Service/web", "Deployment/web", "Job/x"), {"Pod": "Forbidden: no"}, left_out=2)
THERE = ("-n", "shop")


def test_findings_are_a_table_with_a_line_for_each() -> None:
    assert list(diagnose.as_table("shop", BOTH, Screen())) == [
        "CONFIDENCE  KIND              OBJECT          FIELD                        OBSERVED  REPAIR",
        "High        TargetPortWrong   Service/web     spec.ports[http].targetPort  80        8080",
        "Low         ImageNotPullable  Deployment/web  spec.image                   x:1       -",
        "",
        "2 finding(s); 3 of 5 objects fail in namespace shop",
        "  also failing   Job/x",
        "  left out       2 more were not looked into: name them one by one",
        "  not seen: Pod  Forbidden: no",
        "evidence, and the commands that repair: -o wide",
    ]


def test_several_possible_repairs_are_counted_in_the_table() -> None:
    open_ = replace(ONE, candidates=(REPAIR, replace(REPAIR, value="8081")))
    assert list(diagnose.as_table("shop", Survey((open_,), 1, (), {}), Screen()))[1].endswith(
        "80        (2 possible)"
    )


def test_where_nothing_is_found_there_is_no_table() -> None:
    nothing = Survey((), 3, (), {})
    assert list(diagnose.as_table("shop", nothing, Screen())) == [
        "0 finding(s); 0 of 3 objects fail in namespace shop"
    ]


def test_what_could_not_be_checked_is_told_beside_what_fails() -> None:
    unsure = Survey((), 3, (), {}, unsure={"Service/web": "Service/web port 80 was not asked"})
    assert list(diagnose.as_table("shop", unsure, Screen())) == [
        "0 finding(s); 0 of 3 objects fail in namespace shop",
        "  not checked  Service/web port 80 was not asked",
    ]
    assert diagnose.as_json("shop", unsure, THERE)["unsure"] == {"Service/web": "Service/web port 80 was not asked"}


def test_the_wide_form_has_each_repair_with_its_commands_or_what_is_missing() -> None:
    assert list(diagnose.as_blocks("shop", BOTH, THERE, Screen())) == [
        "High  TargetPortWrong  Service/web",
        "  field     spec.ports[http].targetPort",
        "  observed  80",
        "  repair    8080",
        "  evidence  container web listens there",
        "  command   kubectl -n shop patch service/web -p '{}'",
        "",
        "Low  ImageNotPullable  Deployment/web",
        "  field     spec.image",
        "  observed  x:1",
        "  expected  an image",
        "  missing   no image like it",
        "",
        "2 finding(s); 3 of 5 objects fail in namespace shop",
        "  also failing   Job/x",
        "  left out       2 more were not looked into: name them one by one",
        "  not seen: Pod  Forbidden: no",
    ]


def test_findings_as_json_have_the_same_words() -> None:
    said = json.loads(json.dumps(diagnose.as_json("shop", Survey((ONE,), 1, ("Service/web",), {}), THERE)))
    (finding,) = said["findings"]
    assert (finding["object"], finding["confidence"], finding["candidates"][0]["value"]) == (
        "Service/web",
        "High",
        "8080",
    )
    assert finding["candidates"][0]["commands"] == ["kubectl -n shop patch service/web -p '{}'"]


@pytest.mark.parametrize(
    ("argv", "flags"),
    [
        (["-n", "shop"], ("-n", "shop")),
        (["-n", "shop", "--context", "a"], ("--context", "a", "-n", "shop")),
        (["--kubeconfig", "f", "-n", "shop"], ("--kubeconfig", "f", "-n", "shop")),
    ],
    ids=["a namespace", "a context", "a kubeconfig"],
)
def test_a_command_that_is_copied_goes_where_was_looked(argv: list[str], flags: tuple[str, ...]) -> None:
    assert diagnose.kubectl_flags(parser().parse_args(["diagnose", *argv])) == flags


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (Survey((), 3, (), {}), 0),
        (Survey((ONE,), 3, ("Service/web",), {}), 1),
        (Survey((), 3, ("Service/web",), {}), 1),
        (Survey((), 3, (), {"Pod": "Forbidden: no"}), 2),
        (Survey((), 3, (), {}, unsure={"Service/web": "Service/web was not asked"}), 2),
    ],
    ids=[
        "nothing found",
        "findings",
        "something fails and nobody knows why",
        "not everything seen",
        "not everything checked",
    ],
)
def test_the_exit_code_of_a_diagnosis(found: Survey, code: int) -> None:
    assert diagnose.exit_code(found) == code


@pytest.mark.parametrize("said", ["deploy/web", "deployments/web", "Deployment/web", "DEPLOY/web"])
def test_a_target_is_named_as_with_kubectl(said: str) -> None:
    target = diagnose.read_target(said)
    assert (target.kind, target.name, target.api_version) == ("Deployment", "web", "apps/v1")


@pytest.mark.parametrize("said", ["web", "deploy/", "secret/web", "node/a"])
def test_what_cannot_be_diagnosed_is_refused_with_what_can(said: str) -> None:
    with pytest.raises(errors.ConfigError, match=r"write KIND/NAME.*Deployment"):
        diagnose.read_target(said)


def test_a_command_names_no_namespace_of_its_own_accord() -> None:
    found: argparse.Namespace = parser().parse_args(["diagnose"])
    assert (found.namespace, found.output, found.target) == (None, "table", "")


@pytest.mark.parametrize(
    ("program", "usage"),
    [("/usr/local/bin/kubectl-sanare", "usage: kubectl sanare"), ("sanare/__main__.py", "usage: sanare")],
    ids=["the plugin", "the module"],
)
def test_the_usage_is_what_a_person_types(program: str, usage: str) -> None:
    assert parser(program).format_usage().startswith(usage)
