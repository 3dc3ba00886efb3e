"""Sanare heals Kubernetes incidents; a deterministic evaluator decides what is fixed."""

__version__ = "0.1.0"
