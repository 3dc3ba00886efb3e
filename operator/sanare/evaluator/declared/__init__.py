"""Checks that people declare, in `spec.checks` of an Incident and in `spec.verify.checks` of a policy.

Rollouts and endpoints are judged from the snapshot. Everything else is asked by `asker`, one module for each way of
asking, and each judges its evidence in a pure function. A check that could not be asked is unknown, never healthy.
"""
