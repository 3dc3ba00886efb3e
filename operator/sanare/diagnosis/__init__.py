"""Analyzers: pure functions from a snapshot to findings. Evidence for a model, candidates for the runbook."""
