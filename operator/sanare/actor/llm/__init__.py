"""The model's side of sanare, and the only importer of its SDK: the actor, its reflections, and the one door.

actor ──> meter ──> service ──> Messages API        reserve, call, count, keep; then act on the reply
  │ repeats (what was asked already)   trim (what of an answer the model reads)
  └ conversation (what is sent)        briefing (the first message)     reflector (one call after a failure)
"""

from sanare.actor.llm.actor import LlmActor
from sanare.actor.llm.reflector import Reflector
from sanare.actor.llm.service import Service

__all__ = ["LlmActor", "Reflector", "Service"]
