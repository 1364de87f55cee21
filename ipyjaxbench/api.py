"""The same from Python: what the magics do, as functions that need no IPython."""

import inspect
import keyword
import os
import warnings
from collections.abc import Callable
from typing import Any

from ipyjaxbench.comparison import compare as compare
from ipyjaxbench.device import Ceilings, Whereabouts, collect_ceilings, locate, survey
from ipyjaxbench.graphs import Graph, GraphOptions, trace_call
from ipyjaxbench.host import Clock
from ipyjaxbench.records import History, HistoryOptions, Location, query_history
from ipyjaxbench.timing import Measurement, TimeOptions, measure_snippet
from ipyjaxbench.usercode import Call, Namespace, Snippet, Source, name_of
from ipyjaxbench.validation import age, checked


def measure_code(  # noqa: PLR0913  one for each option of the magic
    code: str,
    namespace: Namespace,
    *,
    setup: str | None = None,
    number: int | None = None,
    repeat: int | None = None,
    aim: str = "usual",
    budget: float | None = None,
    fresh: bool = False,
    device: bool = False,
    restore: bool = True,
) -> Measurement:
    """Time code in a namespace, as ``%fwtime code`` does in a notebook's.

    Args:
        code: Python statements; what they start is waited for.
        namespace: the names that they read, and get; it holds afterwards what one run leaves.
        setup: statements to run, untimed, before the first call and each sample.
        number: calls per sample; None has it chosen.
        repeat: number of samples; None stops when the figure is steady.
        aim: "quick", "usual" or "precise": when the figure is steady enough.
        budget: seconds to spend after the first call; None leaves it to the aim.
        fresh: make one more call after the others, cold: what compiling costs.
        device: make a few more calls under the frameworks' profilers, for the ``device`` result.
        restore: put back what later calls change in place, as the first call left it.

    Returns:
        The measurement; all its times are in seconds.

    Raises:
        OptionError: a value breaks a rule.
        SnippetError: the code cannot be measured.
        Exception: what the code raised in its first call.
        KeyboardInterrupt: in its first call, or later: then it has a ``result``, which is the
            measurement of the calls made until then.

    Example:
        >>> measure_code("sum(x)", {"x": [1, 2]}, number=10, repeat=2).repeat
        2
    """
    __tracebackhide__ = True
    options = TimeOptions(
        number=number, repeat=repeat, aim=aim, budget=budget, fresh=fresh, profile=device,
        restore=restore,
    )  # fmt: skip
    clock = Clock.elapsed()
    start = clock.now()
    snippet = Snippet(Source.plain(code), namespace)
    prepared = Snippet(Source.plain(setup), namespace) if setup and setup.strip() else None
    compile_time = (clock.now() - start) * 1e-9
    return measure_snippet(snippet, options, setup=prepared, compile_time=compile_time)


def measure(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Measurement:
    """Time calls of a function with these arguments, as ``%fwtime function(...)`` does.

    Args:
        function: what to call; what it starts is waited for.
        *args: its positional arguments.
        **kwargs: its keyword arguments. For options see `measure_code`.

    Returns:
        The measurement; all its times are in seconds.

    Raises:
        Exception: what the first call raised.
        KeyboardInterrupt: as for `measure_code`.

    Example:
        >>> measure(sorted, [3, 1, 2]).median < 1
        True
    """
    __tracebackhide__ = True
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
    return measure_code(f"{name}({', '.join([*positional, *keywords])})", names)


def graph(
    function: Callable[..., Any], /, *args: Any, stage: str | None = None, **kwargs: Any
) -> Graph:
    """Show the program that a call is, as ``%jaxpr function(...)`` does; nothing is computed.

    Args:
        function: what would be called.
        *args: its positional arguments: arrays, their shapes, numbers, anything.
        stage: which form of it, as ``--stage`` takes it; None for the framework's first one.
        **kwargs: its keyword arguments.

    Returns:
        The graph; its ``graph`` is the framework's own object.

    Raises:
        OptionError: the framework has no such stage.
        SnippetError: no framework makes a program of it.
        Exception: what tracing raised.

    Example:
        >>> # graph(jnp.dot, x, x.T).flops
    """
    __tracebackhide__ = True
    return trace_call(Call.from_function(function, *args, **kwargs), GraphOptions(stage=stage))


def placement(*values: object, **named: object) -> Whereabouts:
    """Show on which devices values live, as ``%fwdevices x y`` does.

    Args:
        *values: arrays, pytrees, models, optimizers.
        **named: the same, with names for the report.

    Returns:
        Their arrays, with devices and sharding.

    Example:
        >>> placement(3).arrays[0].framework
        ''
    """
    return locate({f"value {i}": value for i, value in enumerate(values, 1)} | named)


def devices(*, start: bool = False) -> Whereabouts:
    """Show the devices of every imported framework, as ``%fwdevices`` does.

    Args:
        start: initialize frameworks that are imported, to list their devices.

    Returns:
        The devices, their memory, and live arrays.

    Example:
        >>> # [home.default for home in devices().homes]
    """
    return survey({}, start=start)


def history(
    text: str = "",
    *,
    last: int | None = 20,
    since: str | None = None,
    framework: str | None = None,
    here: bool = False,
) -> History:
    """Look up measurements of the past, as ``%fwhistory`` does.

    Args:
        text: that their name or code has; empty for any.
        last: how many, the newest of them; None for all.
        since: how old at most, as in "7d" or "12h"; None for any age.
        framework: that was used, by its name; None for any.
        here: those alone that were measured in this directory.

    Returns:
        The measurements, the newest first.

    Raises:
        OptionError: a value breaks a rule.

    Example:
        >>> # [entry.median for entry in history("softmax", since="7d")]
    """
    oldest = None
    if since is not None:
        given = since if isinstance(since, str) else ""
        oldest = checked(given, age, typed=f"since={since!r}", example="since='7d'")
    options = HistoryOptions(text=text, last=last, since=oldest, framework=framework, here=here)
    return query_history(options, Location(directory=os.getcwd()))


def ceilings(*, start: bool = False, remeasure: bool = False, fresh: bool = False) -> Ceilings:
    """Measure the peak rates of devices, as ``%fwdevices --peak`` does.

    Args:
        start: initialize frameworks that are imported, so that their devices are measured too.
        remeasure: measure also what was stored for this machine.
        fresh: the old name of ``remeasure``, which goes with the next version.

    Returns:
        For each framework and kind of device the peak rates of matmuls, memory and transfers.

    Example:
        >>> # ceilings().found[0].products["float32"]
    """
    if fresh:
        warnings.warn("fresh= is now remeasure=", DeprecationWarning, stacklevel=2)
    return collect_ceilings(start=start, remeasure=remeasure or fresh)


def _hints(function: Callable[..., Any], count: int) -> list[str]:
    """Return the function's own names for its first arguments, empty where they are not known."""
    try:
        names = list(inspect.signature(function).parameters)
    except Exception:  # noqa: BLE001  an object may answer what it likes
        names = []
    return (names + [""] * count)[:count]


def _identifier(name: str, otherwise: str) -> str:
    return name if name.isidentifier() and not keyword.iskeyword(name) else otherwise
