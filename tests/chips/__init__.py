"""Run where compilers of chips are installed, each by itself and not beside JAX.

``python -m tests.matrix --only compiler`` puts libtpu, and jax-cuda12-plugin with jax-cuda12-pjrt
of JAX's version, into folders of their own.
"""
