"""Bars and lines as matplotlib draws them, and pandas frames, for those who go on with them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ipyjaxbench.errors import MissingLibraryError


def bars(times: Mapping[str, tuple[float, float]], ax: Any = None) -> Any:
    """Draw a bar for each label: seconds of a call, with half of their interval."""
    ax = _axes(ax)
    ax.barh([*times], [t for t, _ in times.values()], xerr=[reach for _, reach in times.values()])
    ax.invert_yaxis()  # the first arm on top, as in the table
    ax.set_xlabel("time of a call, s")
    return ax


def lines(times: Mapping[str, Sequence[tuple[float, float]]], across: str, ax: Any = None) -> Any:
    """Draw a line for each label: numbers, named ``across``, and the seconds of a call there."""
    ax = _axes(ax)
    for label, known in times.items():
        ax.plot([x for x, _ in known], [t for _, t in known], marker="o", label=label)
    ax.set(xscale="log", yscale="log", xlabel=across, ylabel="time of a call, s")
    ax.legend()
    return ax


def frame(records: list[dict[str, Any]]) -> Any:
    """Return a pandas frame with a row for each record."""
    try:
        import pandas
    except ImportError:
        raise MissingLibraryError("pandas") from None
    return pandas.DataFrame(records)


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingLibraryError("matplotlib") from None
    return pyplot.subplots()[1]
