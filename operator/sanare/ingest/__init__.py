"""Alertmanager's webhook: alerts in, Incidents out. What an alert says is untrusted text."""
