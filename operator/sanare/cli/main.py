"""Arguments in, an exit code out; errors of ours become one line on standard error."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

from sanare import telemetry
from sanare.cli import diagnose, people, verify
from sanare.cli.arguments import EXIT_ERROR, parser
from sanare.errors import SanareError
from sanare.kube.client import KubeClient
from sanare.kube.contexts import namespace_of_context
from sanare.settings import Settings
from sanare.text import clean

_WORDS = 4096  # bytes of an error


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Exit codes: 0 done, 1 a check says no, 2 it cannot be told, 3 usage or connection."""
    arguments = parser(sys.argv[0]).parse_args(argv)
    try:
        if arguments.verb == "run":
            return _run()
        return asyncio.run(_command(arguments))
    except SanareError as error:
        print(told(error), file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        return 130


def told(error: SanareError) -> str:
    """An error as it is printed: what it quotes may be a stranger's, and is not left to steer a terminal."""
    return f"sanare: {clean(str(error), _WORDS)}"


def _run() -> int:
    # the operator brings kopf and the model's SDK, seconds of imports that no other verb should wait for
    from sanare.app import run

    settings = Settings.from_environment()
    telemetry.configure_logging(settings.log_level)
    asyncio.run(run(settings))
    return 0


async def _command(arguments: argparse.Namespace) -> int:
    arguments.namespace = arguments.namespace or namespace_of_context(arguments.kubeconfig, arguments.context)
    async with await KubeClient.connect(kubeconfig=arguments.kubeconfig, context=arguments.context) as kube:
        match arguments.verb:
            case "verify":
                return await verify.command(kube, arguments)
            case "diagnose":
                return await diagnose.command(kube, arguments)
            case _:
                return await people.command(kube, arguments)
