"""What to write instead, found by what the failing line is."""
