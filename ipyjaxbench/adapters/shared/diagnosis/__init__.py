"""Source code that is changed, run to see whether it traces, and shown, for each framework."""
