"""Actors: who repairs. One protocol, two of them: `llm` (the Messages API) and `runbook` (deterministic)."""
