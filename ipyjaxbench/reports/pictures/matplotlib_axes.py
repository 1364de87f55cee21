"""Axes of matplotlib that read as our pictures do: ticks with units, names from the top."""

from collections.abc import Sequence
from typing import Any

from ipyjaxbench.reports.pictures.scales import Scale, tick_label


def label_ticks(axis: Any, unit: str) -> None:
    """Let ticks say their unit, as "20 µs", wherever a reader pans or zooms to."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(6))
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick_label(value, unit)))


def set_ticks(axis: Any, scale: Scale, most: int) -> None:
    """Put the ticks of one of our scales on an axis: for units whose steps are not decimal."""
    values, labels = zip(*scale.ticks(most), strict=True)
    axis.set_ticks(values, labels)


def label_rows(axes: Any, names: Sequence[str]) -> None:
    """Name the rows of bars, the first on top; two rows may have the same name."""
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
