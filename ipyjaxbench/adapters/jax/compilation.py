"""What `jax.jit` and compiling ahead of time make, and one cold call of that."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import MethodType
from typing import Any

import jax
from jax._src import config

from ipyjaxbench.adapters.jax.compile_events import Events
from ipyjaxbench.adapters.jax.graphs.compiled_work import Works, known_program
from ipyjaxbench.adapters.jax.own_work import no_disk_cache
from ipyjaxbench.adapters.jax.placement import device_name
from ipyjaxbench.device import DeviceInventory
from ipyjaxbench.frameworks import ColdCall, Compilation, Framework, Work
from ipyjaxbench.usercode import attribute, is_of

#: No user has these numbers, and each call gets one of its own.
_keys = itertools.count(1_618_033)
_AHEAD = "functions compiled ahead of time were not recompiled"
#: Functions whose traces JAX keeps because `%jaxpr` showed their programs.
INSPECTED: set[str] = set()
#: Of `jax.stages.Wrapped`, which would ask an object itself for them.
_METHODS = [name for name in ("lower", "trace", "__call__") if hasattr(jax.stages.Wrapped, name)]
_NONE = object()


def is_jitted(thing: Any) -> bool:
    """Whether `jax.jit` made it, or what has its methods, as Flax's; a method of it counts."""
    thing = thing.__func__ if is_of(thing, MethodType) else thing
    return all(attribute(thing, name, _NONE) is not _NONE for name in _METHODS)


class JaxCompilation(Compilation):
    """`jax.jit` and programs compiled ahead of time."""

    builders = (
        (jax.jit, ""),
        (jax.pmap, ""),
        *((f, "jax.jit") for f in (jax.vmap, jax.grad, jax.value_and_grad)),
        *((f, "jax.jit") for f in (jax.jacfwd, jax.jacrev, jax.hessian, jax.checkpoint)),
    )

    def __init__(self, framework: Framework) -> None:
        super().__init__(framework)
        devices = partial(framework.capability, DeviceInventory)
        self._works = Works(lambda device: devices().probe(device_name(device)))

    def compiles(self, value: object) -> bool:
        """Whether it is the result of `jax.jit`, or a program compiled ahead of time."""
        return is_jitted(value) or is_of(value, jax.stages.Compiled)

    def is_off(self) -> bool:
        """Whether `jax.disable_jit` is in use."""
        return bool(jax.config.jax_disable_jit)

    def original(self, function: object) -> object | None:
        """Return what `jax.jit` was given."""
        return getattr(function, "__wrapped__", None) if self.compiles(function) else None

    def donates(self, function: Any) -> bool:
        """Whether the function was jitted with donated arguments, as far as is known."""
        if is_of(function, jax.stages.Compiled):
            return any(leaf.donated for leaf in jax.tree.leaves(function.args_info))
        if not self.compiles(function):
            return False
        info = getattr(function, "_jit_info", None)
        if info is None:  # before 0.5 nothing tells: it may
            return True
        return bool(info.donate_argnums or info.donate_argnames)

    def watch(self, functions: Sequence[object]) -> Events:  # noqa: ARG002
        """Listen to `jax.monitoring`."""
        return Events(INSPECTED)

    @contextmanager
    def cold_call(
        self, named: Mapping[str, object], unnamed: Sequence[object]
    ) -> Iterator[ColdCall]:
        """Let all that this thread calls be traced and compiled anew, eager operations too.

        `jax.clear_caches` would take the user's programs away.
        """
        functions = [*named.values(), *unnamed]
        caveats = [_AHEAD] if any(isinstance(f, jax.stages.Compiled) for f in functions) else []
        anew = unused_key()
        if anew is None:
            yield ColdCall(caveats=[*caveats, "JAX's in-memory caches stayed in use"])
            return
        with anew(), no_disk_cache() as is_unused:
            used = [] if is_unused else ["the disk cache stayed in use"]
            yield ColdCall(caveats=[*caveats, *used], resume=anew)

    def work(
        self, function: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Work | None:
        """Read the jaxpr and the executable that the function has for these arguments."""
        if not is_jitted(function) or self.is_off():
            return None
        return self._works.find_work(function, args, kwargs)

    def autotuned(
        self, function: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Mapping[str, int]:
        """Read what XLA chose for the executable that the function has for these arguments."""
        text = self.compiled_text(function, args, kwargs)
        if text is None:
            return {}
        from ipyjaxbench.adapters.jax.graphs.autotuning import autotuned_kernels

        return autotuned_kernels(text)

    def compiled_text(
        self, function: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> str | None:
        """Read the text of the executable that the function has for these arguments."""
        if not is_jitted(function) or jax.config.jax_disable_jit:
            return None
        program = known_program(function, args, kwargs)
        text = None if program is None else program[1].as_text()
        from ipyjaxbench.adapters.shared import hlo

        return None if text is None else hlo.readable(text)


def unused_key() -> Callable[[], AbstractContextManager[Any]] | None:
    """Return a context in which JAX finds nothing that it has traced or compiled outside of it.

    The number of profiling runs is part of every key under which JAX keeps a program, in Python
    and in C++, and is read only where profile-guided compilation is on. With another number nothing
    is found, and with the user's own all that was there before is found again.

    Returns:
        A function that gives the context, and the same one each time; None where there is none.
    """
    number: Any = getattr(config, "pgle_profiling_runs", None)
    guided: Any = getattr(config, "enable_pgle", None)
    if number is None or guided is None or guided.value:
        return None
    return partial(number, next(_keys))
