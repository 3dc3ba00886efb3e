"""What evaluates sanare: an embedded cluster, scenarios with their controls, a scripted model."""
