"""A scripted model: a server that speaks the Messages API as strictly as the real one and says what it is told.

async with ScriptedModel(sequence(run("get", "pods"), say("Done.\\nFIX COMPLETE"))) as model:
    actor = LlmActor.connect(base_url=model.url, api_key="any")
    ...
    assert "CrashLoopBackOff" in model.requests[1].text
"""

from sanare_lab.model.replies import Delayed, Failure, Message, Page, Reply, Tokens, overloaded, run, say, stop
from sanare_lab.model.request import BadRequest, Request
from sanare_lab.model.script import Exhausted, Rule, Script, always, first_match, load, sequence
from sanare_lab.model.server import ScriptedModel

__all__ = [
    "BadRequest",
    "Delayed",
    "Exhausted",
    "Failure",
    "Message",
    "Page",
    "Reply",
    "Request",
    "Rule",
    "Script",
    "ScriptedModel",
    "Tokens",
    "always",
    "first_match",
    "load",
    "overloaded",
    "run",
    "say",
    "sequence",
    "stop",
]
