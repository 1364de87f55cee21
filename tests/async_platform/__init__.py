"""JAX on a platform that is not the host's and works in the background, as GPUs and TPUs do.

XLA's client for CPUs stands for it, as a plugin: four devices named "fake" beside the host's own.
It needs Python 3.12, jax 0.11.2 and lammps-jax-pjrt-cpu 0.11.2:
``python -m tests.matrix --only asynchronous``.
"""
