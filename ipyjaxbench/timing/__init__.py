"""Times one piece of code: first call, steady state, and what may mislead."""
