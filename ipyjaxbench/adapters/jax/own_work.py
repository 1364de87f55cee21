"""What this package does with JAX besides the user's calls: it is not in the user's log."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager

import jax
from jax._src import source_info_util

from ipyjaxbench.usercode import PACKAGE


@contextmanager
def quiet_log() -> Iterator[None]:
    """Log nothing of what is traced and compiled meanwhile, whatever the user has turned on."""
    with jax.log_compiles(False), jax.explain_cache_misses(False):  # noqa: FBT003
        yield


@functools.cache
def hide_our_lines() -> None:
    """Have JAX take no line of ours for the user's; `jax.extend`, which has it too, loads much."""
    register = getattr(source_info_util, "register_exclusion", None)
    if register is not None:
        register(PACKAGE)
