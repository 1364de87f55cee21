"""Backward passes, which are compiled when they first run: what they belong to, and for how long.

AOTAutograd keeps dynamo's context of a forward pass with it and compiles the backward pass within
that context (both private). What is known of the forward pass stands with the context, weakly.
"""

import sys
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch._guards

from ipyjaxbench.adapters.shared.retracing import cache_miss, main_frame
from ipyjaxbench.adapters.torch.retracing import told_programs
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import UNNAMED, is_private
from ipyjaxbench.host import Clock
from ipyjaxbench.retracing import TRACE_LOG, Change, Signature

_TRIGGER = "LAZY_BACKWARD"
_WHY = (Change("first", new="first backward pass"),)


class _Forward(NamedTuple):
    """A compiled forward pass: its name, its position in the log of traces, and if it is ours."""

    name: str
    position: int
    is_private: bool


_forwards: WeakKeyDictionary[Any, _Forward] = WeakKeyDictionary()


def _context() -> Any:
    return getattr(torch._guards.CompileContext, "try_get", lambda: None)()


def keep_forward(name: str) -> None:
    """Keep what is compiled now, from within dynamo's hook, for its backward pass."""
    context = _context()
    if context is not None:
        _forwards[context] = _Forward(name, TRACE_LOG.event_count, is_private())
    listen()


def keep_told(*, backward: bool = False, told: bool) -> None:
    """Keep whether the log of traces tells of what is compiled now."""
    context = _context()
    if context is not None:
        told_programs.keep_told(context.compile_id, backward=backward, told=told)


def listen() -> None:
    """Report backward passes from now on; `torch._dynamo.reset` stops that."""
    _BACKWARD.listen()


def forward_name(number: object) -> str:
    """Return the name of a forward pass by dynamo's number of it, while the program is kept."""
    kept = reversed([*_forwards.items()])  # dynamo counts anew after `torch._dynamo.reset`
    names = (each.name for context, each in kept if str(context.compile_id) == str(number))
    return next(names, UNNAMED)


class _Backward:
    """Reports backward passes, by dynamo's callbacks at the begin and end of compilations."""

    def __init__(self) -> None:
        self._clock = Clock.elapsed()
        self._begun: int | None = None

    def listen(self) -> None:
        """Have dynamo call, if it does not do so yet."""
        module: Any = sys.modules.get("torch._dynamo.callback")
        handler = getattr(module, "callback_handler", None)
        for name, callback in (("start", self._on_start), ("end", self._on_end)):
            callbacks = getattr(handler, f"{name}_callbacks", None)
            if isinstance(callbacks, list) and callback not in callbacks:
                callbacks.append(callback)

    def _on_start(self, *events: Any) -> None:  # none is given before 2.7
        triggers = (getattr(each, "callback_trigger", None) for each in events)
        is_backward = any(getattr(each, "name", "") == _TRIGGER for each in triggers)
        self._begun = self._clock.now() if is_backward else None

    def _on_end(self, *_: Any) -> None:
        begun, self._begun = self._begun, None
        if begun is not None:
            try:
                self._report((self._clock.now() - begun) * 1e-9)
            except CODE_ERRORS:  # what is raised here would stop the user's call
                return

    def _report(self, seconds: float) -> None:
        forward = _forwards.get(_context()) or _Forward(UNNAMED, 0, is_private=False)
        if forward.is_private:
            return
        miss = cache_miss(
            f"{forward.name} backward", Signature({}), sys._getframe(2), main_frame(),
            placed=True, fallback_reasons=_WHY,
        )  # fmt: skip
        miss.phases["compile"] = seconds
        TRACE_LOG.record_part("torch", miss, of=forward.position)
        keep_told(backward=True, told=TRACE_LOG.tells(forward.position))


_BACKWARD = _Backward()
