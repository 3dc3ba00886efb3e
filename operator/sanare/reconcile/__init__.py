"""Reconciling: one pass fetches an Incident, decides its next step and does it. One module per kind of step."""
