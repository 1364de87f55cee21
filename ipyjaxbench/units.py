"""Seconds, bytes, FLOPs, counts and types in words; the only file that knows "ms" and "MiB"."""

import math
from collections.abc import Mapping, Sequence

_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_AGES = ((365 * 86400, "year"), (86400, "day"), (3600, "hour"), (60, "minute"))
_BYTES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
_DECIMAL = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_FRACTIONS = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
_MAX_ZEROS = 15
_KINDS = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}
#: Controls but for tabs and ends of lines; line separators; what sets the direction of text.
_OBEYED = {
    **{n: f"\\x{n:02x}" for n in (*range(32), *range(127, 160)) if chr(n) not in "\t\n\r"},
    **{
        n: f"\\u{n:04x}"
        for n in (0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
    },
}
_PLAIN = str.maketrans(
    {
        "±": "+-",
        "µ": "u",
        "→": "->",
        "×": "x",
        "·": "-",
        "–": "-",
        "…": "...",
        "≈": "~",
        "—": "-",
        "⇄": "<>",
    }
) | str.maketrans("▁▂▃▄▅▆▇█▒▓░▚▞✓✗▲↻○▸─━│┊├┤┼┬└◀▶≈", ".:-=+*#@:=.%/+x!@o>-=||||+++<>~")


def number(value: float, digits: int = 3) -> str:
    """``value`` to ``digits`` significant digits, never in powers of ten below 10**digits.

    >>> number(2.1249), number(331.7), number(1234.5)
    ('2.12', '332', '1234')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = f"{value:.{digits - 1}e}"
    exponent = int(rounded.partition("e")[2])  # after rounding: 9.996 is 10.0
    if abs(exponent) > _MAX_ZEROS:  # of a forged record
        return rounded
    decimals = digits - 1 - exponent
    return f"{value:.{max(decimals, 0)}f}"


def duration(seconds: float, digits: int = 3) -> str:
    """Seconds with the unit that a person would choose.

    >>> duration(0.00212), duration(3e-8), duration(95)
    ('2.12 ms', '30.0 ns', '1 min 35 s')
    """
    if math.isinf(seconds):  # of a forged record
        return "∞"
    if seconds >= 60:
        minutes, rest = divmod(round(seconds), 60)
        if seconds > 10.0**_MAX_ZEROS:
            return f"{number(seconds / 3600, digits)} h"
        return f"{minutes} min {rest} s" if minutes < 60 else f"{seconds / 3600:.2f} h"
    for size, unit in _SECONDS:
        # A figure that would be rounded up to 1000 of a unit is shown in the next one.
        if seconds >= size * (1 - 0.5 * 10**-digits):
            return f"{number(seconds / size, digits)} {unit}"
    return "0 ns" if seconds == 0 else f"{number(seconds * 1e9, digits)} ns"


def span(low: float, high: float, digits: int = 2) -> str:
    """Two ends of a range of seconds, with the unit once where they share it.

    >>> span(0.01, 0.12), span(0.0003, 0.0045), span(2e-6, 0.09)
    ('10–120 ms', '0.30–4.5 ms', '2.0 µs to 90 ms')
    """
    first, last = duration(low, digits), duration(high, digits)
    if first == last:
        return first
    for size, unit in _SECONDS:
        if last.endswith(f" {unit}") and last.count(" ") == 1 and low >= 0.1 * size:
            return f"{number(low / size, digits)}–{last}"
    return f"{first} to {last}"


def versions(known: Mapping[str, str]) -> str:
    """Names with their versions, by the alphabet.

    >>> versions({"numpy": "2.1", "jax": "0.4"})
    'jax 0.4, numpy 2.1'
    """
    return ", ".join(f"{name} {version}" for name, version in sorted(known.items()))


def ago(seconds: float) -> str:
    """How long ago something was, to one unit.

    >>> ago(5), ago(7200), ago(200_000)
    ('just now', '2 hours ago', '2 days ago')
    """
    for length, unit in _AGES:
        if seconds >= length:
            return f"{count(int(seconds / length), unit)} ago"
    return "just now"


def size(nbytes: int) -> str:
    """Bytes with a binary unit.

    >>> size(36_000_000), size(512)
    ('34.3 MiB', '512 B')
    """
    for scale, unit in _BYTES:
        if nbytes >= scale:
            return f"{number(nbytes / scale)} {unit}"
    return f"{nbytes} B"


def flops(operations: float, per: str = "") -> str:
    """Arithmetic operations with a decimal unit.

    >>> flops(256e6), flops(1.7e11, "/s"), flops(4)
    ('256 MFLOP', '170 GFLOP/s', '4 FLOP')
    """
    return _scaled(operations, f"FLOP{per}", _DECIMAL)


def bandwidth(rate: float) -> str:
    """Bytes in a second with a decimal unit, as makers of memory tell it.

    >>> bandwidth(62.2e9), bandwidth(3.35e12)
    ('62.2 GB/s', '3.35 TB/s')
    """
    return _scaled(rate, "B/s", _DECIMAL[1:])


def energy(joules: float) -> str:
    """Joules with the unit that a person would choose.

    >>> energy(0.943), energy(1320), energy(1)
    ('943 mJ', '1.32 kJ', '1.00 J')
    """
    return _scaled(joules, "J", (*_DECIMAL, *_FRACTIONS))


def power(watts: float) -> str:
    """Watts with the unit that a person would choose.

    >>> power(664.2), power(0.5)
    ('664 W', '500 mW')
    """
    return _scaled(watts, "W", (*_DECIMAL, *_FRACTIONS))


def _scaled(value: float, unit: str, prefixes: Sequence[tuple[float, str]]) -> str:
    for scale, prefix in prefixes:
        if value >= scale * 0.9995:
            return f"{number(value / scale)} {prefix}{unit}"
    return f"{round(value)} {unit}"


def percent(fraction: float) -> str:
    """A fraction as a percentage with two digits.

    >>> percent(0.0113), percent(0.17)
    ('1.1 %', '17 %')
    """
    return f"{number(100 * fraction, 2)} %"


def share(fraction: float) -> str:
    """A part of a whole, so that a column of them lines up.

    >>> share(0.471), share(0.00032)
    ('47.1 %', '0.0 %')
    """
    return f"{100 * fraction:.1f} %"


def times(ratio: float) -> str:
    """How many times, to two digits.

    >>> times(56.2)
    '56×'
    """
    return f"{number(ratio, 2)}×"


def count(n: int, noun: str, many: str = "") -> str:
    """A number with its noun, in the plural where it is one.

    >>> count(1, "call"), count(1200, "call"), count(2, "copy", "copies")
    ('1 call', '1,200 calls', '2 copies')
    """
    return f"{n:,} {noun if n == 1 else many or f'{noun}s'}"


def array(dtype: str, shape: Sequence[int] | None) -> str:
    """An array's type the way programs are printed; -1 and None stand for what is not known.

    >>> array("float32", (128, 64)), array("bool", ())
    ('f32[128,64]', 'bool[]')
    >>> array("float32", (-1, 64)), array("float32", None)
    ('f32[?,64]', 'f32?')
    """
    kind = dtype.rstrip("0123456789")
    short = _KINDS[kind] + dtype[len(kind) :] if kind in _KINDS else dtype
    if shape is None:
        return f"{short}?"
    return f"{short}[{','.join('?' if n < 0 else str(n) for n in shape)}]"


def heading(code: str) -> str:
    r"""Return the first line of some code, and how many lines it has where there are several.

    >>> heading("f(x)"), heading("f(x)\ng(x)")
    ('f(x)', 'f(x) … 2 lines')
    """
    first, *more = code.strip().splitlines() or [""]
    return f"{first} … {count(len(more) + 1, 'line')}" if more else first


def cut(text: str, most: int) -> str:
    """Return text of at most so many characters.

    >>> cut("abc", 3), cut("abcd", 3)
    ('abc', 'ab…')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def visible(text: str) -> str:
    r"""Return text with signs written out that a terminal obeys, or that turn others around.

    >>> visible("a\x1b[2Jb\u202ec"), visible("x\ty")
    ('a\\x1b[2Jb\\u202ec', 'x\ty')
    """
    return text.translate(_OBEYED)


def plain(text: str) -> str:
    """``text`` with every sign that ASCII lacks written out.

    >>> plain("2 µs ± 1 %")
    '2 us +- 1 %'
    """
    return text.translate(_PLAIN).encode("ascii", "replace").decode()
