"""The adapter of JAX, and its parts."""

from ipyjaxbench.adapters.jax.framework import Jax as Jax
