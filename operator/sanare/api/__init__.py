"""The API of sanare.dev/v1alpha1: what people write, what the operator answers. Data only, no I/O."""
