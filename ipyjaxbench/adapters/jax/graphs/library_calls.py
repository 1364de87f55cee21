"""The calls of a vendor's libraries in a compiled program, whose FLOP XLA does not count."""

import re
from collections import Counter

from ipyjaxbench.adapters.jax.chips.gpu_kernels import kernels_in
from ipyjaxbench.graphs import LibraryCalls

_LIBRARY = re.compile(r"__([a-z][\w$]*)")


def library_calls(text: str) -> tuple[LibraryCalls, ...]:
    r"""Return the calls of each function of a library in an optimized program's text.

    In a loop they count as often as it turns, where XLA knows that.

    Example:
        >>> text = 'ENTRY %main (p: f32[4]) -> f32[4] {\n  %p = f32[4] parameter(0)\n  ROOT %q ='
        >>> library_calls(text + ' f32[4] custom-call(%p), custom_call_target="__cub$sort"\n}')
        (LibraryCalls(name='cub sort', times=1, flops=0.0),)
    """
    times: Counter[str] = Counter()
    flops: Counter[str] = Counter()
    for kernel in kernels_in(text)[0]:
        if name := spell_library(kernel.library):
            times[name] += kernel.times
            flops[name] += int(kernel.times * sum(kernel.flops.values()))
    return tuple(LibraryCalls(name, count, float(flops[name])) for name, count in times.items())


def spell_library(target: str) -> str:
    """Return how a function of a library is called; "" for what is none.

    Example:
        >>> spell_library("__cublas$lt$matmul"), spell_library("Sharding")
        ('cublas matmul', '')
    """
    match = _LIBRARY.fullmatch(target)
    return " ".join(part for part in match[1].split("$") if part != "lt") if match else ""
