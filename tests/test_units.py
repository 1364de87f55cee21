"""Numbers in words."""

import pytest
from hypothesis import assume, example, given, strategies as st

from ipyjaxbench import units

SCALES = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def read_back(words: str) -> float:
    """Seconds, read from words the way a person reads them."""
    tokens = words.split()
    pairs = zip(tokens[::2], tokens[1::2], strict=True)
    return sum(float(value) * SCALES[unit] for value, unit in pairs)


def significant(figure: str) -> int:
    """Digits that a figure claims to know."""
    return len(figure.replace(".", "").lstrip("-0"))


@pytest.mark.parametrize(
    ("value", "digits", "words"),
    [
        (2.1249, 3, "2.12"),
        (331.7, 3, "332"),
        (1234.5, 3, "1234"),
        (0.00123456, 2, "0.0012"),
        (-2.1249, 3, "-2.12"),
        (0.0, 3, "0"),
        (float("inf"), 3, "inf"),
        (float("nan"), 3, "nan"),
        (5.0, 1, "5"),
    ],
)
def test_a_number_has_the_digits_asked_for(value: float, digits: int, words: str) -> None:
    assert units.number(value, digits) == words


@given(st.floats(1e-9, 999), st.integers(2, 6))
@example(9.996, 3)
@example(0.9996, 3)
@example(99.96, 3)
def test_a_number_never_claims_more_digits_than_asked_for(value: float, digits: int) -> None:
    assume(value < 10**digits * 0.99)
    assert significant(units.number(value, digits)) == digits


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0 ns"),
        (3e-10, "0.300 ns"),
        (3e-8, "30.0 ns"),
        (999.4e-9, "999 ns"),
        (1e-6, "1.00 µs"),
        (0.00212, "2.12 ms"),
        (0.999, "999 ms"),
        (1.0, "1.00 s"),
        (59.4, "59.4 s"),
        (60.0, "1 min 0 s"),
        (95.0, "1 min 35 s"),
        (3599.0, "59 min 59 s"),
        (3600.0, "1.00 h"),
        (86400.0, "24.00 h"),
    ],
)
def test_a_duration_has_the_unit_that_a_person_would_choose(seconds: float, words: str) -> None:
    assert units.duration(seconds) == words


@given(st.floats(1e-9, 3e5), st.integers(2, 9))
def test_a_duration_reads_back_as_what_it_was(seconds: float, digits: int) -> None:
    coarse = 0 if seconds < 60 else 0.5 if seconds < 3599.5 else 18.0  # whole s, 0.005 h
    error = max(10.0 ** (1 - digits) * seconds, coarse)
    assert read_back(units.duration(seconds, digits)) == pytest.approx(seconds, abs=error)


@given(st.floats(1e-9, 59))
def test_a_duration_is_never_a_thousand_of_a_unit_that_has_a_next(seconds: float) -> None:
    figure, unit = units.duration(seconds).split()
    assert float(figure) < 1000
    assert unit in SCALES


def test_a_duration_just_under_the_next_unit_has_no_digit_more() -> None:
    assert units.duration(0.9996e-3) == "1.00 ms"
    assert units.duration(3599.9) == "1.00 h"


def test_a_duration_has_the_digits_asked_for() -> None:
    assert units.duration(0.0021234567, 6) == "2.12346 ms"
    assert units.duration(0.0021234567, 1) == "2 ms"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "just now"),
        (59.9, "just now"),
        (60, "1 minute ago"),
        (3599, "59 minutes ago"),
        (3600, "1 hour ago"),
        (86399, "23 hours ago"),
        (86400, "1 day ago"),
        (364 * 86400, "364 days ago"),
        (365 * 86400, "1 year ago"),
        (800 * 86400, "2 years ago"),
    ],
)
def test_an_age_is_told_to_one_unit(seconds: float, words: str) -> None:
    assert units.ago(seconds) == words


def test_versions_are_in_alphabetical_order() -> None:
    assert units.versions({"numpy": "2.1", "jax": "0.4"}) == "jax 0.4, numpy 2.1"
    assert units.versions({}) == ""


@pytest.mark.parametrize(
    ("nbytes", "words"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (36_000_000, "34.3 MiB"),
        (2**30, "1.00 GiB"),
        (3 * 2**40, "3.00 TiB"),
        (5000 * 2**40, "5000 TiB"),
    ],
)
def test_bytes_have_binary_units(nbytes: int, words: str) -> None:
    assert units.size(nbytes) == words


@given(st.integers(0, 2**50))
def test_bytes_read_back_as_what_they_were(nbytes: int) -> None:
    figure, unit = units.size(nbytes).split()
    assert float(figure) * BYTES[unit] == pytest.approx(nbytes, rel=0.006)


@pytest.mark.parametrize(
    ("operations", "words"),
    [
        (0, "0 FLOP"),
        (4.4, "4 FLOP"),
        (999, "999 FLOP"),
        (999.6, "1.00 kFLOP"),
        (999_400, "999 kFLOP"),
        (999_600, "1.00 MFLOP"),
        (256e6, "256 MFLOP"),
        (1.7e11, "170 GFLOP"),
        (3e12, "3.00 TFLOP"),
        (2.5e15, "2.50 PFLOP"),
    ],
)
def test_operations_have_decimal_units(operations: float, words: str) -> None:
    assert units.flops(operations) == words
    assert units.flops(operations, "/s") == f"{words}/s"


@pytest.mark.parametrize(
    ("rate", "words"),
    [(500, "500 B/s"), (20e9, "20.0 GB/s"), (3.35e12, "3.35 TB/s"), (5e15, "5000 TB/s")],
)
def test_bandwidths_have_decimal_units_up_to_terabytes(rate: float, words: str) -> None:
    assert units.bandwidth(rate) == words


@pytest.mark.parametrize(
    ("fraction", "words"),
    [(0.0113, "1.1 %"), (0.17, "17 %"), (0.0, "0 %"), (1.0, "100 %"), (0.0004, "0.040 %")],
)
def test_a_percentage_has_two_digits(fraction: float, words: str) -> None:
    assert units.percent(fraction) == words


def test_a_percentage_just_under_ten_has_two_digits() -> None:
    assert units.percent(0.0999) == "10 %"


def test_shares_have_one_decimal() -> None:
    assert [units.share(s) for s in (0.471, 0.00032, 1.0)] == ["47.1 %", "0.0 %", "100.0 %"]


def test_a_ratio_is_told_in_times() -> None:
    assert [units.times(r) for r in (56.2, 1.54, 1234.0)] == ["56×", "1.5×", "1234×"]


def test_a_count_is_in_the_plural_unless_it_is_one() -> None:
    told = [units.count(n, "call") for n in (0, 1, 2, 1_234_567)]
    assert told == ["0 calls", "1 call", "2 calls", "1,234,567 calls"]
    assert [units.count(n, "copy", "copies") for n in (1, 2)] == ["1 copy", "2 copies"]


@pytest.mark.parametrize(
    ("dtype", "shape", "words"),
    [
        ("float32", (128, 64), "f32[128,64]"),
        ("bfloat16", (3,), "bf16[3]"),
        ("complex64", (1, 1, 1), "c64[1,1,1]"),
        ("uint8", (), "u8[]"),
        ("int64", (0,), "i64[0]"),
        ("bool", (), "bool[]"),
        ("float8_e4m3fn", (2,), "float8_e4m3fn[2]"),
        ("object", (2,), "object[2]"),
        ("float32", (-1, 0, 64), "f32[?,0,64]"),
        ("float32", None, "f32?"),
    ],
)
def test_an_array_type_is_short(dtype: str, shape: tuple[int, ...] | None, words: str) -> None:
    assert units.array(dtype, shape) == words


def test_of_code_the_first_line_is_shown_with_the_number_of_lines() -> None:
    codes = ("f(x)", "\n  f(x)\ng(x)\n", "a\nb\nc", "")
    assert [units.heading(code) for code in codes] == ["f(x)", "f(x) … 2 lines", "a … 3 lines", ""]


def test_text_is_cut_where_it_is_longer_than_allowed() -> None:
    assert [units.cut(text, 3) for text in ("ab", "abc", "abcd")] == ["ab", "abc", "ab…"]


def test_every_sign_of_a_report_is_written_out_in_ascii() -> None:
    assert units.plain("2 µs ± 1 % · a → b – c … 3× — 語") == "2 us +- 1 % - a -> b - c ... 3x - ?"
    assert units.plain("▁▂▃▄▅▆▇█ └") == ".:-=+*#@ +"


@given(st.text())
def test_plain_text_is_ascii_and_ascii_stays_as_it_is(text: str) -> None:
    assert units.plain(text).isascii()
    if text.isascii():
        assert units.plain(text) == text


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.01, 0.12, "10–120 ms"),
        (0.0003, 0.0045, "0.30–4.5 ms"),
        (0.93e-3, 1.2e-3, "0.93–1.2 ms"),
        (2e-6, 0.09, "2.0 µs to 90 ms"),
        (1e-3, 1e-3, "1.0 ms"),
        (0.0, 2e-9, "0 ns to 2.0 ns"),
        (10.0, 90.0, "10 s to 1 min 30 s"),
    ],
)
def test_a_range_names_its_unit_once_where_both_ends_share_it(
    low: float, high: float, words: str
) -> None:
    assert units.span(low, high) == words


def test_a_figure_that_no_machine_can_have_stays_short() -> None:
    assert [units.duration(seconds) for seconds in (1e300, 1e-300)] == [
        "2.78e+296 h",
        "1.00e-291 ns",
    ]
