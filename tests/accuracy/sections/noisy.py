"""Whether work is found or imagined on a device that only a clock can ask, as noisy as an H100."""

import math
import random
from collections.abc import Iterator, Sequence
from unittest.mock import patch

from ipyjaxbench.timing.measure import measure_snippet
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.accuracy.section import Column, Row, Section
from tests.noisy_gpu import DRIVER, TINY_PROGRAM, Look, NoisyGpu, names

_LOOKS = {"driver": DRIVER, "tiny program": TINY_PROGRAM}
_CALLS_NS = (30_000, 10_000_000)  # from, to; evenly by their logarithms
_HIDDEN = {"none": (0.0, 0.0), "10 to 30 %": (0.1, 0.3), "30 % and more": (0.3, 2.0)}  # of a call
_EACH = 112  # measurements in a round, of each kind: three rounds are 2,016
#: What a headline may be off by. Hidden work below the second overlaps with the next call's start.
_OFF, _OFF_NS = 0.03, 10_000
_SMALL_NS = 25_000  # of hidden work: asking varies by as much


def measure(group: str, rounds: int) -> Iterator[Row]:
    """A row for each way of asking and kind of code."""
    for way, look in _LOOKS.items():
        for kind, (least, most) in _HIDDEN.items():
            draw = random.Random(f"{way} {kind}")
            found = [_measure(look, draw, least, most) for _ in range(_EACH * rounds)]
            large = [told for hidden, told, _ in found if hidden > _SMALL_NS]
            yield {
                "group": group, "name": f"{way}, hidden work: {kind}", "hides": most > 0,
                "driver": way == "driver", "measured": len(found),
                "found": sum(told for _, told, _ in found),
                "large": len(large), "large_found": sum(large),
                "off": sum(off for *_, off in found),
            }  # fmt: skip


def _measure(look: Look, draw: random.Random, least: float, most: float) -> tuple[int, bool, bool]:
    """Nanoseconds that are hidden, whether they are told, and whether the headline is off."""
    low, high = map(math.log, _CALLS_NS)
    work = round(math.exp(draw.uniform(low, high)))
    hidden = round(work * draw.uniform(least, most))
    gpu = NoisyGpu(look, draw.randrange(2**32))
    with patch("ipyjaxbench.timing.session.loaded", lambda: ([gpu], {})):
        snippet = Snippet(Source.plain("call()"), names(gpu, work, hidden))
        m = measure_snippet(snippet, TimeOptions(budget=0.5), clock=gpu.device.clock)
    told = any(note.code == "elsewhere" for note in m.notes)
    allowed = max(_OFF * (work + hidden), _OFF_NS)
    return hidden, told, abs(m.median * 1e9 - work - hidden) > allowed


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    ours = [row for row in rows if row["driver"]]
    honest, hiding = ([row for row in ours if row["hides"] is hides] for hides in (False, True))
    imagined, made = (sum(row[part] for row in honest) for part in ("found", "measured"))
    yield f"By the driver, work was imagined in {imagined} of {made:,}; none wanted."
    large_found, large = (sum(row[part] for row in hiding) for part in ("large_found", "large"))
    yield (
        f"More than {_SMALL_NS // 1000} µs of it were found in {large_found} of {large:,};"
        " 99 % wanted."
    )
    off, made = (sum(row[part] for row in ours) for part in ("off", "measured"))
    yield f"The headline was more than 3 % and 10 µs off in {off} of {made:,}; none wanted."


NOISY = Section(
    name="noisy",
    title="Is work found, and none imagined, where only a noisy clock can tell?",
    method=(
        "Calls of 30 µs to 10 ms on a device that is told how long it computes, and works in order."
        " Asking it takes as long as `cuCtxSynchronize` took on an H100, or as a tiny JAX program:"
        " 2 to 3.5 µs (75 to 80) right after another question, 6 to 29 µs (80 to 150) after a call,"
        " and one of twenty answers is late by up to 200 µs. A headline is off where it is more"
        " than 3 % and more than 10 µs from the time of all work."
    ),
    columns=(
        Column("measured", 8, "measurements", "{measured:,}"),
        Column("found", 5, "of these, with a note on hidden work", "{found:,}"),
        Column("off", 5, "of these, with a headline that is off", "{off:,}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("python",),
)  # fmt: skip
