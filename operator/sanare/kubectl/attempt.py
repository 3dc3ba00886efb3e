"""One attempt's kubectl: screen, process, gate and journal behind the port that an actor holds."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from sanare import telemetry
from sanare.errors import BudgetExceeded, Refused, ToolError, ToolTimeout
from sanare.kubectl.output import readable
from sanare.kubectl.runner import Place, run
from sanare.kubectl.screen import Rendered, screen
from sanare.kubectl.session import Session
from sanare.kubectl.tool import Command, ToolResult

REFUSED = 126
TIMED_OUT = 124
_SLACK_SECONDS = 10
_IDLE_SECONDS = 15.0


class AttemptKubectl:
    """Implements `Kubectl` for one attempt; made by `Gate.attempt`, which also ends it.

    Attributes:
        server: the URL that kubectl's requests go to; it holds the attempt's token.
    """

    def __init__(
        self,
        session: Session,
        *,
        server: str,
        token: str,
        kubectl_path: str,
        command_timeout: float,
        output_limit: int,
    ) -> None:
        self._session = session
        self.server = server
        self._token = token
        self._kubectl = kubectl_path
        self._timeout = command_timeout
        self._output_limit = output_limit
        self._root = Path(tempfile.mkdtemp(prefix="sanare-attempt-"))
        self._place = _prepare(self._root, server, session.grant.namespace)

    @property
    def home(self) -> Path:
        """The private directory that lives as long as the attempt."""
        return self._root

    def close(self) -> None:
        """Remove the kubeconfig and everything kubectl cached."""
        shutil.rmtree(self._root, ignore_errors=True)

    async def run(self, command: Command) -> ToolResult:
        """Screen, run and record one command. Raises BudgetExceeded when the attempt's changes are used up."""
        wait = max(int(self._timeout) - _SLACK_SECONDS, 1)
        try:
            rendered = screen(command, self._session.grant.scope(timeout=wait))
        except Refused as refused:
            telemetry.GATE_DECISIONS.labels(decision="Screened", rule=refused.rule).inc()
            return ToolResult(f"refused [{refused.rule}]: {refused}", REFUSED, refused.rule)
        self._check_budget(rendered)
        first_record, first_refusal = len(self._session.records), len(self._session.refusals)
        output, exit_code = await self._execute(rendered)
        await self._session.idle(_IDLE_SECONDS)
        refusals = self._session.refusals[first_refusal:]
        done = [record for record in self._session.records[first_record:] if record.ok]
        return ToolResult(
            output=output,
            exit_code=exit_code,
            refused=refusals[0].rule if refusals and exit_code else "",
            mutations=tuple(record.mutation() for record in done),
            rendered=rendered.command,
        )

    def _check_budget(self, rendered: Rendered) -> None:
        most = self._session.grant.guard.max_mutations
        if rendered.writes and self._session.spent.mutations >= most:
            raise BudgetExceeded("guard.maxMutations", f"this attempt has made its {most} changes")

    async def _execute(self, rendered: Rendered) -> tuple[str, int]:
        try:
            finished = await run(
                self._command_line(rendered), self._place, stdin=rendered.stdin, timeout=self._timeout
            )
        except ToolTimeout as error:
            return str(error), TIMED_OUT
        except ToolError as error:
            return str(error), REFUSED
        output = readable(finished, token=self._token, limit=self._output_limit)
        return output, finished.exit_code

    def _command_line(self, rendered: Rendered) -> tuple[str, ...]:
        extra = [f"--kubeconfig={self._place.kubeconfig}", f"--request-timeout={int(self._timeout)}s"]
        if rendered.verb == "delete" and self._session.grant.dry_run:
            extra.append("--wait=false")  # nothing is deleted, so there is nothing to wait for
        return (self._kubectl, *extra, *rendered.argv)


def _prepare(root: Path, server: str, namespace: str) -> Place:
    """The private directories of an attempt and the kubeconfig that leads to the gate."""
    place = Place(work=root / "work", home=root / "home", kubeconfig=root / "kubeconfig")
    place.work.mkdir(mode=0o700)
    place.home.mkdir(mode=0o700)
    place.kubeconfig.touch(mode=0o600)
    place.kubeconfig.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "gate", "cluster": {"server": server}}],
                "contexts": [{"name": "gate", "context": {"cluster": "gate", "namespace": namespace}}],
                "current-context": "gate",
            }
        )
    )
    return place
