"""Scenarios: broken applications as data, each with the controls that prove its judge. Format: docs/scenarios.md."""
