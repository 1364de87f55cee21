"""Adapters to frameworks; each is loaded by name when its framework is in play."""
