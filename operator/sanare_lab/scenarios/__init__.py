"""Scenarios: broken applications as data, each with controls that prove the judge. Format: docs/scenarios.md."""
