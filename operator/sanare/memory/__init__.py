"""What an Incident remembers: lessons for its next attempt, and the audit chain for people."""
