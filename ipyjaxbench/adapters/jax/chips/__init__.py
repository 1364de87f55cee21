"""Estimates of chips that are not here, by their compilers."""
