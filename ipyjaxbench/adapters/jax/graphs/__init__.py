"""Programs of calls, in JAX."""
