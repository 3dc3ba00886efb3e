"""sanare-lab: the instruments around the operator. `up` runs the embedded cluster."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from sanare_lab.cluster.cluster import Cluster


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is the process's."""
    arguments = _parser().parse_args(argv)
    try:
        return asyncio.run(_up(arguments))
    except OSError as error:
        print(f"sanare-lab: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sanare-lab", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="run the embedded cluster until Ctrl-C; prints its kubeconfig's path")
    up.add_argument("--scale", type=float, default=1.0, help="waits are so many times as short (default 1)")
    up.add_argument("--port", type=int, default=0, help="port on loopback (default: a free one)")
    up.add_argument("--kubeconfig", type=Path, default=Path("sanare-lab.kubeconfig"), help="where to write it")
    up.add_argument("--crds", type=Path, nargs="?", const=Path("crds"), help="serve the CRDs of a directory (crds)")
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
