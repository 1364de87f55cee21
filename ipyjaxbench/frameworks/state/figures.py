"""Figures that pyplot keeps: a notebook shows all that are open at the end of a cell."""

import sys
from collections.abc import Iterator
from typing import Any

from ipyjaxbench.frameworks.state.undo import Holder, Setting, State


def open_figures() -> Iterator[tuple[str, State]]:
    """Yield which figures are open."""
    if (kept := _kept()) is not None:
        yield "figures", Setting(kept.get_all_fig_managers, lambda figures: _reopen(kept, figures))


def drawn_in_figures() -> Iterator[tuple[str, State]]:
    """Yield what is drawn in those that are open: pyplot draws without naming one."""
    if (kept := _kept()) is not None:
        yield "figures", Holder(None, [each.canvas.figure for each in kept.get_all_fig_managers()])


def _kept() -> Any:
    """Return where pyplot keeps figures; None where it was not imported."""
    return getattr(sys.modules.get("matplotlib._pylab_helpers"), "Gcf", None)


def _reopen(kept: Any, figures: list[Any]) -> None:
    """Close other figures, and have pyplot know those that were closed; a window stays closed."""
    from matplotlib.backend_bases import FigureManagerBase

    for each in kept.get_all_fig_managers():
        if not any(each is figure for figure in figures):
            kept.destroy(each)
    still_open = kept.get_all_fig_managers()
    for each in figures:
        has_window = type(each).destroy is not FigureManagerBase.destroy
        if any(each is figure for figure in still_open) or not has_window:
            kept.figs.pop(each.num, None)  # the last one is the current figure
            kept.figs[each.num] = each
