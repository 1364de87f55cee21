"""Pictures of a report as matplotlib draws them, for those who go on with them."""

from collections.abc import Sequence
from typing import Any

from ipyjaxbench.errors import MissingLibraryError, OptionError
from ipyjaxbench.reports.pictures import Picture

_NOTHING = (
    "plot() draws the pictures of the report, and this one has none: there are pictures of two"
    " samples or more, a compiled first call, two arms, sharded arrays, copies, program costs, and"
    " two measurements of one name. to_pandas() has all figures"
)
_INCHES = (7.0, 3.0)  # of one picture


def plot(pictures: Sequence[Picture], ax: Any = None) -> Any:
    """Draw pictures, each on Axes of its own; only the first where Axes are given.

    Args:
        pictures: what to draw, from the top.
        ax: matplotlib Axes, or None for a new figure.

    Returns:
        The Axes, or an array of them where several were made.

    Raises:
        MissingLibraryError: matplotlib is not installed.
        OptionError: there is nothing to draw.
    """
    if not pictures:
        raise OptionError(_NOTHING)
    if ax is not None:
        pictures[0].plot(ax)
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingLibraryError("matplotlib") from None
    size = (_INCHES[0], _INCHES[1] * len(pictures))
    _, axes = pyplot.subplots(len(pictures), figsize=size, layout="constrained")
    for picture, each in zip(pictures, [axes] if len(pictures) == 1 else axes, strict=True):
        picture.plot(each)
    return axes
