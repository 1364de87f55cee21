"""Run where libtpu is installed: ``JAX_PLATFORMS=cpu python -m pytest tests/tpu``."""
