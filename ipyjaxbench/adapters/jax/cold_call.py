"""One cold call in JAX: other keys for its caches in memory, and the disk cache left out."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
from jax._src import compilation_cache, config

from ipyjaxbench.frameworks.compilation import ColdCall

#: No user has these numbers, and each call gets one of its own.
_keys = itertools.count(1_618_033)
_AHEAD = "what was compiled ahead of time stayed as it was"


@contextmanager
def cold_call(functions: Sequence[object]) -> Iterator[ColdCall]:
    """Let all that this thread calls be traced and compiled anew, eager operations too.

    The number of profiling runs is part of every key under which JAX keeps a program, in Python
    and in C++, and is read only where profile-guided compilation is on. With another number
    nothing is found, and with the user's own all that was there before is found again.
    `jax.clear_caches` would take the user's programs away.
    """
    told = [_AHEAD] if any(isinstance(f, jax.stages.Compiled) for f in functions) else []
    number: Any = getattr(config, "pgle_profiling_runs", None)
    guided: Any = getattr(config, "enable_pgle", None)
    if number is None or guided is None or guided.value:
        yield ColdCall(caveats=[*told, "JAX's caches in memory stayed in use"])
        return
    with number(next(_keys)), no_disk_cache() as left_out:
        yield ColdCall(caveats=told if left_out else [*told, "the disk cache stayed in use"])


@contextmanager
def no_disk_cache() -> Iterator[bool]:
    """Neither read nor write the disk cache, as far as it has one; yields whether that worked.

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
