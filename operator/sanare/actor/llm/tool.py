"""The one tool that a model is given, and the reading of its calls. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from anthropic.types import ToolParam

from sanare.errors import ToolError
from sanare.kubectl.tool import Command

NAME = "kubectl"
_MAX_ARGUMENTS = 64
_MAX_ARGUMENT = 4096
_MAX_MANIFEST = 65536

KUBECTL: ToolParam = {
    "name": NAME,
    "description": (
        "Run one kubectl command in the incident's namespace. `argv` holds the arguments without the word kubectl, "
        "one string each and without shell quoting: there is no shell, so no pipes, redirections, globs or "
        "variables. `manifest` is sent to standard input for commands with `-f -`. Interactive commands (edit, "
        "exec -it, attach, port-forward, anything with --watch) never end and are refused. A refusal says what is "
        "possible instead."
    ),
    "strict": True,
    "input_schema": {
        "type": "object",
        "properties": {
            "argv": {
                "type": "array",
                "items": {"type": "string"},
                "description": 'For example ["get", "pods", "-o", "wide"].',
            },
            "manifest": {"type": "string", "description": "YAML or JSON for standard input, only with `-f -`."},
        },
        "required": ["argv"],
        "additionalProperties": False,
    },
    "cache_control": {"type": "ephemeral"},
}


def read_command(name: str, arguments: Mapping[str, object]) -> Command:
    """A tool call as a command. Raises ToolError, for the model to read, when it does not fit the schema."""
    if name != NAME:
        raise ToolError(f"there is no tool {name[:64]!r}; the only one is {NAME!r}")
    unknown = sorted(set(arguments) - {"argv", "manifest"})
    if unknown:
        raise ToolError(f"unknown argument {unknown[0][:64]!r}; use argv (list of strings) and manifest (string)")
    argv, manifest = arguments.get("argv"), arguments.get("manifest")
    if not isinstance(argv, list) or not all(isinstance(word, str) for word in argv):
        raise ToolError("argv must be a list of strings, one for each argument")
    words = tuple(argv[1:] if argv[:1] == ["kubectl"] else argv)
    if not 0 < len(words) <= _MAX_ARGUMENTS or any(len(word) > _MAX_ARGUMENT for word in words):
        raise ToolError(f"argv needs 1 to {_MAX_ARGUMENTS} arguments of at most {_MAX_ARGUMENT} characters")
    if manifest is not None and not isinstance(manifest, str):
        raise ToolError("manifest must be a string: one YAML or JSON document, or several with --- between them")
    if len(manifest or "") > _MAX_MANIFEST:
        raise ToolError(f"manifest is longer than {_MAX_MANIFEST} characters")
    return Command(argv=words, stdin=manifest or "")


def show(command: Command) -> str:
    """A command as a person would type it, the manifest after it."""
    line = f"kubectl {shlex.join(command.argv)}"
    return f"{line} <<EOF\n{command.stdin}\nEOF" if command.stdin else line
