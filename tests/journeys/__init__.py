"""What users live through with the operator, as code that runs against the embedded and against a real cluster."""
