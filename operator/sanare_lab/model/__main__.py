"""Serve a scripted model until interrupted, and print the environment that makes the operator use it."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from pathlib import Path

from sanare_lab.model.script import load
from sanare_lab.model.server import ScriptedModel


async def serve(script: Path, *, host: str, port: int) -> None:
    """Serve the script's answers and print the base URL."""
    async with ScriptedModel(load(script), host=host, port=port) as model:
        print(f"ANTHROPIC_BASE_URL={model.url} ANTHROPIC_API_KEY=scripted", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(prog="python -m sanare_lab.model", description=__doc__)
    parser.add_argument("--script", type=Path, required=True, help="YAML file with the rules")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: loopback)")
    parser.add_argument("--port", type=int, default=8787, help="port, 0 for a free one (default: 8787)")
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(options.script, host=options.host, port=options.port))


if __name__ == "__main__":
    main()
