"""What PyTorch does in each call of a function that torch.compile made."""

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any, NamedTuple

from ipyjaxbench.adapters.torch.compile_events import DynamoEvents, is_loaded, resumed, spell
from ipyjaxbench.adapters.torch.retracing import cache_key, callee, guards
from ipyjaxbench.adapters.torch.retracing.advice import fixes
from ipyjaxbench.adapters.torch.retracing.callee import Entered
from ipyjaxbench.adapters.torch.retracing.guards import Guard
from ipyjaxbench.frameworks import UNNAMED, Program
from ipyjaxbench.retracing import CallWatch, Change, Outcome, Signature

#: Stances in which nothing is compiled (`torch.compiler.set_stance`).
_STANCES = ("force_eager", "eager_on_recompile")
#: Names of the setting, the newest first.
_LIMITS = ("recompile_limit", "cache_size_limit")
_UNABLE = "Python runs all of it"


class Mark(NamedTuple):
    """Positions among the events before a call."""

    looks: int
    entries: int


class TorchCallWatch(CallWatch):
    """Dynamo's own hook for programs that it looks for, and its record of those that it makes.

    Args:
        wait: waits for everything that devices were given.
    """

    compiles_code = True
    prints_while_tracing = False

    def __init__(self, wait: Callable[[], object]) -> None:
        self._wait = wait
        self._events = DynamoEvents(self._missed)
        self._owned: set[int] = set()  # positions of entries that belong to a call
        self._failed: list[Guard] = []  # of the call that goes on
        self._names: dict[object, str] = {}  # of what was compiled, as the user calls it

    def __enter__(self) -> "TorchCallWatch":
        self._events.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._events.__exit__(*error)

    def takes(self, function: Any) -> bool:
        """What torch.compile made, `module.compile` changed, or `torch.compiler.disable` made."""
        return callee.takes(function)

    def name(self, function: Any) -> str:
        """The name of what was compiled."""
        return callee.name_of(function)

    def before(self, function: Any) -> Mark:  # noqa: ARG002
        """Return positions among the events so far."""
        self._events.open()
        self._failed.clear()
        return Mark(len(self._looks()), len(self._events.read()))

    def after(self, function: Any, mark: Mark) -> Outcome | None:
        """Whether each look found its program; what was compiled where one did not."""
        thread, looks = threading.get_ident(), self._looks()
        hits = looks[mark.looks :]
        del looks[mark.looks :]
        new = []
        for position, (where, entry) in enumerate(
            self._events.read()[mark.entries :], mark.entries
        ):
            if where in (None, thread):
                self._owned.add(position)
                new.append(entry)
        if not new and hits and all(hits):
            return None
        return self._outcome(function, new, hits)

    def _looks(self) -> list[bool]:
        """Those of this thread; of no use where PyTorch does not tell of them."""
        looks = self._events.looks
        return [] if looks is None else looks[threading.get_ident()]

    def _outcome(self, function: Any, new: Sequence[Any], hits: Sequence[bool]) -> Outcome:
        frames = [entry for entry in new if getattr(entry, "co_name", None)]
        if any(_of(entry, "graph_op_count") is not None for entry in frames):
            return self._compiled(function, new, frames, hits)
        if switched_off := _switched_off(function):
            return Outcome("BYPASSED", why=(Change("guard", new=switched_off),))
        phases = _phases(new)
        reasons = [str(_of(entry, "fail_reason") or "") for entry in new]
        is_full = any(_is_limit(reason) for reason in reasons)
        if is_full or (hits and not all(hits) and not new):
            return Outcome("EAGER-FALLBACK", phases, why=tuple(self._why_full(new)))
        if new:
            return Outcome("EAGER-FALLBACK", phases, why=(_unable(reasons[0]),))
        if self._events.looks is None:
            return Outcome("?")
        why = f"{_UNABLE}: PyTorch found nothing in it to compile"
        return Outcome("EAGER-FALLBACK", why=(Change("guard", new=why),))

    def _compiled(
        self, function: Any, new: Sequence[Any], frames: Sequence[Any], hits: Sequence[bool]
    ) -> Outcome:
        first, *more = frames
        is_there = bool(hits) and hits[0]  # what is compiled is the rest of it, or what it calls
        if not is_there:
            self._names[_of(first, "compile_id")] = self.name(function)
        is_first = not is_there and not _of(first, "cache_size")
        made = [entry for entry in frames if _of(entry, "graph_op_count")]
        is_whole = _of(first, "fail_type") is None
        breaks = max(len(made) - 1, 0 if is_whole else 1) if is_first else 0
        phases = _phases(new)
        is_loaded = "cache load" in phases and "compile" not in phases
        told = _of(first, "recompile_reason")
        failed = self._failed or ([guards.read(told)] if told else [])
        changes = tuple(dict.fromkeys(guard.change for guard in failed))
        if is_there and not changes:
            changes = (Change("guard", new=f"{_name(first)} did not run before"),)
        is_known = any(guard.is_in_signature for guard in failed)
        return Outcome(
            state="BREAK" if breaks else "DISK" if is_loaded else "TRACED",
            phases=phases,
            nested=tuple(_nested(self.name(function), frames if is_there else more)),
            breaks=breaks,
            why=() if is_known else changes[:1],
            fallback_reasons=changes[:1],
        )

    def _missed(self, frame: FrameType) -> None:
        """Dynamo found no program: why not, while its arguments are as they were."""
        if self._failed:
            return  # the rest of a function behind a break
        call = callee.called_from(frame)
        called = Entered.of(*call) if call is not None else None
        if called is not None:
            self._failed += guards.failing(called)

    def _why_full(self, new: Sequence[Any]) -> Iterator[Change]:
        yield Change("guard", "limit", new=f"the recompile limit of {_limit()} is reached")
        told = [guard.change for guard in self._failed] or [
            guards.read(reason).change for e in new if (reason := _of(e, "recompile_reason"))
        ]
        yield from told[:1]

    def signature(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Signature:
        """Of the arguments, of what the function closes over, and of plain globals it names."""
        called = Entered.of(function, args, kwargs)
        return cache_key.signature(called) if called is not None else Signature({})

    def predicts(
        self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> bool | None:
        """Asked of the conditions of each program that is there."""
        called = Entered.of(function, args, kwargs)
        if called is None or _switched_off(function):
            return None
        misses = guards.would_miss(called)
        is_full = len(callee.entries(called.code)) >= _limit()  # then it would run uncompiled
        return None if misses and is_full else misses

    def wait(self, value: object) -> None:  # noqa: ARG002
        """Wait for all devices: a tensor does not tell when it is ready."""
        self._wait()

    def fixes(self, name: str, why: Sequence[Change]) -> tuple[str, ...]:
        """What to write, by what changed."""
        return fixes(name, why)

    def outside(self) -> tuple[Program, ...]:
        """Backward passes, and functions that were called from code that is not looked into."""
        entries = [entry for _, entry in self._events.read()]
        names = {_of(e, "compile_id"): _name(e) for e in entries if _of(e, "co_name")}
        names |= self._names
        others = (e for position, e in enumerate(entries) if position not in self._owned)
        return tuple(
            Program(name, sum(_phases([e]).values()), "compiled", "torch")
            for e in others
            for whose in [names.get(_of(e, "compile_id"), UNNAMED)]
            for name in [whose if _of(e, "co_name") else f"{whose} backward"]
        )


def _dynamo(name: str) -> Any:
    """A module of dynamo; None until the first torch.compile."""
    return sys.modules.get(f"torch._dynamo.{name}")


def _of(entry: Any, name: str) -> Any:
    return getattr(entry, name, None)


def _switched_off(function: Any) -> str:
    """Why nothing is compiled, in words; empty where it is."""
    stance = str(getattr(getattr(_dynamo("eval_frame"), "_stance", None), "stance", ""))
    if callee.is_disabled(function):
        return "torch.compiler.disable"
    if getattr(_dynamo("config"), "disable", False):
        return "torch._dynamo.config.disable"
    return f"torch.compiler.set_stance({stance!r})" if stance in _STANCES else ""


def _limit() -> int:
    config = _dynamo("config")
    return next((int(getattr(config, n)) for n in _LIMITS if hasattr(config, n)), 0)


def _is_limit(reason: str) -> bool:
    return "recompile limit" in reason or "cache size limit" in reason


def _unable(reason: str) -> Change:
    from ipyjaxbench.adapters.torch.graphs.dynamo import describe_break

    words = describe_break(reason) if reason else "nothing in it can be compiled"
    return Change("guard", new=f"{_UNABLE}: {words}")


def _phases(new: Sequence[Any]) -> dict[str, float]:
    """Times lie inside of each other: the frame, its backend, inductor."""
    spent = dict.fromkeys(("trace", "lower", "compile", "cache load"), 0.0)
    for entry in new:
        whole, backend, inductor, backward = (
            (_of(entry, f"{name}_cumulative_compile_time_us") or 0) * 1e-6
            for name in ("dynamo", "aot_autograd", "inductor", "backward")
        )
        backend, inductor = min(backend, whole), min(inductor, backend, whole)
        spent["trace"] += whole - backend
        if is_loaded(entry):
            spent["cache load"] += backend
        else:
            spent["lower"] += backend - inductor
            spent["compile"] += inductor + (backward if not whole else 0.0)
    return {phase: seconds for phase, seconds in spent.items() if seconds > 0}


def _name(entry: Any) -> str:
    return spell(str(_of(entry, "co_name") or UNNAMED))


def _nested(root: str, frames: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """Frames that were compiled apart: the rest of a function stands under that function."""
    depths = {root: 0}
    for entry in frames:
        rest = resumed(str(entry.co_name))
        depth = depths.get(rest[0], 0) + 1 if rest else 1
        depths.setdefault(str(entry.co_name), depth)
        yield depth, _name(entry)
