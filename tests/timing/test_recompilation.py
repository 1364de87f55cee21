"""Samples in which something is compiled: left out where they are few, the figure where not."""

import pytest

from tests.bench import MS, Bench, notes_by_code


@pytest.mark.parametrize(
    ("compiling", "code"), [(320_000, "compiles-too"), (345_000, "recompiles")]
)
def test_code_that_compiles_for_a_quarter_of_each_call_has_no_steady_state(
    bench: Bench, compiling: int, code: str
) -> None:
    bench.counted(lambda _: bench.device.compile(compiling))  # and a millisecond of work
    m = bench.time("call()", number=1, repeat=20)
    assert list(notes_by_code(m)) == [code]
    assert (m.verdict == "RECOMPILES") is (code == "recompiles")


def test_what_compiling_takes_of_each_call_is_told(bench: Bench) -> None:
    bench.counted(lambda _: bench.device.compile(MS // 4))
    assert notes_by_code(bench.time("call()", number=1, repeat=20))["compiles-too"] == (
        "Every call traces or compiles something, which takes 250 µs of its 1.25 ms."
    )
    assert notes_by_code(bench.time("call()", number=2, repeat=20))["compiles-too"] == (
        "Every call traces or compiles something, which takes 250 µs of its 1.25 ms."
    )


@pytest.mark.parametrize(("late", "code"), [(10, "compiled-late"), (11, "recompiles")])
def test_up_to_half_of_the_samples_are_left_out(bench: Bench, late: int, code: str) -> None:
    # The first call of all is the first sample's; it is no sample by itself.
    bench.counted(lambda turn: bench.device.compile(9 * MS) if 1 < turn <= late + 1 else None)
    m = bench.time("call()", number=1, repeat=21)
    assert list(notes_by_code(m)) == [code]
    assert len(m.batches) == (20 - late if code == "compiled-late" else 20)
    assert (max(m.samples) < 0.002) is (code == "compiled-late")
