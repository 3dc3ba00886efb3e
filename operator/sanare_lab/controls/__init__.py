"""Controls: every scenario's repairs applied to a cluster, and the evaluator held to what it must say of each."""
