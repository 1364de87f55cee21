"""Timing from Python: a function with its arguments, or code in a namespace."""

import inspect
import keyword
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS, OptionError, SnippetError, short_errors, warn_renamed
from ipyjaxbench.host import Clock
from ipyjaxbench.timing.measure import measure_snippet
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.usercode import Namespace, Snippet, Source, name_of, refuse_uncallable

#: Options of `measure`, which are those of ``%fwtime``.
Options = TimeOptions


@short_errors
def measure_code(  # noqa: PLR0913  one for each option of the magic
    code: str,
    namespace: Namespace | None = None,
    *,
    setup: str | None = None,
    number: int | None = None,
    repeat: int | None = None,
    aim: str = "usual",
    budget: float | None = None,
    fresh: bool = False,
    profile: bool = False,
    restore: bool = True,
    device: bool | None = None,
) -> Measurement:
    """Time code, as ``%fwtime code`` does in a notebook.

    Args:
        code: Python statements. Asynchronous work that they start is waited for.
        namespace: the names that the code reads and binds; None takes those of the caller. Names
            that it binds are there afterwards, except in the caller's local variables.
        setup: statements to run, untimed, before the first call and before each sample.
        number: calls per sample; None chooses it automatically.
        repeat: number of samples; None stops when the median is precise enough.
        aim: how precise that is: "quick", "usual" or "precise".
        budget: seconds to spend after the first call; None leaves it to the aim.
        fresh: also time one cold call, compiled again.
        profile: profile a few extra calls, for the result's ``device``.
        restore: undo what repeated calls change in place.
        device: the old name of `profile`.

    Returns:
        The measurement; all its times are in seconds.

    Raises:
        OptionError: an option is invalid.
        SnippetError: the code is empty, or is not valid Python.
        Exception: whatever the code raises in its first call.
        KeyboardInterrupt: you stopped it. After the first call, its ``result`` is the measurement
            of the calls made until then.

    Example:
        >>> measure_code("sum(x)", {"x": [1, 2]}, number=10, repeat=2).repeat
        2
    """
    __tracebackhide__ = True
    if device is not None:
        warn_renamed("measure_code(device=…)", "measure_code(profile=…)")
    options = TimeOptions(
        number=number, repeat=repeat, aim=aim, budget=budget, fresh=fresh,
        profile=profile or bool(device), restore=restore,
    )  # fmt: skip
    names = _names_of_caller(sys._getframe(2)) if namespace is None else namespace
    return _measure(code, names, options, setup)


@short_errors
def measure(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Measurement:
    """Time calls of a function with these arguments, as ``%fwtime function(...)`` does.

    Args:
        function: what to call. Asynchronous work that it starts is waited for.
        *args: its positional arguments.
        **kwargs: its keyword arguments. ``timer=Options(...)`` is not passed on: it sets how to
            measure, for example ``Options(budget=1)``.

    Returns:
        The measurement; all its times are in seconds.

    Raises:
        OptionError: this is not a function.
        Exception: whatever the first call raises.
        KeyboardInterrupt: as for `measure_code`.

    Example:
        >>> measure(sorted, [3, 1, 2], timer=Options(number=10, repeat=3)).repeat
        3
    """
    __tracebackhide__ = True
    refuse_uncallable(function, 'write measure(f, x), or measure_code("f(x)")')
    is_option = isinstance(kwargs.get("timer"), TimeOptions)
    options: TimeOptions = kwargs.pop("timer") if is_option else TimeOptions()
    if options.name is not None or options.against is not None:
        raise OptionError(
            "name and against work in %fwtime only; leave them out of timer=Options()"
        )
    name = _identifier(name_of(function), "function")
    names: Namespace = {name: function}
    positional = []
    for index, (hint, value) in enumerate(zip(_hints(function, len(args)), args, strict=True)):
        identifier = _identifier(hint, f"arg{index}")
        is_free = identifier not in names and identifier not in kwargs
        identifier = identifier if is_free else f"arg{index}"
        names[identifier] = value
        positional.append(identifier)
    keywords = []
    for key, value in kwargs.items():
        identifier = f"{key}_" if key in names else key
        names[identifier] = value
        keywords.append(f"{key}={identifier}")
    return _measure(f"{name}({', '.join([*positional, *keywords])})", names, options)


def _measure(
    code: str, names: Namespace, options: TimeOptions, setup: str | None = None
) -> Measurement:
    __tracebackhide__ = True
    if not isinstance(names, dict):
        raise OptionError(f"namespace={names!r}: must be a dictionary, for example globals()")
    clock = Clock.elapsed()
    start = clock.now()
    snippet = _snippet("code", code, names)
    prepared = None if setup is None or not setup else _snippet("setup", setup, names)
    compile_time = (clock.now() - start) * 1e-9
    return measure_snippet(snippet, options, setup=prepared, compile_time=compile_time)


def _snippet(option: str, code: str, names: Namespace) -> Snippet:
    """Return code that can be run; in place of a SyntaxError one sentence."""
    if not isinstance(code, str):
        raise OptionError(f"{option}={code!r}: must be a string of Python code, such as 'f(x)'")
    try:
        return Snippet(Source.plain(code), names)
    except SyntaxError as error:
        line = (error.text or "").strip()
        raise SnippetError(
            f"SyntaxError in line {error.lineno} of {option}, {line!r}: {error.msg}"
        ) from None


def _names_of_caller(frame: FrameType) -> Namespace:
    """Return the names that code sees in a frame; a function's own come first."""
    if frame.f_locals is frame.f_globals:
        return frame.f_globals
    return {**frame.f_globals, **frame.f_locals}


def _hints(function: Callable[..., Any], count: int) -> list[str]:
    """Return the function's own names for its first arguments, empty where they are not known."""
    try:
        names = list(inspect.signature(function).parameters)
    except CODE_ERRORS:  # an object may answer what it likes
        names = []
    return (names + [""] * count)[:count]


def _identifier(name: str, otherwise: str) -> str:
    return name if name.isidentifier() and not keyword.iskeyword(name) else otherwise
