"""What the demo shows, as it happens; one line a thing, so that a log reads as well as a screen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from sanare.api.incident import Incident
from sanare.api.status import AuditEntry, Outcome
from sanare.api.verdict import CheckResult
from sanare.kubectl.diff import render_diff
from sanare.kubectl.journal import MutationRecord
from sanare_lab.scenarios.scenario import Scenario

_MARK = {CheckResult.PASSED: "✓", CheckResult.FAILED: "✗", CheckResult.UNKNOWN: "?"}
_STYLE = {"Mutated": "yellow", "Judged": "bold", "Ended": "bold green", "Escalated": "bold red"}
_DIFF_BYTES = 4000


class Screen:
    """Prints; knows which audit entries it has shown."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown = 0

    def started(self, url: str) -> None:
        """The cluster serves."""
        self._heading("An embedded Kubernetes")
        self._console.print(f"API server, controllers and one node in this process: {url}")

    def broke(self, scenario: Scenario, namespace: str) -> None:
        """The broken form is deployed and proved broken."""
        self._heading("A broken shop")
        self._console.print(
            f"{scenario.title}.\nNamespace {namespace}; no request through the Service is answered.", soft_wrap=True
        )

    def created(self, incident: Incident) -> None:
        """The Incident is there; from here on the operator works alone."""
        self._heading(f"incident/{incident.metadata.name}: {incident.spec.summary}")

    def follow(self, incident: Incident) -> None:
        """Print what the audit trail says that it did not say before."""
        for entry in incident.status.audit.recent:
            if entry.seq > self._shown:
                self._shown = entry.seq
                self._console.print(_line(entry), soft_wrap=True)

    def changes(self, records: Sequence[MutationRecord]) -> None:
        """Every write of every attempt, as a diff."""
        self._heading("What was changed")
        for record in records:
            self._console.print(Text(f"{record.verb} {record.ref}", style="bold"))
            diff = render_diff(record.before, record.after, limit=_DIFF_BYTES)
            self._console.print(Syntax(diff, "diff", theme="ansi_light", background_color="default"))

    def verdict(self, incident: Incident) -> None:
        """The evaluator's decision with every check."""
        verdict = incident.status.verdict
        self._heading("The evaluator's verdict")
        if verdict is None:
            self._console.print("none")
            return
        for check in verdict.checks:
            self._console.print(Text(f"  {_MARK[check.result]} {check.name}: {check.message}"), soft_wrap=True)
        is_fixed = incident.status.outcome is Outcome.FIXED
        self._console.print(
            Text(
                f"{incident.status.phase}/{incident.status.outcome}: {verdict.reason}", style=_end_style(is_fixed)
            ),
            soft_wrap=True,
        )

    def kubectl(self, argv: Sequence[str], output: str) -> None:
        """A command as one would type it, and its output."""
        self._console.print(Text(f"\n$ kubectl {' '.join(argv)}", style="dim"))
        self._console.print(Text(output.rstrip()), soft_wrap=True)

    def kept(self, kubeconfig: Path, namespace: str) -> None:
        """How to look around."""
        self._heading("The cluster stays up until Ctrl-C")
        self._console.print(
            f"export KUBECONFIG={kubeconfig}\nkubectl -n {namespace} describe incident", soft_wrap=True
        )

    def _heading(self, text: str) -> None:
        self._console.print(Text(f"\n{text}", style="bold cyan"))


def _line(entry: AuditEntry) -> Text:
    return Text(f"{entry.at:%H:%M:%S}  {entry.event:<15} {entry.detail}", style=_STYLE.get(entry.event, ""))


def _end_style(is_fixed: bool) -> str:
    return "bold green" if is_fixed else "bold red"
