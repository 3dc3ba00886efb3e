"""sanare-lab: the instruments around the operator."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from sanare.errors import SanareError
from sanare_lab.app import image
from sanare_lab.cluster.cluster import Cluster
from sanare_lab.controls import command as controls
from sanare_lab.demo import command as demo
from sanare_lab.evaluation import command as evaluation
from sanare_lab.healing import command as healing

_COMMANDS = (
    ("controls", "hold the evaluator to what it must say of every scenario's repairs", controls),
    ("demo", "break a shop on an embedded cluster and watch the operator heal it", demo),
    ("evaluation", "print what the controls of two clusters and a healing run showed", evaluation),
    ("heal", "run the operator over scenarios and tell what it took", healing),
    ("images", "write the app's images as a docker-archive", image),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is the process's."""
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except (OSError, SanareError) as error:
        print(f"sanare-lab: {error}", file=sys.stderr)
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sanare-lab", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="run the embedded cluster until Ctrl-C; prints its kubeconfig's path")
    up.add_argument("--scale", type=float, default=1.0, help="waits are so many times as short (default 1)")
    up.add_argument("--port", type=int, default=0, help="port on loopback (default: a free one)")
    up.add_argument("--kubeconfig", type=Path, default=Path("sanare-lab.kubeconfig"), help="where to write it")
    up.add_argument("--crds", type=Path, nargs="?", const=Path("crds"), help="serve the CRDs of a directory (crds)")
    up.set_defaults(run=lambda arguments: asyncio.run(_up(arguments)))
    for name, what, module in _COMMANDS:
        command = commands.add_parser(name, help=what, description=module.__doc__)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


async def _up(arguments: argparse.Namespace) -> int:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stopped.set)
    async with Cluster(scale=arguments.scale, port=arguments.port, crds=arguments.crds) as cluster:
        path = cluster.write_kubeconfig(arguments.kubeconfig)
        print(path.resolve(), flush=True)
        await stopped.wait()
    path.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
