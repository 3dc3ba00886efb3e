"""Arguments in, an exit code out; errors of ours become one line on standard error."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

from sanare import __version__, telemetry
from sanare.app import run
from sanare.cli import people
from sanare.errors import SanareError
from sanare.settings import Settings

EXIT_ERROR = 2


def parser() -> argparse.ArgumentParser:
    """The grammar of the command line."""
    top = argparse.ArgumentParser(prog="sanare", description="Heals Kubernetes incidents, verified.")
    top.add_argument("--version", action="version", version=f"sanare {__version__}")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("run", help="run the operator (settings come from the environment)")
    approve = verbs.add_parser("approve", help="approve the plan that an Incident shows")
    reject = verbs.add_parser("reject", help="reject the plan that an Incident shows")
    for verb in (approve, reject):
        _incident_arguments(verb)
        verb.add_argument("--as-person", required=True, metavar="NAME", help="who decides; kept in the status")
        verb.add_argument("--comment", default="", help="why; kept in the Incident")
    audit = verbs.add_parser("audit", help="the audit trail of an Incident")
    audit_verbs = audit.add_subparsers(dest="audit_verb", required=True, metavar="VERB")
    for name, text in (
        ("verify", "check the hash chain; exit 1 where it is broken"),
        ("show", "print every entry"),
    ):
        _incident_arguments(audit_verbs.add_parser(name, help=text))
    return top


def _incident_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("incident", metavar="incident/NAME", help="the Incident (the prefix may be left out)")
    verb.add_argument("-n", "--namespace", default="default", help="its namespace (default: %(default)s)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Exit codes: 0 done, 1 a check says no, 2 an error."""
    arguments = parser().parse_args(argv)
    try:
        if arguments.verb == "run":
            settings = Settings.from_environment()
            telemetry.configure_logging(settings.log_level)
            asyncio.run(run(settings))
            return 0
        return asyncio.run(people.command(arguments))
    except SanareError as error:
        print(f"sanare: {error}", file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        return 130
