"""The magics as Python functions, without IPython."""

import os
from collections.abc import Callable
from typing import Any

from ipyjaxbench.comparison import compare as compare
from ipyjaxbench.device import Peaks, Whereabouts, collect_peaks, locate, survey
from ipyjaxbench.errors import short_errors, warn_renamed
from ipyjaxbench.graphs import Graph, GraphOptions, trace_call
from ipyjaxbench.records import History, HistoryOptions, Location, query_history
from ipyjaxbench.usercode import Call, refuse_uncallable
from ipyjaxbench.validation import age, checked


@short_errors
def graph(
    function: Callable[..., Any], /, *args: Any, stage: str | None = None, **kwargs: Any
) -> Graph:
    """Show the program that a call compiles to, as ``%jaxpr function(...)`` does.

    Args:
        function: what would be called.
        *args: its positional arguments: arrays, shapes of arrays, or any other values.
        stage: which form of it, such as "stablehlo"; None for the framework's first one.
        **kwargs: its keyword arguments.

    Returns:
        The graph; its ``graph`` is the framework's own object.

    Raises:
        OptionError: the framework has no such stage.
        SnippetError: no framework can make a program of it.
        Exception: whatever tracing raises.

    Example:
        >>> # graph(jnp.dot, x, x.T).flops
    """
    __tracebackhide__ = True
    refuse_uncallable(function, "write graph(f, x)")
    return trace_call(Call.from_function(function, *args, **kwargs), GraphOptions(stage=stage))


@short_errors
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


@short_errors
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


@short_errors
def history(
    text: str = "",
    *,
    last: int | None = 20,
    since: str | None = None,
    framework: str | None = None,
    here: bool = False,
) -> History:
    """Look up earlier measurements, as ``%fwhistory`` does.

    Args:
        text: that their name or code contains; empty for any.
        last: at most this many, newest first; None for all.
        since: not older than this, such as "7d" or "12h"; None for any age.
        framework: only those that used this framework, such as "jax"; None for any.
        here: only those measured in this directory.

    Returns:
        The measurements, newest first.

    Raises:
        OptionError: an option is invalid.

    Example:
        >>> # [entry.median for entry in history("softmax", since="7d")]
    """
    oldest = None
    if since is not None:
        given = since if isinstance(since, str) else ""
        oldest = checked(given, age, typed=f"since={since!r}", example="since='7d'")
    options = HistoryOptions(text=text, last=last, since=oldest, framework=framework, here=here)
    return query_history(options, Location(directory=os.getcwd()))


@short_errors
def peaks(*, start: bool = False, remeasure: bool = False) -> Peaks:
    """Measure the peak rates of devices, as ``%fwdevices --peak`` does.

    Args:
        start: initialize frameworks that are imported, so that their devices are measured too.
        remeasure: measure also what was stored for this machine.

    Returns:
        For each framework and kind of device the peak rates of matmuls, memory and transfers.

    Example:
        >>> # peaks().found[0].products["float32"]
    """
    return collect_peaks(start=start, remeasure=remeasure)


@short_errors
def ceilings(*, start: bool = False, remeasure: bool = False, fresh: bool = False) -> Peaks:
    """Do what `peaks` does: its old name, which works until version 0.3.

    Args:
        start: as in `peaks`.
        remeasure: as in `peaks`.
        fresh: the old name of ``remeasure``.

    Returns:
        What `peaks` returns.

    Example:
        >>> # peaks().found[0].products["float32"]
    """
    old = "ceilings(fresh=…)" if fresh else "ceilings()"
    warn_renamed(old, "peaks(remeasure=…)" if fresh else "peaks()")
    return collect_peaks(start=start, remeasure=remeasure or fresh)
