"""Traced or cached, in JAX."""

from collections.abc import Callable

import jax

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.retracing.call_watch import JaxCallWatch
from ipyjaxbench.adapters.jax.retracing.listener import Learner
from ipyjaxbench.retracing.cache_key import CacheMiss
from ipyjaxbench.retracing.protocol import CallWatch, Retracing


class JaxRetracing(Retracing):
    """Events of `jax.monitoring`, and the frames of JAX that take calls."""

    def call_watch(self) -> CallWatch:
        """Events of `jax.monitoring`, one call at a time."""
        return JaxCallWatch()

    def is_tracing(self, args: object) -> bool:
        """Whether one of them is a tracer."""
        return any(isinstance(leaf, jax.core.Tracer) for leaf in trees.leaves(args))

    def listen(self, on_miss: Callable[[CacheMiss], None]) -> bool:
        """From the frames of JAX that take calls which were not traced before."""
        self._learner = Learner(on_miss)
        return True
