"""Keeps the signatures with which functions are compiled when nobody looks at the calls."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from traceback import walk_stack
from types import FrameType
from typing import Any, NamedTuple

import torch

from ipyjaxbench.adapters.torch.graphs.program import is_outside_torch
from ipyjaxbench.adapters.torch.retracing import cache_key, callee, guards
from ipyjaxbench.adapters.torch.retracing.call_watch import TorchCallWatch
from ipyjaxbench.adapters.torch.retracing.callee import Entered
from ipyjaxbench.graphs import line_of
from ipyjaxbench.host import Clock
from ipyjaxbench.retracing import CacheMiss, CallWatch, Retracing

#: Names in dynamo's record of times: all of a backend, and inductor in it.
_BACKEND, _INDUCTOR = "OutputGraph.call_user_compiler", "compile_fx_inner"
_CALENDAR = Clock.calendar()
_DYNAMO = ("/_dynamo/convert_frame.py", "/torch/_utils_internal.py", "/contextlib.py",
           "/_dynamo/bytecode_transformation.py")  # fmt: skip


def _listen(learn: Callable[[CacheMiss], None]) -> bool:
    """Tell of each compilation from now on; cached calls are free.

    Args:
        learn: gets each call that was compiled.

    Returns:
        Whether dynamo is there and has a hook for it (private); it is not loaded for this.
    """
    # Unlike dynamo's callbacks this hook outlives `torch._dynamo.reset`.
    convert: Any = sys.modules.get("torch._dynamo.convert_frame")
    register = getattr(convert, "register_bytecode_hook", None)
    if register is None:
        return False
    register(_Learner(learn).compiled)
    return True


class _Root(NamedTuple):
    """A call that was compiled last: the frame that makes it, and what was told of it."""

    frame: int
    miss: CacheMiss


class _Learner:
    def __init__(self, learn: Callable[[CacheMiss], None]) -> None:
        self._learn = learn
        self._root: _Root | None = None
        self._told = (0.0, 0.0)  # seconds of backends and of inductor that are accounted for

    def compiled(self, *_: object) -> None:
        """Dynamo has made the code of a frame: its backend is through, the rest is near its end."""
        with suppress(Exception):  # what is raised here would stop the user's call
            frame = sys._getframe(1)
            spent = _spent(_BACKEND), _spent(_INDUCTOR)
            miss = self._of(frame)
            backend, inductor = (
                max(new - old, 0.0) for new, old in zip(spent, self._told, strict=True)
            )
            self._told = spent
            if miss is not None:
                _add(miss.phases, _whole(frame), backend, inductor)

    def _of(self, frame: FrameType) -> CacheMiss | None:
        """The call that is compiled; that of the whole function for what is behind a break."""
        caller = _caller(frame)
        call = callee.called_from(caller) if caller is not None else None
        called = Entered.of(*call) if call is not None else None
        if caller is None or call is None or called is None:
            above = {id(each) for each, _ in walk_stack(caller)} if caller else set()
            return self._root.miss if self._root and self._root.frame in above else None
        file, line = next(_users(caller), ("", 0))
        name, signature = callee.name_of(call[0]), cache_key.signature(called)
        reasons = tuple(guard.change for guard in guards.failing(called)[:1])
        miss = CacheMiss(name, signature, placed=False, line=line, text=line_of(file, line),
                    fallback_reasons=reasons)  # fmt: skip
        self._root = _Root(id(caller), miss)
        self._learn(miss)
        return miss


def _add(phases: dict[str, float], whole: float, backend: float, inductor: float) -> None:
    backend = min(max(backend, 0.0), whole)  # `torch._dynamo.reset` empties the record
    inductor = min(max(inductor, 0.0), backend)
    found = {"trace": whole - backend, "lower": backend - inductor, "compile": inductor}
    for phase, seconds in found.items():
        if seconds > 0:
            phases[phase] = phases.get(phase, 0.0) + seconds


def _whole(frame: FrameType) -> float:
    """Seconds since dynamo began with a frame, as its own variable tells; 0 if there is none."""
    for each, _ in walk_stack(frame):
        start = each.f_locals.get("start_time_ns") if each.f_code.co_name == "_compile" else None
        if isinstance(start, int):
            return max(_CALENDAR.now() - start, 0) * 1e-9
    return 0.0


def _spent(name: str) -> float:
    utils: Any = sys.modules.get("torch._dynamo.utils")
    return float(sum(getattr(utils, "compilation_time_metrics", {}).get(name, ())))


def _caller(frame: FrameType) -> FrameType | None:
    """The frame that called what dynamo compiles."""
    return next(
        (f for f, _ in walk_stack(frame) if not f.f_code.co_filename.endswith(_DYNAMO)), None
    )


def _users(frame: FrameType) -> Iterator[tuple[str, int]]:
    """Files and lines of the user's code above a frame, the nearest first."""
    for each, line in walk_stack(frame):
        if is_outside_torch(each.f_code.co_filename):
            yield each.f_code.co_filename, line


class TorchRetracing(Retracing):
    """Dynamo's hooks."""

    def call_watch(self) -> CallWatch:
        """Dynamo's hooks, one call at a time."""
        return TorchCallWatch(self.framework.drain)

    def is_tracing(self, args: object) -> bool:  # noqa: ARG002
        """Whether dynamo, `torch.export` or `torch.jit.trace` is at work."""
        return bool(torch.compiler.is_compiling() or torch.jit.is_tracing())

    def listen(self, on_miss: Callable[[CacheMiss], None]) -> bool:
        """From a hook of dynamo, which is there with the first `torch.compile`, not before."""
        return _listen(on_miss)
