"""Traced or cached, in JAX."""
