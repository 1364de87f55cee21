"""Numbers in words; more examples stand in the docstrings of the module."""

import pytest
from hypothesis import assume, example, given, strategies as st

from ipyjaxbench.units import (
    ago,
    array,
    bandwidth,
    count,
    duration,
    energy,
    flops,
    heading,
    number,
    percent,
    plain,
    share,
    size,
    span,
    times,
    versions,
)

SCALES = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
DAY = 86400


def read_back(words: str) -> float:
    """Seconds, read from words the way a person reads them."""
    tokens = words.split()
    pairs = zip(tokens[::2], tokens[1::2], strict=True)
    return sum(float(value) * SCALES[unit] for value, unit in pairs)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ((number(0.00123456, 2), number(-2.1249), number(5.0, 1)), ("0.0012", "-2.12", "5")),
        ((number(0.0), number(float("inf")), number(float("nan"))), ("0", "inf", "nan")),
        ((duration(0.0), duration(3e-10), duration(999.4e-9)), ("0 ns", "0.300 ns", "999 ns")),
        ((duration(1e-6), duration(0.9996e-3), duration(1.0)), ("1.00 µs", "1.00 ms", "1.00 s")),
        ((duration(59.4), duration(60.0), duration(3599.0)),
         ("59.4 s", "1 min 0 s", "59 min 59 s")),
        ((duration(3599.9), duration(3600.0), duration(86400.0)), ("1.00 h", "1.00 h", "24.00 h")),
        ((duration(0.0021234567, 6), duration(0.0021234567, 1)), ("2.12346 ms", "2 ms")),
        ((duration(1e300), duration(1e-300)), ("2.78e+296 h", "1.00e-291 ns")),  # forged
        ((span(0.93e-3, 1.2e-3), span(1e-3, 1e-3)), ("0.93–1.2 ms", "1.0 ms")),
        ((span(0.0, 2e-9), span(10.0, 90.0)), ("0 ns to 2.0 ns", "10 s to 1 min 30 s")),
        ((ago(59.9), ago(60), ago(3599)), ("just now", "1 minute ago", "59 minutes ago")),
        ((ago(3600), ago(DAY - 1), ago(DAY)), ("1 hour ago", "23 hours ago", "1 day ago")),
        ((ago(364 * DAY), ago(365 * DAY), ago(800 * DAY)),
         ("364 days ago", "1 year ago", "2 years ago")),
        ((size(0), size(1023), size(1024)), ("0 B", "1023 B", "1.00 KiB")),
        ((size(2**30), size(3 * 2**40), size(5000 * 2**40)), ("1.00 GiB", "3.00 TiB", "5000 TiB")),
        ((flops(0), flops(4.4), flops(999)), ("0 FLOP", "4 FLOP", "999 FLOP")),
        ((flops(999.6), flops(999_400), flops(999_600)), ("1.00 kFLOP", "999 kFLOP", "1.00 MFLOP")),
        ((flops(3e12, "/s"), flops(2.5e15)), ("3.00 TFLOP/s", "2.50 PFLOP")),
        ((bandwidth(500), bandwidth(20e9), bandwidth(5e15)), ("500 B/s", "20.0 GB/s", "5000 TB/s")),
        ((energy(2e-9), energy(0.0)), ("2.00 nJ", "0 J")),
        ((percent(0.0), percent(1.0), percent(0.0004)), ("0 %", "100 %", "0.040 %")),
        ((percent(0.0999), share(1.0), times(1.54)), ("10 %", "100.0 %", "1.5×")),
        ((count(0, "call"), count(1_234_567, "call")), ("0 calls", "1,234,567 calls")),
        ((array("bfloat16", (3,)), array("complex64", (1, 1))), ("bf16[3]", "c64[1,1]")),
        ((array("uint8", ()), array("int64", (0,))), ("u8[]", "i64[0]")),
        ((array("float8_e4m3fn", (2,)), array("object", (2,))), ("float8_e4m3fn[2]", "object[2]")),
        ((array("float32", (-1, 0, 64)),), ("f32[?,0,64]",)),
        ((heading("\n  f(x)\ng(x)\n"), heading("a\nb\nc"), heading("")),
         ("f(x) … 2 lines", "a … 3 lines", "")),
        ((versions({}),), ("",)),
        ((plain("± 1 % · a → b – c … 3× — 語"),), ("+- 1 % - a -> b - c ... 3x - ?",)),
        ((plain("▁▂▃▄▅▆▇█ └"),), (".:-=+*#@ +",)),
    ],
)  # fmt: skip
def test_figures_read_so(made: tuple[str, ...], words: tuple[str, ...]) -> None:
    assert made == words


@given(st.floats(1e-9, 999), st.integers(2, 6))
@example(9.996, 3)
@example(0.9996, 3)
@example(99.96, 3)
def test_a_number_never_claims_more_digits_than_asked_for(value: float, digits: int) -> None:
    assume(value < 10**digits * 0.99)
    assert len(number(value, digits).replace(".", "").lstrip("-0")) == digits


@given(st.floats(1e-9, 3e5), st.integers(2, 9))
def test_a_duration_reads_back_as_what_it_was(seconds: float, digits: int) -> None:
    coarse = 0 if seconds < 60 else 0.5 if seconds < 3599.5 else 18.0  # whole s, 0.005 h
    error = max(10.0 ** (1 - digits) * seconds, coarse)
    assert read_back(duration(seconds, digits)) == pytest.approx(seconds, abs=error)
    assert seconds > 59 or float(duration(seconds).split()[0]) < 1000


@given(st.integers(0, 2**50))
def test_bytes_read_back_as_what_they_were(nbytes: int) -> None:
    figure, unit = size(nbytes).split()
    assert float(figure) * BYTES[unit] == pytest.approx(nbytes, rel=0.006)


@given(st.text())
def test_plain_text_is_ascii_and_ascii_stays_as_it_is(text: str) -> None:
    assert plain(text).isascii()
    if text.isascii():
        assert plain(text) == text
