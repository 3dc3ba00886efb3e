"""Evaluation: the page that says what the evaluator and the runbook did over all scenarios, on two clusters."""
