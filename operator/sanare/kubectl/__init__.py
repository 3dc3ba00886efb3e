"""The guarded kubectl: argv screen, subprocess runner, and the gate that decides every API request."""
