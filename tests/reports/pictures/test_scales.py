"""Where values lie, and the ticks that stand beside them."""

import math

import pytest
from hypothesis import given, strategies as st

from ipyjaxbench.reports.pictures.scales import Scale, tick_label


def labels(scale: Scale, most: int = 5) -> list[str]:
    return [label for _, label in scale.ticks(most)]


def test_equal_lengths_are_equal_steps_or_equal_ratios() -> None:
    assert [Scale(0.0, 10.0).place(v) for v in (0, 2.5, 10)] == [0, 0.25, 1]
    logarithmic = Scale(1.0, 100.0, log=True)
    assert [logarithmic.place(v) for v in (1, 10, 100)] == pytest.approx([0, 0.5, 1])


def test_what_lies_outside_is_drawn_at_the_edge() -> None:
    assert [Scale(1.0, 2.0).place(v) for v in (-5, 9)] == [0, 1]
    assert Scale(1.0, 2.0, log=True).place(0.0) == 0
    assert Scale(3.0, 3.0).place(3.0) == 0.5


def test_decades_have_the_ticks_of_a_wide_logarithmic_scale() -> None:
    assert labels(Scale(7e-7, 2e-2, "s", log=True)) == ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]
    assert labels(Scale(7e-7, 2e-2, "s", log=True), 3) == ["1 µs", "100 µs", "10 ms"]
    assert labels(Scale(1.0, 40.0, log=True), 6) == ["1", "2", "5", "10", "20"]


def test_a_narrow_scale_has_even_ticks() -> None:
    assert labels(Scale(1.01e-3, 1.34e-3, "s", log=True)) == ["1.1 ms", "1.2 ms", "1.3 ms"]
    assert labels(Scale(0.0, 0.0343, "s")) == ["0", "10 ms", "20 ms", "30 ms"]


def test_no_tick_is_written_twice() -> None:
    assert labels(Scale(68.0, 68.9, "s")) == ["1 min 8 s", "1 min 9 s"]
    assert labels(Scale(68.6314585615545, 68.63145856155452, "s")) == ["1 min 9 s"]


def test_dates_are_as_exact_as_the_span_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    day = 86400.0
    assert labels(Scale(10.5 * day, 13.5 * day, "date"), 2) == ["Jan 11", "Jan 14"]
    assert [len(label) for label in labels(Scale(10.5 * day, 10.6 * day, "date"))] == [5] * 3
    assert labels(Scale(1.0, 500.0, "date")) == ["00:02:00", "00:04:00", "00:06:00", "00:08:00"]
    assert labels(Scale(0.5 * day, 900 * day, "date"), 2) == ["1971-01", "1972-01"]
    assert labels(Scale(5.25, 5.5, "date")) == ["00:00:05.300", "00:00:05.400", "00:00:05.500"]
    assert labels(Scale(1e40, 1e40, "date")) == ["?"]


@pytest.mark.parametrize(
    ("value", "unit", "label"),
    [
        (2.5e-3, "s", "2.5 ms"),
        (0.0, "s", "0"),
        (2e11, "FLOP/s", "200 GFLOP/s"),
        (2048, "B", "2.00 KiB"),
        (0.1, "FLOP/B", "0.1"),
        (1024, "", "1,024"),
    ],
)
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


def test_ticks_of_bytes_are_powers_of_two_apart() -> None:
    assert labels(Scale(0.0, 40_000.0, "B")) == [
        "0", "8.00 KiB", "16.0 KiB", "24.0 KiB", "32.0 KiB",
    ]  # fmt: skip
    assert labels(Scale(0.0, 1.0, "B"))[0] == "0"
