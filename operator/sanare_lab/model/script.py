"""Scripts: what a scripted model answers to which request, as code or as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from sanare_lab.model.replies import Failure, Reply, Tokens, run, say
from sanare_lab.model.request import Request

Script: TypeAlias = Callable[[Request], Reply]


class Exhausted(Exception):
    """The script has no answer to a request; the test that sent it is told."""


def sequence(*replies: Reply) -> Script:
    """These answers, one after the other, and none after the last."""
    left = list(replies)

    def answer(request: Request) -> Reply:
        if not left:
            raise Exhausted(f"no answer is left after {len(replies)}; asked about: {request.last[-200:]}")
        return left.pop(0)

    return answer


def always(reply: Reply) -> Script:
    """The same answer every time."""
    return lambda request: reply


@dataclass(frozen=True, slots=True)
class Rule:
    """An answer for the requests that a condition holds for, so many times (0: without end)."""

    when: Callable[[Request], bool]
    reply: Reply
    times: int = 1


def first_match(*rules: Rule) -> Script:
    """The first rule that holds and is not used up answers."""
    used = [0] * len(rules)

    def answer(request: Request) -> Reply:
        for place, rule in enumerate(rules):
            if (not rule.times or used[place] < rule.times) and rule.when(request):
                used[place] += 1
                return rule.reply
        raise Exhausted(f"no rule fits: {request.last[-200:]}")

    return answer


class _Entry(BaseModel):
    """One rule of a script file. Exactly one of `say`, `run` and `fail` is its answer.

    Attributes:
        when: texts that must all occur in the request.
        unless: texts of which none may occur.
        last: texts that must all occur in the last message.
        tools: True for attempts alone, False for reflections alone.
        model: the model asked for.
        times: how often the rule answers; 0 is without end.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    tools: bool | None = None
    model: str = ""
    times: int = Field(default=1, ge=0)
    say: str | None = None
    run: tuple[str, ...] | None = None
    manifest: str = ""
    fail: int | None = None
    tokens: Tokens = Field(default_factory=Tokens)

    @model_validator(mode="after")
    def _one_answer(self) -> _Entry:
        if sum(answer is not None for answer in (self.say, self.run, self.fail)) != 1:
            raise ValueError("write exactly one of say, run and fail")
        return self

    def holds(self, request: Request) -> bool:
        return (
            all(text in request.text for text in self.when)
            and not any(text in request.text for text in self.unless)
            and all(text in request.last for text in self.last)
            and (self.tools is None or self.tools == request.has_tools)
            and self.model in ("", request.model)
        )

    def reply(self) -> Reply:
        if self.fail is not None:
            return Failure(self.fail)
        if self.run is not None:
            return run(*self.run, manifest=self.manifest, tokens=self.tokens)
        return say(self.say or "", tokens=self.tokens)


_FILE = TypeAdapter(tuple[_Entry, ...])


def load(path: Path) -> Script:
    """A script from a YAML file: a list of rules, the first that fits and is not used up answers.

    Raises pydantic.ValidationError naming the rule.
    """
    entries = _FILE.validate_python(yaml.safe_load(path.read_text("utf-8")))
    return first_match(*(Rule(entry.holds, entry.reply(), entry.times) for entry in entries))
