"""Traced or cached, in PyTorch."""
