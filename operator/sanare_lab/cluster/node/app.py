"""The app under repair: one small HTTP server, set up by its environment; the real image keeps the same contract.

PORT, BIND, NONCE, START_DELAY (seconds), ALLOC_MB, REQUIRE_ENV, REQUIRE_FILES (comma lists), CHECK_ENV and
CHECK_FILES (comma lists of `NAME:prefix`, the prefix of the SHA-256 of the value or of the content without its
trailing newlines), BACKEND_URL.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from sanare_lab.cluster.node.run import Files, Line, Listener, Run, Site

_MIB = 1024 * 1024
_OWN_MEMORY = 2 * _MIB
_ON_SIGTERM = 143


def app_run(env: Mapping[str, str], files: Files) -> Run:
    """What the app does with this environment and these files."""
    starting = Line(0.0, "app: starting")
    problem = next(_problems(env, files), None)
    if problem is not None:
        return Run(lines=(starting, Line(0.0, f"app: {problem}")), exit_at=0.2, code=1)
    return _serving(env, starting)


def _serving(env: Mapping[str, str], starting: Line) -> Run:
    port, bind = env.get("PORT") or "8080", env.get("BIND") or "0.0.0.0"  # noqa: S104 - the app's documented default
    if not port.isdecimal() or not 0 < int(port) < 65536:
        return Run(lines=(starting, Line(0.0, f"app: PORT {port} is no port")), exit_at=0.2, code=1)
    delay = _number(env.get("START_DELAY"))
    pages = {"/": (env.get("NONCE", "") + "\n").encode(), "/healthz": b"ok\n", "/readyz": b"ok\n"}
    ready = Line(delay, f"app: listening on {bind}:{port}, serving / /healthz /readyz")
    return Run(
        lines=(starting, ready),
        term_code=_ON_SIGTERM,
        listeners=(Listener(delay, bind, int(port), Site(pages, env.get("BACKEND_URL", ""))),),
        memory=_OWN_MEMORY + int(_number(env.get("ALLOC_MB")) * _MIB),
    )


def _problems(env: Mapping[str, str], files: Files) -> Iterator[str]:
    for name in _names(env.get("REQUIRE_ENV")):
        if not env.get(name):
            yield f"missing required environment variable {name}"
    for path in _names(env.get("REQUIRE_FILES")):
        if files.read(path) is None:
            yield f"missing required file {path}"
    for name, prefix in _pairs(env.get("CHECK_ENV")):
        if not _hashes(env.get(name, "").encode(), prefix):
            yield f"environment variable {name} has a value that is not accepted"
    for path, prefix in _pairs(env.get("CHECK_FILES")):
        if not _hashes((files.read(path) or b"").rstrip(b"\n"), prefix):
            yield f"file {path} has content that is not accepted"


def _hashes(value: bytes, prefix: str) -> bool:
    return hashlib.sha256(value).hexdigest().startswith(prefix.lower())


def _names(listed: str | None) -> list[str]:
    return [name.strip() for name in (listed or "").split(",") if name.strip()]


def _pairs(listed: str | None) -> list[tuple[str, str]]:
    return [(name, prefix) for name, _, prefix in (item.rpartition(":") for item in _names(listed)) if name]


def _number(value: str | None) -> float:
    try:
        return max(0.0, float(value or 0))
    except ValueError:
        return 0.0
