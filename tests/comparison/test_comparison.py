"""Comparisons and sweeps as text, HTML, pictures and frames, from hand-made samples."""

import base64
import dataclasses
import io
import itertools
import math
import re
import sys
from xml.etree import ElementTree

import pytest

from ipyjaxbench import Comparison, MissingLibraryError, Sweep
from ipyjaxbench.comparison import notes
from ipyjaxbench.comparison.comparison import ArmResult
from ipyjaxbench.comparison.sweep import Point, Skipped
from ipyjaxbench.reports import html
from tests.results import measured
from tests.sanitiser import Page, assert_survives


def arm(label: str, nanoseconds: int, *, step: int = 500, **changes: object) -> ArmResult:
    """Samples that scatter a little, the same way in each arm."""
    times = [nanoseconds + step * (i * 7 % 5) * nanoseconds // 1_000_000 for i in range(40)]
    return ArmResult(label, measured(times, **changes))


PAIR = Comparison(
    (
        arm("numpy", 2_000_000, frameworks={"numpy": "2.4.6"}),
        arm("jax", 1_000_000, step=700, frameworks={"jax": "0.10.2"}, waited=True),
    ),
    "numpy",
    elapsed=4.5,
    equal=("outputs equal", "float32 everywhere"),
)
MIXED = Comparison(
    (
        arm("a", 1_000_000),
        arm("same", 1_001_000, step=400),
        ArmResult("bad", None, "ValueError: no"),
        arm("slow", 9_000_000, step=300, throughputs=(0.004, 0.004), waited=True),
    ),
    "a",
    elapsed=6.0,
    notes=(notes.other_dtype({"float32": ["a"], "float64": ["slow"]}),),
)
KEPT = dataclasses.replace(PAIR, interleaved=False, elapsed=0.0, equal=())
EXPECTED = {
    "pair": (
        PAIR,
        """\
compared  jax takes 0.50020× the time of numpy   [0.50010, 0.50030]       FASTER
  arm           per call  first call          time against numpy
  numpy  2.00 ms ± 2.5 %     2.00 ms                           1  baseline
  jax    1.00 ms ± 2.5 %     2.00 ms  0.50020 [0.50010, 0.50030]    FASTER
  numpy  ██████████████████████████████████████████████████████████████ 2.00 ms
  jax    ███████████████████████████████ 1.00 ms
fair      outputs equal · float32 everywhere
pairs     40 blocks of all arms in turns, in 4.5 s
control   numpy against itself: 1.0010 [0.9985, 1.0010], as it should be
with      jax 0.10.2, numpy 2.4.6
""",
    ),
    "mixed": (
        MIXED,
        """\
compared    slow takes 8.996× the time of a   [8.995, 8.998]              SLOWER
  arm          per call  first call           time against a
  a     1.00 ms ± 2.5 %     2.00 ms                        1  baseline
  same  1.00 ms ± 2.5 %     2.00 ms  1.0008 [1.0007, 1.0009]      SAME
  bad            failed
  slow  9.01 ms ± 2.5 %     2.00 ms     8.996 [8.995, 8.998]    SLOWER
  a     ███████ 1.00 ms
  same  ███████ 1.00 ms
  slow  ███████████████████████████████████████████████████████████████ 9.01 ms
throughput  slow 4.00 ms a call, when many are queued and waited for once
pairs       40 blocks of all arms in turns, in 6.0 s
control     a against itself: 1.0010 [0.9985, 1.0010], as it should be
with        python 3.12
!  bad failed: ValueError: no.
!  The dtypes differ: float32: a; float64: slow.
→  give all of them the same dtype, as in x.astype('float32')
""",
    ),
    "kept": (
        KEPT,
        """\
compared  jax takes 0.50× the time of numpy   [0.48, 0.52]                FASTER
  arm           per call  first call  time against numpy
  numpy  2.00 ms ± 2.5 %     2.00 ms                   1  baseline
  jax    1.00 ms ± 2.5 %     2.00 ms   0.50 [0.48, 0.52]    FASTER
  numpy  ██████████████████████████████████████████████████████████████ 2.00 ms
  jax    ███████████████████████████████ 1.00 ms
pairs     none: the arms were measured one after the other, not in turns
with      jax 0.10.2, numpy 2.4.6
""",
    ),
}


def point(n: int, **times: int) -> Point:
    sides = tuple(arm(label, ns, step=300 + 100 * i) for i, (label, ns) in enumerate(times.items()))
    return Point((str(n),), Comparison(sides, sides[0].label, elapsed=1.0))


SWEPT = Sweep(
    ("n",),
    ("line", "square"),
    (
        point(10, line=40_000, square=4_000),
        point(100, line=400_000, square=400_000),
        point(1000, line=4_000_000, square=40_000_000),
    ),
    (Skipped("square", ("1000",), per_call=0.04, budget=0.02),),
    4,
)
SWEPT_TEXT = """\
over n    square is the fastest at n = 10; line is the fastest at n =    CHANGES
          1000
  n                line           square  fastest
  10    40.0 µs ± 2.5 %  4.00 µs ± 2.5 %   square
  100    400 µs ± 2.5 %   400 µs ± 2.5 %        -
  1000  4.00 ms ± 2.5 %  40.0 ms ± 2.5 %     line
     40 ms |                                                          s
           |
           |
           |                                                          l
           |
           |                             s
           |                             l
           |
           | l
           |
           |
    4.0 µs | s
             10                                                   1,000
             time of a call over n: l line, s square
growth    the time of a call grows as line n^1.0, square n^2.0
left out  square after n = 1000: a call took 40 ms, and a point has 20 ms in all
points    3 of 4 were measured
with      python 3.12
"""


@pytest.mark.parametrize("name", EXPECTED)
def test_a_comparison_reads_so(name: str) -> None:
    compared, text = EXPECTED[name]
    assert str(compared) == text.rstrip("\n")


def test_a_sweep_reads_so() -> None:
    assert str(SWEPT) == SWEPT_TEXT.rstrip("\n")


ALL = {"sweep": SWEPT, **{name: compared for name, (compared, _) in EXPECTED.items()}}


@pytest.mark.parametrize("name", ALL)
def test_no_line_is_wider_than_a_page(name: str) -> None:
    assert max(map(len, str(ALL[name]).splitlines())) <= 80


@pytest.mark.parametrize("name", ALL)
def test_html_survives_an_untrusted_notebook_and_holds_the_facts(name: str) -> None:
    parsed = Page(html.render(ALL[name].report()))
    assert_survives(parsed)
    lines = str(ALL[name]).splitlines()
    drawn = re.compile(r"\||time of a call over|^\s+[\d,]+\s+[\d,]+$")
    told = [line for line in lines if not drawn.search(line)]
    words = {word for word in " ".join(told).split() if "█" not in word}  # a picture in HTML
    assert words - set(parsed.text.split()) == set()


def test_the_records_read_back() -> None:
    for found in ALL.values():
        assert type(found).from_dict(found.to_dict()) == found


def test_the_picture_of_a_sweep_is_to_scale() -> None:
    """Equal steps of the logarithm are equal lengths, and a line of slope 2 is twice as steep."""
    parsed = Page(html.render(SWEPT.report()))
    source = next(a["src"] or "" for tag, a in parsed.tags if tag == "img")
    tree = ElementTree.fromstring(base64.b64decode(source.partition(",")[2]))
    lines = [e.attrib["points"] for e in tree.iter("{http://www.w3.org/2000/svg}polyline")]
    long = [[tuple(map(float, p.split(","))) for p in line.split()] for line in lines]
    line, square = (points for points in long if len(points) == 3)
    assert line[1][0] - line[0][0] == pytest.approx(line[2][0] - line[1][0], abs=0.2)
    climbs = [points[0][1] - points[2][1] for points in (line, square)]
    assert climbs[1] == pytest.approx(2 * climbs[0], rel=0.02)
    assert parsed.text.index(" square") < parsed.text.index(" line")  # the highest end first
    assert "to the right n from 10 to 1,000, upwards time of a call from" in parsed.text


def test_arms_with_the_same_first_letter_get_signs_of_their_own() -> None:
    labels = ("torch", "tf", "t")
    points = tuple(
        point(n, **{label: n * 1000 * 3**i for i, label in enumerate(labels)}) for n in (10, 90)
    )
    text = str(Sweep(("n",), labels, points, (), 2))
    (named,) = re.findall(r"time of a call over n: (.*)", text)
    signs = [part.split()[0] for part in named.split(", ")]
    assert [part.split()[1] for part in named.split(", ")] == list(labels)
    assert len(set(signs)) == 3


def test_a_frame_has_a_row_for_each_arm() -> None:
    frame = MIXED.to_pandas().set_index("arm")
    assert list(frame.index) == ["a", "same", "bad", "slow"]
    assert frame.loc["slow", "verdict"] == "SLOWER"
    assert frame.loc["slow", "per_call"] == MIXED["slow"].median
    assert frame.loc["slow", "throughput"] == 0.004
    assert frame.loc["bad", "failed"] == "ValueError: no"
    assert math.isnan(frame.loc["bad", "per_call"])
    assert frame.loc["same", "ratio_low"] < frame.loc["same", "ratio"] < 1.01


def test_a_frame_of_a_sweep_has_a_row_for_each_arm_at_each_value() -> None:
    frame = SWEPT.to_pandas()
    assert list(zip(frame["n"], frame["arm"], strict=True)) == [
        *itertools.product(("10", "100", "1000"), ("line", "square"))
    ]
    wide = frame.pivot(index="n", columns="arm", values="per_call")
    assert wide.loc["1000", "square"] == SWEPT.times("square")[-1][1]


@pytest.fixture
def axes() -> object:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    _, ax = pyplot.subplots()
    yield ax
    pyplot.close("all")


def test_arms_are_drawn_as_bars_of_their_times(axes: object) -> None:
    assert MIXED.plot(axes) is axes
    assert [bar.get_width() for bar in axes.patches] == [
        MIXED[label].median for label in ("a", "same", "slow")
    ]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a", "same", "slow"]
    assert axes.get_xlabel() == "time of a call, s"
    axes.figure.savefig(io.BytesIO())


def test_a_sweep_is_drawn_as_lines_on_logarithmic_scales(axes: object) -> None:
    SWEPT.plot(axes)
    drawn = {line.get_label(): list(line.get_xydata().tolist()) for line in axes.lines}
    assert drawn == {label: [list(p) for p in SWEPT.times(label)] for label in SWEPT.labels}
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_xlabel()) == ("log", "log", "n")


def test_new_axes_are_made_where_none_are_given(axes: object) -> None:
    assert PAIR.plot() is not axes


@pytest.mark.parametrize(("module", "name"), [("matplotlib", "plot"), ("pandas", "to_pandas")])
def test_a_missing_library_is_named(
    monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    for found in (PAIR, SWEPT):
        with pytest.raises(MissingLibraryError, match=rf"ipyjaxbench\[plot\]|{module}"):
            getattr(found, name)()
