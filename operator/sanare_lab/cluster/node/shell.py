"""Shell: the commands of containers that are trivial enough to be foreseen, as a Run. Nothing is executed.

`sleep`, `echo`, `cat`, `test`, `exit`, `true`, `false`, `wget`, `httpd` and `nc` with a port, redirection to a
file, `;`, `&&`, `||` and new lines. A loop is taken to go on for ever. What else a script does is taken to succeed
at once, unless no such program exists: then it is the shell's 127.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias
from urllib.parse import urlsplit

from sanare_lab.cluster.node.app import app_run
from sanare_lab.cluster.node.images import BINARIES, Image
from sanare_lab.cluster.node.run import (
    FOREVER,
    Files,
    Line,
    Listener,
    Run,
    Site,
    StartError,
    Write,
    not_executable,
)

_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))")
_BUILT_INS = "exit : cd set export trap exec test [ true false echo wait umask unset read"
_BUILT_IN = frozenset(_BUILT_INS.split())
_LOOP = re.compile(r"(?:^|[;&|\n]\s*)(?:while|until|for)\s")
_DISCARDED = re.compile(r"\d?>+\s*(?:&\d|/dev/(?:null|stdout|stderr))")
_MIB = 1024 * 1024
_NOT_FOUND = 127
_SHORTEST = 0.1  # seconds that even `true` takes


Fetch: TypeAlias = Callable[[str], int]  # a URL to the HTTP status that a request from the pod gets, 0 for none


def no_network(url: str) -> int:
    """A pod that reaches nothing."""
    return 0


def container_run(
    image: Image,
    command: Sequence[str],
    args: Sequence[str],
    env: Mapping[str, str],
    files: Files,
    fetch: Fetch = no_network,
) -> Run | StartError:
    """What a container does: its command, or its image's own, with its arguments."""
    argv = [*(command or image.entrypoint), *args]
    if not argv:
        return StartError("no command specified")
    if tuple(argv[: len(image.entrypoint)]) == image.entrypoint and image.entrypoint:
        return Run() if image.kind == "pause" else app_run(env, files)
    if image.kind == "pause" or not _exists(argv[0], image):
        return not_executable(argv[0])
    script = _script(argv)
    if script is None:
        return _Shell(image, env, files, fetch).run_one(argv)
    return _Shell(image, env, files, fetch).run(script)


def exec_exit(
    image: Image, argv: Sequence[str], env: Mapping[str, str], files: Files, fetch: Fetch = no_network
) -> tuple[int, str] | StartError:
    """Exit code and output of a command run in a container (an exec probe)."""
    if not argv or not _exists(argv[0], image):
        return not_executable(argv[0] if argv else "")
    script = _script(argv)
    shell = _Shell(image, env, files, fetch)
    run = shell.run_one(argv) if script is None else shell.run(script)
    return run.code, "".join(f"{line.text}\n" for line in run.lines)


def _script(argv: Sequence[str]) -> str | None:
    if argv[0].rpartition("/")[2] in ("sh", "ash") and len(argv) > 2 and argv[1].startswith("-") and "c" in argv[1]:
        return argv[2]
    return None


def _exists(program: str, image: Image) -> bool:
    if program in image.entrypoint:
        return True
    folder, _, name = program.rpartition("/")
    return name in BINARIES and folder in ("", "/bin")


@dataclass
class _Shell:
    """One shell, going through its script with a clock of its own."""

    image: Image
    env: Mapping[str, str]
    files: Files
    fetch: Fetch
    now: float = 0.0
    code: int = 0
    lines: list[Line] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    taken_over: Run | None = None

    def run(self, script: str) -> Run:
        if _LOOP.search(script):
            return Run(memory=_MIB)
        for joint, words in _commands(script):
            if self.taken_over is not None or (joint == "&&" and self.code) or (joint == "||" and not self.code):
                continue
            if words[0] == "exit":
                self.code = int(words[1]) if len(words) > 1 and words[1].isdecimal() else self.code
                break
            self._step(words)
            if self.now == FOREVER:
                break
        return self._result()

    def run_one(self, argv: Sequence[str]) -> Run:
        self._step(list(argv), is_shell=False)
        return self._result()

    def _result(self) -> Run:
        if self.taken_over is not None:
            shifted = tuple(Line(line.at + self.now, line.text) for line in self.taken_over.lines)
            over = self.taken_over
            return Run(
                (*self.lines, *shifted),
                over.exit_at + self.now,
                over.code,
                over.term_code,
                tuple(Listener(item.at + self.now, item.bind, item.port, item.site) for item in over.listeners),
                (*self.writes, *over.writes),
                over.memory,
            )
        return Run(tuple(self.lines), max(self.now, _SHORTEST), self.code, None, (), tuple(self.writes), _MIB)

    def _step(self, words: list[str], *, is_shell: bool = True) -> None:
        words, target = _redirection(words) if is_shell else (words, None)
        words = [self._expand(word) for word in words] if is_shell else words
        while words and "=" in words[0] and is_shell and words[0].partition("=")[0].isidentifier():
            name, _, value = words.pop(0).partition("=")
            self.env = {**self.env, name: value}
        while words[:1] in (["exec"], ["busybox"], ["timeout"]):
            words = words[2:] if words[0] == "timeout" else words[1:]
        if not words:
            return
        output = self._execute(words)
        if output is None:
            return
        if target is not None and self.code == _NOT_FOUND:
            # The shell makes the file before it looks for the program, and complains on standard error.
            self.writes.append(Write(target.path, b"", target.append))
            self.lines.append(Line(self.now, output))
        elif target is not None:
            self.writes.append(Write(target.path, output.encode(), target.append))
        else:
            self.lines += [Line(self.now, text) for text in output.splitlines()]

    def _execute(self, words: list[str]) -> str | None:
        """Do one command; its output, or None where the process stays in it."""
        program = words[0].rpartition("/")[2]
        if program in ("httpd", "nc") and _port(words) is not None:
            self._listen(program, words)
            return None
        if words[0] in self.image.entrypoint and self.image.kind == "app":
            self.taken_over = app_run(self.env, self.files)
            return None
        if program not in _BUILT_IN and not _exists(words[0], self.image):
            self.code = _NOT_FOUND
            return f"sh: {words[0]}: not found"
        return self._simple(program, words[1:])

    def _simple(self, program: str, args: list[str]) -> str:
        self.code = 0
        if program in ("echo", "printf"):
            return " ".join(arg for arg in args if arg != "-n").replace("\\n", "\n") + "\n"
        if program == "sleep":
            self.now += _seconds(args[0] if args else "0")
        elif program == "false":
            self.code = 1
        elif program in ("test", "["):
            self.code = 0 if self._test([arg for arg in args if arg != "]"]) else 1
        elif program == "cat":
            return self._cat(args)
        elif program == "wget":
            return self._wget(args[-1] if args else "")
        return ""

    def _cat(self, paths: list[str]) -> str:
        output = ""
        for path in paths:
            data = self.files.read(path)
            self.code = 1 if data is None else self.code
            output += f"cat: can't open '{path}': No such file or directory\n" if data is None else data.decode()
        return output

    def _wget(self, url: str) -> str:
        status = self.fetch(url)
        self.code = 0 if 200 <= status < 400 else 1
        if not status:
            return f"wget: can't connect to remote host ({urlsplit(url).hostname}): Connection refused\n"
        return f"wget: server returned error: HTTP/1.1 {status}\n" if self.code else ""

    def _test(self, args: list[str]) -> bool:
        if args[:1] == ["!"]:
            return not self._test(args[1:])
        match args:
            case [("-f" | "-e" | "-r" | "-s"), path]:
                return self.files.read(path) is not None
            case ["-n", value] | [value]:
                return bool(value)
            case ["-z", value]:
                return not value
            case [left, ("=" | "=="), right]:
                return left == right
            case [left, "!=", right]:
                return left != right
        return True

    def _listen(self, program: str, words: list[str]) -> None:
        bind, port = _port(words) or ("", 0)
        site = Site({}) if program == "httpd" else None
        self.taken_over = Run(listeners=(Listener(0.0, bind, port, site),), memory=_MIB)

    def _expand(self, word: str) -> str:
        return _VARIABLE.sub(lambda m: self.env.get(m[1] or m[3]) or m[2] or "", word)


@dataclass(frozen=True, slots=True)
class _Target:
    path: str
    append: bool


def _redirection(words: list[str]) -> tuple[list[str], _Target | None]:
    for position, word in enumerate(words):
        if word in (">", ">>") and position + 1 < len(words):
            return words[:position], _Target(words[position + 1], word == ">>")
    return words, None


def _commands(script: str) -> list[tuple[str, list[str]]]:
    """(what joins it to the one before, words) for each command, in order."""
    script = _DISCARDED.sub(" ", script).replace("\n", " ; ")
    lexer = shlex.shlex(script, posix=True, punctuation_chars=";&|<>")
    lexer.whitespace_split = True
    found: list[tuple[str, list[str]]] = [(";", [])]
    try:
        for word in lexer:
            if word in (";", "&&", "||", "|", "&"):
                found.append((word, []))
            else:
                found[-1][1].append(word)
    except ValueError:
        return [(";", ["exit", "2"])]  # the shell's syntax error
    return [(joint, words) for joint, words in found if words]


def _port(words: Sequence[str]) -> tuple[str, int] | None:
    """Address and port that `httpd -p` or `nc -l -p` listens on."""
    if words[0].rpartition("/")[2] == "nc" and not any(word.startswith("-l") for word in words):
        return None
    for option, value in pairwise(words):
        if option.startswith("-") and option.endswith("p"):
            bind, _, port = value.rpartition(":")
            return (bind or "0.0.0.0", int(port)) if port.isdecimal() else None  # noqa: S104 - busybox's default
    return None


def _seconds(text: str) -> float:
    if text in ("infinity", "inf"):
        return FOREVER
    factor = {"s": 1, "m": 60, "h": 3600, "d": 86400}.get(text[-1:], 1)
    try:
        return float(text.rstrip("smhd")) * factor
    except ValueError:
        return 0.0
