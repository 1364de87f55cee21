"""Traced or cached, in TensorFlow."""
