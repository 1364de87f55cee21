"""The user's code: read, run, watched, and what of it is the user's at all."""
