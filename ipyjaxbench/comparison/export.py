"""Comparisons as matplotlib figures and pandas frames, for those who go on with them elsewhere."""

from typing import TYPE_CHECKING, Any

from ipyjaxbench.errors import MissingLibraryError

if TYPE_CHECKING:
    from ipyjaxbench.comparison.comparison import Comparison
    from ipyjaxbench.comparison.sweep import Sweep


def bars(c: "Comparison", ax: Any = None) -> Any:
    """Draw the time of a call of each arm, with its interval.

    Args:
        c: the comparison.
        ax: matplotlib Axes to draw on; None makes new ones.

    Returns:
        The Axes.
    """
    ax = _axes(ax)
    measured = [(side.label, m) for side in c.sides if (m := side.measured)]
    times = [m.median for _, m in measured]
    reach = [min(m.half_width, 1.0) * m.median for _, m in measured]
    ax.barh([label for label, _ in measured], times, xerr=reach)
    ax.invert_yaxis()  # the first arm on top, as in the table
    ax.set_xlabel("time of a call, s")
    return ax


def lines(s: "Sweep", ax: Any = None) -> Any:
    """Draw the time of a call of each arm over the values, both scales logarithmic.

    Args:
        s: the sweep, over one name with numbers.
        ax: matplotlib Axes to draw on; None makes new ones.

    Returns:
        The Axes.
    """
    ax = _axes(ax)
    for label in s.labels:
        known = s.times(label)
        ax.plot([x for x, _ in known], [t for _, t in known], marker="o", label=label)
    ax.set(xscale="log", yscale="log", xlabel=", ".join(s.names), ylabel="time of a call, s")
    ax.legend()
    return ax


def rows(c: "Comparison") -> list[dict[str, Any]]:
    """A row for each arm; times in seconds."""
    found = []
    for side in c.sides:
        m, ratio = side.measured, c.ratio(side.label)
        low, high = m.interval if m else (None, None)
        found.append(
            {
                "arm": side.label,
                "per_call": m and m.median,
                "low": low,
                "high": high,
                "throughput": m and m.throughput,
                "first_call": m and m.first_call,
                "ratio": ratio and ratio.value,
                "ratio_low": ratio and ratio.low,
                "ratio_high": ratio and ratio.high,
                "verdict": c.verdict(side.label),
                "failed": side.failed,
            }
        )
    return found


def frame(records: list[dict[str, Any]]) -> Any:
    """A pandas frame."""
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
