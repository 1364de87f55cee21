"""Figures that later calls open are closed, and what they draw is taken away again."""

from collections.abc import Iterator
from typing import Any

import pytest

import ipyjaxbench

plt = pytest.importorskip("matplotlib.pyplot")
same_color = pytest.importorskip("matplotlib.colors").same_color
plt.switch_backend("agg")


@pytest.fixture
def no_pyplot() -> None:
    """It is there."""


@pytest.fixture(autouse=True)
def no_figures() -> Iterator[None]:
    plt.close("all")
    yield
    plt.close("all")


def timed(code: str, **names: Any) -> tuple[dict[str, Any], list[str]]:
    """Time code; return the names, and the texts of what was put back."""
    names |= {"plt": plt}
    found = ipyjaxbench.measure_code(code, names, number=2, repeat=3)
    assert "state-advanced" not in {note.code for note in found.notes}
    return names, [note.text for note in found.notes if note.code == "put-back"]


AXES = "axes.twinx().plot([1, 2]); plt.subplot(2, 1, 2); plt.colorbar(axes.scatter([1], [1]))"


def test_what_a_figure_numbers_is_not_told_as_advanced() -> None:
    _, axes = plt.subplots()
    timed(AXES, axes=axes)


OPENED = ["fig = plt.figure()", "plt.plot([1, 2])", "fig, ax = plt.subplots(); ax.plot([1, 2])",
          "plt.figure(); plt.plot([1, 2]); plt.title('a')"]  # fmt: skip


@pytest.mark.parametrize("code", OPENED)
def test_one_figure_is_left_as_by_one_run(code: str) -> None:
    names, told = timed(code)
    (number,) = plt.get_fignums()
    figure = plt.figure(number)
    assert names.get("fig", figure) is figure
    assert [len(axes.lines) for axes in figure.axes] == [1] * ("plot" in code)
    assert len(told) == 1
    assert "figures" in told[0]


def test_what_is_drawn_into_a_figure_that_was_there_is_drawn_once() -> None:
    kept, axes = plt.subplots()
    before = axes.plot([0, 1])
    timed("plt.plot([1, 2]); axes.set_title('a'); axes.text(0, 0, 'x'); axes.bar([1], [2])",
          axes=axes)  # fmt: skip
    assert axes.lines[0] is before[0]
    assert (len(axes.lines), len(axes.texts), len(axes.patches)) == (2, 1, 1)
    assert same_color(axes.plot([2, 3])[0].get_color(), "C2")
    kept.canvas.draw()


def test_a_figure_that_calls_clear_and_draw_again_can_be_drawn() -> None:
    kept, axes = plt.subplots()
    timed("axes.clear(); line, = axes.plot([1, 2])", axes=axes)
    assert len(axes.lines) == 1
    kept.canvas.draw()


def test_what_calls_close_stays_closed_and_the_current_figure_is_that_of_one_run() -> None:
    first, second = plt.figure(), plt.figure()
    timed("plt.close(plt.figure())")
    assert plt.get_fignums() == [first.number, second.number]
    timed("plt.figure(1)")
    assert plt.gcf() is first


def test_arms_of_a_comparison_leave_the_figure_of_the_last_one() -> None:
    arms = {"a": lambda: plt.plot([1, 2]), "b": lambda: plt.plot([3, 4])}
    ipyjaxbench.compare(arms, number=1, repeat=2)
    (number,) = plt.get_fignums()
    assert [line.get_ydata()[0] for line in plt.figure(number).axes[0].lines] == [3]
