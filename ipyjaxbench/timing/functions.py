"""Timing from Python: a function with its arguments, or code in a namespace."""

import dataclasses
import inspect
import keyword
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from types import FrameType
from typing import Any, TypeVar

from ipyjaxbench.errors import CODE_ERRORS, OptionError, SnippetError, short_errors, warn_renamed
from ipyjaxbench.host import Clock
from ipyjaxbench.timing.measure import measure_snippet
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.usercode import (
    Namespace,
    Snippet,
    Source,
    name_of,
    refuse_uncallable,
    run_in_new_loop,
)

#: Options of `measure`, which are those of ``%fwtime``.
Options = TimeOptions
T = TypeVar("T")


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
    fresh: int = 0,
    passes: bool = False,
    profile: bool = False,
    trace: str | None = None,
    energy: bool = False,
    cold: bool = False,
    memory: bool = False,
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
        fresh: number of cold calls, compiled again; True is one. With several, the program of each
            is timed, too.
        passes: list the longest passes of compiling in the result's ``fresh``; implies `fresh`.
        profile: profile a few extra calls, for the result's ``device``.
        trace: like `profile`, and write these calls to this file, which https://ui.perfetto.dev
            shows; its name ends with ".json" or ".json.gz".
        energy: make calls for two more seconds, for the result's ``energy``: joules per call.
        cold: make more calls, each after a write that fills the caches, for the result's ``cold``.
        memory: make up to two more calls, for the result's ``memory``: the most that a call needs.
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
        number=number, repeat=repeat, aim=aim, budget=budget, fresh=fresh, passes=passes,
        profile=profile or bool(device), trace=trace, energy=energy, cold=cold,
        memory=memory, restore=restore,
    )  # fmt: skip
    names = _names_of_caller(sys._getframe(2)) if namespace is None else namespace
    return _measure(code, names, options, setup)


def measure_call(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Measurement:
    """Time calls of a function; ``timer=Options(...)`` among its arguments says how."""
    __tracebackhide__ = True
    options, kwargs = split_options(function, kwargs)
    return _measure(*call_code(function, args, kwargs), options)


class PreparedCall:
    """A call of a function that can be measured again and again, and gives its value.

    A coroutine function is awaited, on an event loop of its own.

    Args:
        function: what to call.
        args: its positional arguments.
        kwargs: its keyword arguments.
        setup: called, untimed, before the first call and before each sample.

    Attributes:
        snippet: the call as code.
        setup: what comes before it as code; None where nothing does.

    Raises:
        SnippetError: this is not a function.

    Example:
        >>> call = PreparedCall(sorted, ([2, 1],), {})
        >>> measurement, value = call.measure(TimeOptions(number=1, repeat=2))
        >>> measurement.code, value
        ('sorted(iterable)', [1, 2])
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        setup: Callable[[], object] | None = None,
    ) -> None:
        code, self._names = call_code(function, args, kwargs)
        code = f"await {code}" if inspect.iscoroutinefunction(function) else code
        self._value = _free("value", self._names)
        source = dataclasses.replace(Source.plain(f"{self._value} = {code}"), text=code)
        self.snippet = Snippet(source, self._names)
        self.setup = None if setup is None else self.beside("setup", setup)

    def beside(self, name: str, function: Callable[[], object]) -> Snippet:
        """Return a call of another function, without arguments, on the same names."""
        name = _free(name, self._names)
        self._names[name] = function
        return Snippet(Source.plain(f"{name}()"), self._names)

    def measure(self, options: TimeOptions) -> tuple[Measurement, Any]:
        """Return the measurement, and what the first call gave.

        Raises:
            SnippetError: it has to be awaited, and an event loop runs here.
            BaseException: whatever the first call raises.
        """
        __tracebackhide__ = True
        found = self.run(lambda: measure_snippet(self.snippet, options, setup=self.setup))
        return found, self._names.pop(self._value)

    def run(self, work: Callable[[], T]) -> T:
        """Do what makes the call, on an event loop where it has to be awaited."""
        __tracebackhide__ = True
        return run_in_new_loop(work) if self.snippet.awaits else work()


def _free(name: str, taken: Container[str]) -> str:
    """Return a name that is not taken."""
    while name in taken:
        name += "_"
    return name


def split_options(
    function: Callable[..., Any], kwargs: Mapping[str, Any]
) -> tuple[TimeOptions, dict[str, Any]]:
    """Return how to measure, and the keyword arguments that are the function's own.

    Raises:
        OptionError: an option works in the magic only, or the function has no such argument.
    """
    known = [field.name for field in dataclasses.fields(TimeOptions)]
    refuse_misplaced(function, kwargs, known, "timer=Options({}), with Options from ipyjaxbench")
    options = kwargs.get("timer")
    if not isinstance(options, TimeOptions):
        return TimeOptions(), dict(kwargs)
    if options.name is not None or options.against is not None:
        raise OptionError(
            "name and against work in %fwtime only; leave them out of timer=Options()"
        )
    return options, {key: value for key, value in kwargs.items() if key != "timer"}


def call_code(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[str, Namespace]:
    """Return a call as code, in the function's own words, and the names that it reads.

    Raises:
        SnippetError: this is not a function.

    Example:
        >>> code, names = call_code(round, (2.5,), {"ndigits": 1})
        >>> code, [*names]
        ('round(number, ndigits=ndigits)', ['round', 'number', 'ndigits'])
    """
    refuse_uncallable(function, 'write measure(f, x), or measure_code("f(x)")')
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
    return f"{name}({', '.join([*positional, *keywords])})", names


def refuse_misplaced(
    function: Callable[..., Any], kwargs: Mapping[str, Any], known: Container[str], written: str
) -> None:
    """Raise `OptionError` where a known option is given as an argument that the function lacks.

    What is ``written`` instead has "{}" in the place of the options.
    """
    try:
        parameters = inspect.signature(function).parameters
    except CODE_ERRORS:  # an object may answer what it likes
        return
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
        return
    meant = [key for key in kwargs if key in known and key not in parameters]
    if meant:
        name = name_of(function) or "the function"
        values = [name_of(kwargs[key]) or repr(kwargs[key]) for key in meant]
        given = ", ".join(f"{key}={value}" for key, value in zip(meant, values, strict=True))
        raise OptionError(
            f"{given}: {name} has no such argument; to say how to measure, write"
            f" {written.format(given)}"
        )


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
