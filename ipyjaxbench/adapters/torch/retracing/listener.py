"""Keeps the signatures with which functions are compiled when nobody looks at the calls."""

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from traceback import walk_stack
from types import CodeType, FrameType
from typing import Any

import torch

from ipyjaxbench.adapters.shared.retracing import cache_miss
from ipyjaxbench.adapters.torch.compile_events import Times, spell, times_of
from ipyjaxbench.adapters.torch.hook_numbers import own_hook
from ipyjaxbench.adapters.torch.retracing import (
    cache_key,
    called_modules,
    callee,
    lazy_backward,
    own_code,
)
from ipyjaxbench.adapters.torch.retracing.call_watch import TorchCallWatch
from ipyjaxbench.adapters.torch.retracing.callee import Entered
from ipyjaxbench.adapters.torch.retracing.evidence import evidence
from ipyjaxbench.adapters.torch.retracing.other_threads import threads_before
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.host import Clock
from ipyjaxbench.retracing import CacheMiss, CallCompiler, CallWatch, Change, Retracing
from ipyjaxbench.usercode import token

#: Names in dynamo's record of times: all of a backend, and inductor in it.
_BACKEND, _INDUCTOR = "OutputGraph.call_user_compiler", "compile_fx_inner"
_CALENDAR = Clock.calendar()
#: PyTorch keeps both programs.
_AT_ONCE = Change("guard", new="another thread compiled the same at that time")


class _Listener:
    """Reports compilations for as long as the process lives; cached calls are free."""

    def __init__(self, on_miss: Callable[[CacheMiss], None]) -> None:
        self._on_miss = on_miss
        self._last: CacheMiss | None = None
        self._frame = 0  # the identity of the frame that makes the last call
        self._spent = (0.0, 0.0)  # seconds of backends and of inductor that are accounted for
        self._waiting: dict[int, set[int]] = {}  # threads, by token of the code that was compiled

    def on_code(self, code: CodeType, made: object) -> None:
        """Report a frame whose code dynamo has made: its backend is through, the rest nearly."""
        with suppress(*CODE_ERRORS):  # what is raised here would stop the user's call
            frame = sys._getframe(1)
            before, last = self._spent, self._last
            self._spent = sum(times_of(_BACKEND)), sum(times_of(_INDUCTOR))
            called_modules.keep_called(made, frame)
            miss = self._miss(frame, made)
            is_whole = miss is not None and miss is not last
            lazy_backward.keep_told(told=miss is not None)
            lazy_backward.keep_forward(miss.name if miss and is_whole else spell(code.co_name))
            if miss is not None:
                # `torch._dynamo.reset` empties the record: then these are negative.
                inner = (new - old for new, old in zip(self._spent, before, strict=True))
                for phase, seconds in Times(_seconds_since_begin(frame), *inner).phases().items():
                    if seconds > 0:
                        miss.phases[phase] = miss.phases.get(phase, 0.0) + seconds

    def _miss(self, frame: FrameType, made: object) -> CacheMiss | None:
        """Return the call that is compiled; for what is after a break that of the function."""
        caller = callee.caller(frame)
        call = callee.called_from(caller) if caller is not None else None
        entered = Entered.from_frame(caller) if call is not None and caller else None
        if caller is None or call is None or entered is None:
            above = {id(each) for each, _ in walk_stack(caller)} if caller else set()
            return self._last if self._frame in above else None
        callee.keep_owner(made, entered.owner)
        changes, beside, accepted = evidence(entered)
        number, thread = token(entered.code), threading.get_ident()
        is_at_once = thread in self._waiting.get(number, ())
        self._waiting[number] = threads_before(call[0])
        miss = cache_miss(
            callee.display_name(call[0]), cache_key.signature(entered), caller,
            placed=False, fallback_reasons=changes or ((_AT_ONCE,) if is_at_once else ()),
            accepted=accepted, beside=beside,
            cleared=callee.has_no_entries(entered.code) and not is_at_once,
        )  # fmt: skip
        self._last, self._frame = miss, id(caller)
        self._on_miss(miss)
        return miss


def _seconds_since_begin(frame: FrameType) -> float:
    """Return how long dynamo is at a frame, by its own variable; 0 if there is none."""
    for each, _ in walk_stack(frame):
        start = each.f_locals.get("start_time_ns") if each.f_code.co_name == "_compile" else None
        if isinstance(start, int):
            return max(_CALENDAR.now() - start, 0) * 1e-9
    return 0.0


class TorchRetracing(Retracing):
    """Dynamo's hooks."""

    def call_watch(self) -> CallWatch:
        """Return a watch by dynamo's hooks."""
        return TorchCallWatch(self.framework)

    def is_tracing(self, args: object) -> bool:  # noqa: ARG002
        """Whether dynamo, `torch.export` or `torch.jit.trace` is at work."""
        return bool(torch.compiler.is_compiling() or torch.jit.is_tracing())

    def leave_uncompiled(self, function: Callable[..., Any]) -> CallCompiler | None:
        """Have dynamo skip it."""
        return own_code.leave_uncompiled(function)

    def listen(self, on_miss: Callable[[CacheMiss], None]) -> bool:
        """Report by a hook of dynamo (private), which the first `torch.compile` loads."""
        convert: Any = sys.modules.get("torch._dynamo.convert_frame")
        register = getattr(convert, "register_bytecode_hook", None)
        if register is not None:  # unlike dynamo's callbacks it outlives `torch._dynamo.reset`
            with own_hook():
                register(_Listener(on_miss).on_code)
            lazy_backward.listen()
        return register is not None
