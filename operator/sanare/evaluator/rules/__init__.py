"""What tells a false repair from a right one. `false_repairs` has the rules in the order in which they decide."""
