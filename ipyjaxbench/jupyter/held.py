"""``%fwdevices --held`` and ``--release``: what IPython and the last error keep alive."""

from __future__ import annotations

import builtins
import gc
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from inspect import CO_OPTIMIZED
from types import FrameType, TracebackType
from typing import Any, cast

from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench.device import Held, HeldMemory, Kind, Root
from ipyjaxbench.jupyter.invocation import Invocation
from ipyjaxbench.units import count
from ipyjaxbench.usercode import errors_behind, frames_behind, is_users_file

_RELEASE = "%fwdevices --release"
_UNDERSCORES = ("_", "__", "___")


def find_held(magic: Invocation[Any]) -> Held:
    """Return what holds arrays; with ``--release`` let go of IPython's and Python's own first."""
    found = _search(magic)
    if not magic.options.release:
        return found.result()
    released = [*_release_outputs(magic.shell, found), *_release_errors(magic, found)]
    gc.collect()
    later = _search(magic)
    freed = found.freed_until(later)
    return replace(later.result(), released=tuple(released) or ("nothing",), freed=freed)


def _search(magic: Invocation[Any]) -> HeldMemory:
    shell = magic.shell
    apart = {*shell.user_ns_hidden, *_UNDERSCORES}
    names = {name: value for name, value in magic.names.items() if name not in apart}
    # A user may name the shell; PyTorch's compiler names Python's builtins.
    session = [shell, shell.user_ns, shell.user_module, vars(builtins)]
    last = _frames(_errors(magic), "traceback", "the last traceback", _RELEASE)
    return HeldMemory(names, [*_outputs(shell), *last, *_kept_errors(names)], session)


def _outputs(shell: InteractiveShell) -> Iterator[Root]:
    """Yield what IPython keeps of the results of cells."""
    history = _history(shell)
    for number, value in history.items():
        yield Root("output", f"Out[{number}]", value, _RELEASE)
    listed = {id(value) for value in history.values()}
    for name, value in _underscores(shell).items():
        if id(value) not in listed:
            yield Root("output", name, value, _RELEASE)
    last = getattr(shell.last_execution_result, "result", None)
    if last is not None and id(last) not in listed:
        yield Root("output", "the last cell's result", last, _RELEASE)


def _history(shell: InteractiveShell) -> dict[int, object]:
    history = shell.user_ns.get("_oh")
    return history if type(history) is dict else {}


def _underscores(shell: InteractiveShell) -> dict[str, object]:
    """Return what IPython itself has for `_`, `__` and `___`, whatever the user bound to them."""
    own = vars(shell.displayhook)
    return {name: own[name] for name in _UNDERSCORES if name in own}


def _errors(magic: Invocation[Any]) -> list[BaseException]:
    """Return the last errors that Python, IPython and `%explain` keep, with what caused them."""
    result = magic.shell.last_execution_result
    return [
        *errors_behind(
            getattr(sys, "last_exc", None),
            getattr(sys, "last_value", None),
            magic.session.last_error.value(),
            getattr(result, "error_in_exec", None),
            getattr(magic.shell.InteractiveTB, "evalue", None),
        )
    ]


def _kept_errors(names: Mapping[str, object]) -> Iterator[Root]:
    """Yield what is kept by errors that the user caught and gave a name."""
    for name, value in names.items():
        if issubclass(type(value), BaseException):
            errors = errors_behind(cast("BaseException", value))
            yield from _frames(errors, "error", f"the traceback of {name}", f"del {name}")


def _frames(errors: Iterable[BaseException], kind: Kind, whose: str, let_go: str) -> Iterator[Root]:
    """Yield the local variables of the functions in which errors were raised.

    Those of IPython and of this package lead to the session itself. The user's come first.
    """
    found = {id(f): (f, n) for e in errors for f, n in traceback.walk_tb(e.__traceback__)}
    frames = [(f, n) for f, n in found.values() if f.f_code.co_flags & CO_OPTIMIZED]
    for frame, line in sorted(frames, key=lambda each: not is_users_file(_file(each[0]))):
        if _is_of_shell(frame):
            continue
        for name, value in frame.f_locals.items():
            where = f"{whose}, {frame.f_code.co_name}(), line {line}: {name}"
            yield Root(kind, where, value, let_go)


def _file(frame: FrameType) -> str:
    return frame.f_code.co_filename


def _is_of_shell(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return package in ("IPython", "ipykernel", "ipyjaxbench", "traitlets")


def _release_outputs(shell: InteractiveShell, found: HeldMemory) -> Iterator[str]:
    """Let go of results that hold arrays, under all names that IPython itself gave them."""
    names, history, hook = shell.user_ns, _history(shell), shell.displayhook
    for name, value in _underscores(shell).items():
        numbers = [n for n, each in history.items() if each is value]
        roots = [f"Out[{n}]" for n in numbers] or [name]
        if any(found.holds_arrays("output", root) for root in roots):
            setattr(hook, name, "")
            if names.get(name) is value:
                names[name] = shell.user_ns_hidden[name] = ""  # the same, or it binds it no more
            yield name
    for number in [n for n in history if found.holds_arrays("output", f"Out[{n}]")]:
        value = history.pop(number)
        own = f"_{number}"
        if own in names and names[own] is value:
            del names[own]
            shell.user_ns_hidden.pop(own, None)
        yield f"Out[{number}]"
    result = shell.last_execution_result
    if result is not None:
        result.result = None


def _release_errors(magic: Invocation[Any], found: HeldMemory) -> Iterator[str]:
    """Clear the local variables of functions in tracebacks; what was raised can still be read."""
    cleared = 0
    for error in _errors(magic):
        cleared += _clear(error.__traceback__)
    if cleared and found.holds_any("traceback"):
        yield f"the locals of {count(cleared, 'function')} in the last traceback"


def _clear(trace: TracebackType | None) -> int:
    """Clear the frames of a traceback, and their callers, that run no more.

    Return how many had locals.
    """
    cleared = 0
    for frame in frames_behind(trace):
        is_function = frame.f_code.co_flags & CO_OPTIMIZED and not _is_of_shell(frame)
        had_locals = bool(is_function and frame.f_locals)
        try:
            frame.clear()
        except RuntimeError:  # it runs
            continue
        cleared += had_locals
        if frame.f_code.co_flags & CO_OPTIMIZED:
            frame.f_locals  # noqa: B018  before 3.13 a copy of it is kept, and is emptied by this
    return cleared
