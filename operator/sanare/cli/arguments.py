"""The grammar of the command line. Every error of usage ends with the same exit code as one of connection."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from sanare import __version__

EXIT_ERROR = 3


class _Parser(argparse.ArgumentParser):
    """argparse ends with 2, which is a verdict here."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(EXIT_ERROR, f"{self.prog}: {message}\n")


def parser(program: str = "sanare") -> argparse.ArgumentParser:
    """The whole grammar; `program` is the file that was started."""
    prog = "kubectl sanare" if Path(program).name.startswith("kubectl-") else "sanare"
    top = _Parser(prog=prog, description="Heals Kubernetes incidents, verified.")
    top.add_argument("--version", action="version", version=f"sanare {__version__}")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=_Parser)
    verbs.add_parser("run", help="run the operator (settings come from the environment)")
    _looking(verbs)
    for name in ("approve", "reject"):
        more = ", or close one that was escalated without a plan" if name == "reject" else ""
        verb = verbs.add_parser(name, help=f"{name} the plan that an Incident shows{more}")
        _incident(verb)
        verb.add_argument("--as-person", required=True, metavar="NAME", help="who decides; kept in the status")
        verb.add_argument("--comment", default="", help="why; kept in the Incident")
    audit = verbs.add_parser("audit", help="the audit trail of an Incident")
    audit_verbs = audit.add_subparsers(dest="audit_verb", required=True, metavar="VERB", parser_class=_Parser)
    for name, text in (
        ("verify", "check the hash chain; exit 1 where it is broken"),
        ("show", "print every entry"),
    ):
        _incident(audit_verbs.add_parser(name, help=text))
    return top


def _looking(verbs: argparse._SubParsersAction[_Parser]) -> None:
    verify = verbs.add_parser(
        "verify",
        help="evaluate an Incident now, read-only",
        description="One look, with your own rights, against the Incident's baseline. Nothing is changed.",
        epilog="exit codes: 0 Fixed, 1 NotFixed, 2 Unverified, 3 usage or connection",
    )
    _incident(verify)
    diagnose = verbs.add_parser(
        "diagnose",
        help="what is wrong in a namespace, read-only",
        description="The analyzers' findings with their evidence, with your own rights. No Incident is needed.",
        epilog="exit codes: 0 nothing found, 1 findings, 2 nothing found and not everything seen or checked, "
        "3 usage or connection",
    )
    diagnose.add_argument("target", nargs="?", default="", metavar="KIND/NAME", help="one workload, pod or Service")
    _connection(diagnose)
    _output(verify, "table", "json")
    _output(diagnose, "table", "wide", "json")


def _incident(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("incident", metavar="incident/NAME", help="the Incident (the prefix may be left out)")
    _connection(verb)


def _output(verb: argparse.ArgumentParser, *forms: str) -> None:
    verb.add_argument("-o", "--output", choices=forms, default="table", help="(default: %(default)s)")


def _connection(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("-n", "--namespace", metavar="NAME", help="the namespace (default: the context's)")
    verb.add_argument("--context", metavar="NAME", help="context of the kubeconfig (default: the current one)")
    verb.add_argument("--kubeconfig", metavar="FILE", help="kubeconfig (default: KUBECONFIG, ~/.kube/config)")
