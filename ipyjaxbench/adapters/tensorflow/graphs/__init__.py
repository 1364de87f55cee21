"""Programs of calls, in TensorFlow."""
