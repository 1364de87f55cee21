"""Settings of JAX that change what a figure means."""

import ast
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax.float64_literals import makes_doubles
from ipyjaxbench.adapters.jax.own_work import own_settings
from ipyjaxbench.adapters.jax.placement import device_name
from ipyjaxbench.reports import CHANGES_MEANING, GOOD_TO_KNOW, Note
from ipyjaxbench.timing import (
    Caveats,
    CodeFacts,
    note_narrowed,
    note_processes,
    note_setting_on,
    note_watched,
)

_SLOW_FIRST = "tracing and compiling take longer, in the first call"
_WAITS = "every result is waited for and checked before the call returns"
_OPTIONS = {
    "jax_disable_jit": (CHANGES_MEANING, "nothing is compiled, operations run one by one"),
    "jax_debug_nans": (CHANGES_MEANING, _WAITS),
    "jax_debug_infs": (CHANGES_MEANING, _WAITS),
    "jax_disable_most_optimizations": (CHANGES_MEANING, "programs are barely optimized"),
    "jax_check_tracer_leaks": (GOOD_TO_KNOW, _SLOW_FIRST),
    "jax_enable_checks": (GOOD_TO_KNOW, _SLOW_FIRST),
    "jax_log_compiles": (GOOD_TO_KNOW, _SLOW_FIRST),
    "jax_explain_cache_misses": (GOOD_TO_KNOW, _SLOW_FIRST),
}
#: What JAX makes of NumPy's types while x64 is off.
_NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}
_ONE_NUMBER = 16
_FLOATING = ("float64", "complex128")
#: Where one of these is in the code, the user has chosen a type there.
_CASTS = re.compile(
    "astype|.*dtype|(u|)int32|b?float(16|32)|complex64|[fi][24]|single|half|enable_x64"
)
_FULL_PRECISION = ("highest", "float32")


class JaxCaveats(Caveats):
    """Numbers made narrower, debugging options, several processes, rounded products."""

    def caveats(self, code: CodeFacts) -> Iterator[Note]:
        """Yield nothing before JAX has started."""
        if self.framework.started():
            yield from _stale_programs(code)
            yield from _note_narrowing(code)
            yield from _note_rounding(code)
            yield from _options()
            yield from _compiler()
            if _profiling():
                yield note_watched("jax.profiler")
            yield from _processes(code)


def _stale_programs(code: CodeFacts) -> Iterator[Note]:
    """Yield a note where a function that the code calls was traced with other values."""
    if "ipyjaxbench.retracing.trace_log" in sys.modules:  # else no trace was seen
        from ipyjaxbench.adapters.jax.retracing.call_watch import JaxCallWatch
        from ipyjaxbench.adapters.shared.stale_programs import note_stale_programs

        yield from note_stale_programs(JaxCallWatch(), code)


def _note_rounding(code: CodeFacts) -> Iterator[Note]:
    setting = jax.config.jax_default_matmul_precision
    devices = [
        device
        for device in code.devices("jax", "float32")
        if setting not in _FULL_PRECISION and (setting or not device.startswith("cpu"))
    ]
    if devices and code.multiplies and not _chooses(code):
        from ipyjaxbench.adapters.shared.matmul_precision import note_rounding

        what = f'jax_default_matmul_precision is "{setting}"' if setting else "JAX's default"
        advice = 'jax.config.update("jax_default_matmul_precision", "float32")'
        yield from note_rounding(_multiply, devices[0], what, advice, by_default=not setting)


def _multiply(device: str, left: Any, right: Any) -> Any:
    with own_settings():
        local = jax.local_devices(backend=device.partition(":")[0])
        where = next(d for d in local if device_name(d) == device)
        a, b = jax.device_put((left, right), where)
        # Compiled ahead of time: what was compiled under other settings is not used again.
        return np.asarray(jax.jit(_product).lower(a, b).compile()(a, b))


def _chooses(code: CodeFacts) -> bool:
    """Whether the code sets a precision itself, or runs a program that was compiled before."""
    by_name = any("precision" in word for word in code.words)
    return by_name or any(isinstance(f, jax.stages.Compiled) for f in code.compiled)


def _note_narrowing(code: CodeFacts) -> Iterator[Note]:
    if jax.config.jax_enable_x64:
        return
    types = {p.dtype for p in code.outputs if p.framework == "jax"}
    wide: dict[str, list[str]] = {}
    named = [p for p in code.outputs if p.name]  # a name that the code binds, and hands on
    for p in (*code.inputs, *named):
        # Integers are often indices, and matter where they are what is computed.
        counts = p.dtype in _FLOATING or types == {_NARROW.get(p.dtype)}
        counts = counts and p.nbytes > _ONE_NUMBER  # a rate or a scale is not what is computed
        if p.framework == "numpy" and p.dtype in _NARROW and types and counts:
            wide.setdefault(p.dtype, []).append(p.name)
    made = [ast.unparse(n) for n in code.given if types and makes_doubles(n, code.is_numpys)]
    if not (wide or made) or any(_CASTS.fullmatch(word) for word in code.words):
        return
    wide.setdefault("float64", []).extend(made)
    for dtype, names in wide.items():
        handed_on = [name for name in dict.fromkeys(names) if name in (*code.handed_on, *made)]
        if handed_on:
            yield note_narrowed(handed_on, dtype, _NARROW[dtype])


def _options() -> Iterator[Note]:
    for option, (mark, effect) in _OPTIONS.items():
        if getattr(jax.config, option, False):  # some are of newer versions
            advice = f'jax.config.update("{option}", False)'
            yield note_setting_on(option, effect, advice, mark=mark)


def _compiler() -> Iterator[Note]:
    """Yield notes on flags that XLA reads when it starts."""
    flags = os.environ.get("XLA_FLAGS", "")
    advice = "restart without it in XLA_FLAGS"
    if re.search(r"xla_backend_optimization_level=0\b", flags):
        setting, effect = "xla_backend_optimization_level=0", "programs are barely optimized"
        yield note_setting_on(setting, effect, advice)
    if "xla_dump_to" in flags:
        effect = "every program is written to disk, in the first call"
        yield note_setting_on("xla_dump_to", effect, advice, mark=GOOD_TO_KNOW)


def _profiling() -> bool:
    profiler: Any = sys.modules.get("jax._src.profiler")
    state = getattr(profiler, "_profile_state", None)
    # `session` from 0.12 on.
    sessions = (getattr(state, name, None) for name in ("profile_session", "session"))
    return any(session is not None for session in sessions)


def _processes(code: CodeFacts) -> Iterator[Note]:
    """Yield a note where arrays are on devices of several processes."""
    if jax.process_count() == 1:
        return
    homes = {device_name(d): d.process_index for d in jax.devices()}
    arrays = [p for p in (*code.inputs, *code.outputs) if p.framework == "jax"]
    used = {homes.get(device) for p in arrays for device in p.devices}
    if len(used) > 1:
        yield note_processes(len(used), jax.process_index())


def _product(a: jax.Array, b: jax.Array) -> jax.Array:
    return a @ b
