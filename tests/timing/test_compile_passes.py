"""Passes of a compiler by their own time, the stretches of a call, and what is shown of them."""

import pytest

from ipyjaxbench.errors import OptionError
from ipyjaxbench.reports import Listing, Table
from ipyjaxbench.timing.compile_passes import CompilePasses, LineShare, Pass, sum_passes
from ipyjaxbench.timing.compile_passes_report import axis_rows, list_lines, list_passes
from ipyjaxbench.timing.device_time import Interval
from ipyjaxbench.timing.options import TimeOptions

MS = 1e6


def span(name: str, start: float, end: float, line: str = "t") -> Interval:
    return Interval(name, start * MS, end * MS, "", line)


SPANS = [
    span("compile", 100, 200),
    span("passes", 110, 150),
    span("fusion", 110, 125),
    span("fusion", 130, 145),
    span("codegen", 150, 195),
    span("emit", 152, 153),
]


def test_own_times_add_up_to_the_whole() -> None:
    found = sum_passes("jax", SPANS, 0.0)
    by_name = {each.name: (each.times, round(each.seconds * 1e3)) for each in found.passes}
    assert by_name == {
        "codegen": (1, 44), "fusion": (2, 30), "compile": (1, 15), "passes": (1, 10),
        "emit": (1, 1),
    }  # fmt: skip
    assert [*by_name][:2] == ["codegen", "fusion"]
    assert found.seconds == pytest.approx(0.1)
    threads = sum_passes("torch", [span("a", 0, 10), span("a", 5, 9, "other")], 0.0)
    assert threads.passes == (Pass("a", 2, pytest.approx(0.014)),)
    many = sum_passes("jax", [span(f"p{n}", n, n + 1) for n in range(100)], 0.0)
    assert (len(many.passes), many.seconds) == (30, pytest.approx(0.1))
    equal = [span("a", 0, 9), span("b", 0, 9), span("a", 0, 9)]
    assert sum_passes("jax", equal, 0.0).seconds == pytest.approx(0.009)
    assert sum_passes("jax", [], 0.0).reason == "nothing was compiled under the profiler"


def test_the_longest_stretch_is_replaced_by_what_is_in_it() -> None:
    parts = sum_passes("jax", SPANS, 90 * MS).parts
    assert [(p.name, round(p.start * 1e3), round(p.seconds * 1e3)) for p in parts] == [
        ("fusion", 20, 15), ("fusion", 40, 15), ("codegen", 60, 45),
    ]  # fmt: skip


def test_no_more_stretches_than_are_shown() -> None:
    spans = [span("all", 0, 100), *(span(f"p{n}", 5 * n, 5 * n + 5) for n in range(20))]
    parts = sum_passes("jax", spans, 0.0).parts
    assert len(parts) == 8
    assert [part.start for part in parts] == sorted(part.start for part in parts)


def test_the_report_lists_passes_and_lines() -> None:
    lines = (LineShare(9, "y = x @ x", 30), LineShare(0, "", 10))
    passes = CompilePasses("jax", (Pass("fusion", 2, 0.03),), 0.01, (), lines, 40)
    assert [*list_passes(passes)] == [
        Table("jax: passes of compiling, 40.0 ms in all", ("pass", "runs", "self time", "share"),
              (("fusion", "2", "30.0 ms", "75.0 %"),), folded=False)
    ]  # fmt: skip
    assert [*list_lines(passes)] == [
        Listing(
            "the program by line: 40 operations as written, loops counted once",
            (("9", 0.75, "30 operations", "y = x @ x"), ("", 0.25, "10 operations", "")),
        )
    ]
    assert [*list_passes(CompilePasses("jax"))] == [*list_lines(CompilePasses("jax"))] == []


def test_a_stretch_begins_where_it_began() -> None:
    ((name, segments, shown),) = axis_rows(sum_passes("jax", [span("A::Run", 5, 9)], 0.0))
    assert (name, shown) == ("  Run", "4.0 ms")
    assert [round(s.seconds * 1e3) for s in segments] == [5, 4]


def test_passes_make_a_cold_call() -> None:
    assert TimeOptions(passes=True).fresh == 1
    assert TimeOptions(passes=True, fresh=3).fresh == 3
    assert not TimeOptions(fresh=1).passes
    with pytest.raises(OptionError, match="passes=3: must be"):
        TimeOptions(passes=3)  # type: ignore[arg-type]
