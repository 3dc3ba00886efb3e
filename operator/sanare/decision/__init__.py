"""Pure decisions: functions of (status, policy, verdict, now). No I/O, no clock, no randomness."""
