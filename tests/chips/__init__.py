"""Run where compilers of chips are installed, each by itself and not beside JAX.

``JAX_PLATFORMS=cpu PYTHONPATH=FOLDER python -m pytest tests/chips/test_tpus.py`` with libtpu in the
folder; ``tests/chips/test_gpus.py`` with jax-cuda12-plugin and jax-cuda12-pjrt of JAX's version.
"""
