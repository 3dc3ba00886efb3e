"""The evaluator: one snapshot of the scope, pure checks over it, a verdict of three values and one sentence."""
