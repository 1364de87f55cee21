"""The magics as Python functions, without IPython."""

import inspect
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from ipyjaxbench.comparison import compare as compare
from ipyjaxbench.device import Peaks, Whereabouts, collect_peaks, locate, survey
from ipyjaxbench.errors import CODE_ERRORS, short_errors, warn_renamed
from ipyjaxbench.graphs import Graph, GraphOptions, trace_call
from ipyjaxbench.records import History, HistoryOptions, Location, query_history
from ipyjaxbench.timing import Measurement, call_code, measure_call, split_options
from ipyjaxbench.usercode import Call, refuse_uncallable
from ipyjaxbench.validation import age, checked

if TYPE_CHECKING:
    from ipyjaxbench.cluster import JobMeasurement

_JOB = "job"
_TIMEOUT = 30.0  # seconds to wait for engines, as ``--timeout`` has it


@overload
def measure(
    function: Callable[..., Any], /, *args: Any, engines: None = None, **kwargs: Any
) -> Measurement: ...
@overload
def measure(
    function: Callable[..., Any], /, *args: Any, engines: object, **kwargs: Any
) -> "Measurement | JobMeasurement | None": ...
@short_errors
def measure(
    function: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> "Measurement | JobMeasurement | None":
    """Time calls of a function with these arguments, as ``%fwtime function(...)`` does.

    Args:
        function: what to call. Asynchronous work that it starts is waited for.
        *args: its positional arguments.
        **kwargs: its keyword arguments. Two are not passed on: ``timer=Options(...)`` sets how to
            measure, for example ``Options(budget=1)``; ``engines=`` with a client or a view of
            ipyparallel, or a client of Dask, sends the call to these engines and times it there,
            and ``engines="job"`` times it in step with the other ranks of this process's job, all
            of which make the same call.

    Returns:
        The measurement; all its times are in seconds. With engines, that of all of them; in a job
        rank 0 returns it, and the others return None.

    Raises:
        OptionError: this is not a function, or there are no such engines, or no job.
        RankError: an engine failed; the message names it.
        Exception: whatever the first call raises.
        KeyboardInterrupt: as for `measure_code`.

    Example:
        >>> from ipyjaxbench import Options
        >>> measure(sorted, [3, 1, 2], timer=Options(number=10, repeat=3)).repeat
        3
    """
    __tracebackhide__ = True
    if "engines" not in kwargs or not _is_ours(function, kwargs["engines"]):
        return measure_call(function, args, kwargs)
    engines = kwargs.pop("engines")
    if engines is None:
        return measure_call(function, args, kwargs)
    from ipyjaxbench import cluster

    options, kwargs = split_options(function, kwargs)
    cluster.refuse_options(options)
    if engines == _JOB:
        return cluster.time_call_in_job(*call_code(function, args, kwargs), options, _TIMEOUT)
    typed = repr(engines) if isinstance(engines, str) else type(engines).__name__
    chosen = cluster.engines_of(engines, f"engines={typed}")
    members = cluster.find_members(chosen, _TIMEOUT)
    return cluster.time_call_on_engines(
        members, *call_code(function, args, kwargs), options, _TIMEOUT
    )


def _is_ours(function: Callable[..., Any], engines: object) -> bool:
    """Return whether ``engines=`` says where to run, rather than being the function's own."""
    from ipyjaxbench.cluster import is_client

    if is_client(engines):
        return True
    try:
        own = inspect.signature(function).parameters.values()
    except CODE_ERRORS:  # an object may answer what it likes
        return False
    return not any(each.name == "engines" or each.kind is each.VAR_KEYWORD for each in own)


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
        text: text that their name or code contains; empty for any.
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
        remeasure: also measure again what was stored for this machine.

    Returns:
        The peak rates of matmuls, memory and transfers, for each framework and kind of device.

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
