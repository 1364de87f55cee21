"""What this package does with JAX besides the user's calls, and leaves no trace of."""

import functools
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import jax
from jax._src import compilation_cache, config, source_info_util

from ipyjaxbench.usercode import PACKAGE, unlogged


@contextmanager
def quiet_log() -> Iterator[None]:
    """Log nothing of what is traced and compiled meanwhile, whatever the user has turned on."""
    with jax.log_compiles(False), jax.explain_cache_misses(False):  # noqa: FBT003
        yield


@contextmanager
def own_settings() -> Iterator[None]:
    """Compile and run what is ours whatever the user has set; JAX's log and disk cache lack it."""
    with (
        jax.transfer_guard("allow"),
        jax.disable_jit(disable=False),
        _no_mesh(),
        unlogged(),
        no_disk_cache(),
    ):
        yield


def _no_mesh() -> AbstractContextManager[object]:
    """Unset the mesh of `jax.set_mesh`, on whose devices all programs run; since JAX 0.6."""
    is_set = hasattr(jax, "set_mesh") and not jax.sharding.get_abstract_mesh().empty
    return jax.set_mesh(None) if is_set else nullcontext()


@contextmanager
def no_disk_cache() -> Iterator[bool]:
    """Neither read nor write JAX's disk cache meanwhile; yields whether that worked.

    JAX decides once whether the cache is in use, and asks the option only then: that decision is
    private, so it is put back exactly as it was.
    """
    module: Any = compilation_cache
    decided = ("_cache_checked", "_cache_used")
    lock = getattr(module, "_cache_initialized_mutex", None)
    if lock is None or any(name not in vars(module) for name in decided):
        yield getattr(jax.config, "jax_compilation_cache_dir", None) is None
        return
    with lock:
        before = {name: vars(module)[name] for name in decided}
        vars(module).update(_cache_checked=True, _cache_used=False)
    try:
        with config.enable_compilation_cache(new_val=False):  # XLA's own caches ask for it
            yield True
    finally:
        with lock:
            vars(module).update(before)


@functools.cache
def hide_our_lines() -> None:
    """Have JAX take no line of ours for the user's; `jax.extend`, which has it too, loads much."""
    register = getattr(source_info_util, "register_exclusion", None)
    if register is not None:
        register(PACKAGE)
