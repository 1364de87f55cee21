"""Where values lie, and the ticks that stand beside them."""

import math

import pytest
from hypothesis import given, strategies as st

from ipyjaxbench.reports.pictures.scales import Scale, tick_label


def test_equal_lengths_are_equal_steps_or_equal_ratios() -> None:
    assert [Scale(0.0, 10.0).place(v) for v in (0, 2.5, 10)] == [0, 0.25, 1]
    logarithmic = Scale(1.0, 100.0, log=True)
    assert [logarithmic.place(v) for v in (1, 10, 100)] == pytest.approx([0, 0.5, 1])
    assert [Scale(1.0, 2.0).place(v) for v in (-5, 9)] == [0, 1]  # outside: at the edge
    assert Scale(1.0, 2.0, log=True).place(0.0) == 0
    assert Scale(3.0, 3.0).place(3.0) == 0.5


DAY, WIDE = 86400.0, Scale(7e-7, 2e-2, "s", log=True)


@pytest.mark.parametrize(
    ("scale", "most", "shown"),
    [
        # Decades where a logarithmic scale is wide,
        (WIDE, 5, "1 µs, 10 µs, 100 µs, 1 ms, 10 ms"),
        (WIDE, 3, "1 µs, 100 µs, 10 ms"),
        (Scale(1.0, 40.0, log=True), 6, "1, 2, 5, 10, 20"),
        # even steps where it is narrow, of bytes by powers of two,
        (Scale(1.01e-3, 1.34e-3, "s", log=True), 5, "1.1 ms, 1.2 ms, 1.3 ms"),
        (Scale(0.0, 0.0343, "s"), 5, "0, 10 ms, 20 ms, 30 ms"),
        (Scale(0.0, 40_000.0, "B"), 5, "0, 8.00 KiB, 16.0 KiB, 24.0 KiB, 32.0 KiB"),
        # none that is written twice,
        (Scale(68.0, 68.9, "s"), 5, "1 min 8 s, 1 min 9 s"),
        (Scale(68.6314585615545, 68.63145856155452, "s"), 5, "1 min 9 s"),
        # and dates as exact as the span needs.
        (Scale(10.5 * DAY, 13.5 * DAY, "date"), 2, "Jan 11, Jan 14"),
        (Scale(1.0, 500.0, "date"), 5, "00:02:00, 00:04:00, 00:06:00, 00:08:00"),
        (Scale(0.5 * DAY, 900 * DAY, "date"), 2, "1971-01, 1972-01"),
        (Scale(5.25, 5.5, "date"), 5, "00:00:05.300, 00:00:05.400, 00:00:05.500"),
        (Scale(1e40, 1e40, "date"), 5, "?"),
    ],
)
def test_ticks_are_round_values_with_their_units(scale: Scale, most: int, shown: str) -> None:
    assert ", ".join(label for _, label in scale.ticks(most)) == shown


def test_within_a_day_a_date_is_a_time() -> None:
    ticks = Scale(10.5 * DAY, 10.6 * DAY, "date").ticks(5)
    assert [len(label) for _, label in ticks] == [5] * 3
    assert Scale(0.0, 1.0, "B").ticks(5)[0][1] == "0"


@pytest.mark.parametrize(("value", "unit", "label"), [
    (2.5e-3, "s", "2.5 ms"),
    (0.0, "s", "0"),
    (2e11, "FLOP/s", "200 GFLOP/s"),
    (2048, "B", "2.00 KiB"),
    (0.1, "FLOP/B", "0.1"),
    (1024, "", "1,024"),
])  # fmt: skip
def test_a_tick_has_its_unit_and_no_digits_that_say_nothing(
    value: float, unit: str, label: str
) -> None:
    assert tick_label(value, unit) == label


@given(
    st.floats(1e-9, 1e3), st.floats(1.0, 1e12), st.integers(2, 8), st.booleans(),
    st.sampled_from(["s", "", "FLOP/s"]),
)  # fmt: skip
def test_ticks_lie_between_the_ends_and_are_few(
    low: float, ratio: float, most: int, log: bool, unit: str
) -> None:
    scale = Scale(low, low * ratio, unit, log=log)
    ticks = scale.ticks(most)
    assert len(ticks) <= most + 1
    slack = 1e-6 * (scale.high - scale.low) + 1e-9 * scale.high
    assert all(scale.low - slack <= value <= scale.high + slack for value, _ in ticks)
    assert all(math.isfinite(scale.place(value)) for value, _ in ticks)
