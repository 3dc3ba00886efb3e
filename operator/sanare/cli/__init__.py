"""The command line: `sanare run` is the operator, the other verbs are for people (also as `kubectl sanare`)."""

from sanare.cli.main import main

__all__ = ["main"]
