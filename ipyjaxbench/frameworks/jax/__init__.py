"""The adapter of JAX, and its parts."""

from ipyjaxbench.frameworks.jax.adapter import Jax as Jax
