"""Peaks beside each other: the best of two looks, and how they are shown."""

import dataclasses
import re
import warnings

import pytest

import ipyjaxbench
from ipyjaxbench import Peaks
from ipyjaxbench.device import peaks_store
from ipyjaxbench.device.peaks import DevicePeaks
from ipyjaxbench.host import Clock
from ipyjaxbench.reports import Facts, Headline, Note, Notes, Table
from tests.device.peaks import KEY, PEAKS
from tests.fake_framework import FakeFramework
from tests.shell import Shell


def words(*found: DevicePeaks) -> str:
    return " ".join(str(Peaks(found, 1000.0)).split())


def test_the_best_of_two_peaks_is_taken_figure_by_figure() -> None:
    one = dataclasses.replace(
        PEAKS, upload=1e9, products={"float32": 1e9, "float64": 3e9},
        spreads={"float64": 0.01, "memory": 0.2}, missing=("int8", "float16"),
    )  # fmt: skip
    other = dataclasses.replace(
        PEAKS, bandwidth=30e9, upload=2e9, latency=2e-6, products={"float32": 2e9, "int8": 1e9},
        spreads={"int8": 0.04, "memory": 0.02}, missing=("float16",),
    )  # fmt: skip
    for best in (one.combine(other), other.combine(one)):
        assert (best.bandwidth, best.upload, best.download, best.latency) == (30e9, 2e9, None, 1e-6)
        assert best.products == {"float32": 2e9, "float64": 3e9, "int8": 1e9}
        assert best.spreads == {"float64": 0.01, "int8": 0.04, "memory": 0.02}
        assert (best.spread, best.missing) == (0.04, ("float16",))
    unknown = dataclasses.replace(PEAKS, latency=None)
    assert unknown.combine(PEAKS).latency == PEAKS.latency


@pytest.mark.parametrize(
    ("device", "others", "disturbed"),
    [("cpu", 0.1, False), ("cpu:0", 0.11, True), ("gpu:0", 0.5, False)],
)
def test_other_programs_disturb_the_host(device: str, others: float, disturbed: bool) -> None:
    peaks = dataclasses.replace(PEAKS, device=device, others=others)
    assert peaks.is_disturbed is disturbed
    assert ("CPU peaks are" in words(peaks)) is disturbed
    assert ("Other programs used" in words(peaks)) is (others > 0.1)
    goes_on = "no time was left, `peaks()` goes on with it"  # where what was measured is stored
    assert (goes_on in words(dataclasses.replace(peaks, missing=("int8",)))) is not disturbed
    rest = dataclasses.replace(PEAKS, device=device, products={"int8": 1e9})
    assert rest.combine(peaks).is_disturbed is disturbed
    assert not PEAKS.combine(peaks).is_disturbed  # everything was measured again


def test_products_are_named_by_what_the_chip_computed_with() -> None:
    """As measured on an H100: JAX multiplies float32 on tensor cores, PyTorch does not."""
    h100 = dataclasses.replace(PEAKS, kind="NVIDIA H100 80GB HBM3, compute capability 9.0",
                               bandwidth=2.86e12)  # fmt: skip
    of_jax = dataclasses.replace(h100, framework="jax", device="gpu:0",
                                 products={"float32": 421e12, "bfloat16": 707e12})  # fmt: skip
    of_torch = dataclasses.replace(h100, framework="torch", device="cuda:0",
                                   products={"float32": 51.7e12})  # fmt: skip
    text = words(of_jax, of_torch)
    assert re.search(r"TF32 matmul 421 TFLOP/s -", text)
    assert re.search(r"bfloat16 matmul 707 TFLOP/s -", text)
    assert re.search(r"float32 matmul - 51\.7 TFLOP/s", text)
    assert "jax gpu:0: TF32 85 %, bfloat16 71 %, memory 85 % of what is stated of an H100" in text
    assert "torch cuda:0: float32 77 %, memory 85 % of what is stated of an H100 (dense)" in text


REPORT = """\
peak          2 devices   stored earlier; `remeasure=True` measures again
  highest measured       fake cpu    jax gpu:0
  float32 matmul      100 GFLOP/s            -
  bfloat16 matmul               -  800 TFLOP/s
  memory bandwidth      20.0 GB/s    20.0 GB/s
  host to device                -    50.0 GB/s
  device to host                -    25.0 GB/s
  smallest operation      1.00 µs      1.00 µs
fake cpu      measured 2 hours ago, repeated measurements differ by up to 1.0 %
jax gpu:0     NVIDIA H100, 2 threads, a setting, measured 2 hours ago, repeated
              measurements differ by up to 1.0 %
no transfers  fake cpu: arrays are in host memory
·  Other programs used 40 % of the CPUs during the measurement.
→  run `peaks(remeasure=True)` when the machine is quiet
·  a sentence of earlier versions
·  a note
fake 1.0 · jax 1.0
"""


def test_the_report_in_text() -> None:
    other = dataclasses.replace(
        PEAKS, framework="jax", device="gpu:0", kind="NVIDIA H100", products={"bfloat16": 8e14},
        upload=50e9, download=25e9, others=0.4, threads=2, settings="a setting",
    )  # fmt: skip
    notes = ("a sentence of earlier versions", Note("peaks-unread", "a note"))
    found = Peaks((PEAKS, other), 1000.0 + 7200, 0.0, notes)
    assert str(found) == REPORT.rstrip()
    assert Peaks.from_dict(found.to_dict()) == found


@pytest.mark.parametrize(
    ("spread", "shown"),
    [
        (0.2, "repeated measurements differ by up to 20 %"),
        (0.21, "repeated measurements differ by up to 21 % (unreliable)"),
        (1.0, "some figures measured only once (unreliable)"),
    ],
)
def test_earlier_versions_have_one_number_for_all_figures(spread: float, shown: str) -> None:
    found = Peaks((dataclasses.replace(PEAKS, spread=spread),), 1000.0)
    (facts,) = (block for block in found.report().blocks if isinstance(block, Facts))
    assert facts.rows[0] == ("fake cpu", f"measured just now, {shown}")


def test_each_figure_has_its_spread_beside_it_and_what_is_uncertain_is_named() -> None:
    gpu = dataclasses.replace(
        PEAKS, framework="torch", device="cuda:0", kind="a GPU",
        products={"float32": 51.7e12, "float64": 55e12}, upload=50e9, download=None,
        spreads={"float32": 0.034, "float64": 1.0, "memory": 0.0, "upload": 0.121},
        missing=("download", "float16", "int8"),
    )  # fmt: skip
    text = words(gpu)
    for row in ("float32 matmul 51.7 TFLOP/s ± 4 %", "float64 matmul 55.0 TFLOP/s memory",
                "memory bandwidth 20.0 GB/s ± 0 %", "host to device 50.0 GB/s ± 13 %"):  # fmt: skip
        assert row in text
    assert "just now, measured only once (unreliable): float64 matmul ± how far the best" in text
    assert (
        "not measured torch cuda:0: float16, int8 matmul, device to host: no time was left,"
        " `peaks()` goes on with it"
    ) in text
    assert "no transfers" not in text
    html = Peaks((gpu,), 1000.0)._repr_mimebundle_()["text/html"]
    assert "51.7 TFLOP/s ± 4 %" in html
    steady = dataclasses.replace(gpu, spreads={"float32": 0.01, "memory": 0.4}, missing=())
    assert not any(each in words(steady) for each in ("once", "not measured"))


def test_other_programs_are_said_once_for_all_devices() -> None:
    found = Peaks(
        tuple(dataclasses.replace(PEAKS, others=share) for share in (0.53, 0.05, 0.56)), 0.0
    )
    (notes,) = (block for block in found.report().blocks if isinstance(block, Notes))
    assert notes.notes == (
        Note(
            "peaks-disturbed",
            "Other programs used 53–56 % of the CPUs during the measurement: CPU peaks are too"
            " low, and were not stored.",
            "run `peaks(remeasure=True)` when the machine is quiet",
        ),
    )


def test_the_headline_says_whether_they_were_measured_now() -> None:
    def headline(*found: DevicePeaks, seconds: float = 0.0) -> tuple[str, str]:
        head = Peaks(found, 0.0, seconds).report().blocks[0]
        assert isinstance(head, Headline)
        assert (head.title, head.verdict) == ("peak", "")
        return head.figure, head.detail

    assert headline(PEAKS, seconds=1.5) == ("1 device", "measured in 1.5 s")
    again = "stored earlier; `remeasure=True` measures again"
    assert headline(PEAKS, PEAKS) == ("2 devices", again)
    assert headline() == ("no device", "no framework is initialized (`start=True`)")
    assert repr(Peaks((PEAKS,), 0.0)) == "<Peaks 1 devices>"


def test_three_peaks_stand_side_by_side_and_what_none_has_is_left_out() -> None:
    def tables(count: int) -> list[Table]:
        blocks = Peaks((bare,) * count, 0.0).report().blocks
        return [block for block in blocks if isinstance(block, Table)]

    bare = dataclasses.replace(PEAKS, bandwidth=None)
    columns = [[len(table.head) - 1 for table in tables(count)] for count in (0, 3, 4, 5)]
    assert columns == [[], [3], [2, 2], [3, 2]]
    assert [row[0] for row in tables(1)[0].rows] == ["float32 matmul", "smallest operation"]


def test_the_old_name_works_and_says_so(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Clock, "elapsed", lambda: fake.device.clock)
    peaks_store.write(KEY, PEAKS)
    later = "The old name still works, until version 0.3."
    with pytest.warns(FutureWarning) as caught:
        found = ipyjaxbench.ceilings().found, ipyjaxbench.ceilings(fresh=True).found
    assert [(str(each.message), each.filename) for each in caught] == [
        (f"ceilings() is now peaks(). {later}", __file__),
        (f"ceilings(fresh=…) is now peaks(remeasure=…). {later}", __file__),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ipyjaxbench.peaks().found == found[1] != found[0] == (PEAKS,)


def test_the_magic_shows_peaks(shell: Shell, fake: FakeFramework) -> None:
    peaks_store.write(KEY, PEAKS)
    shell.run("%fwdevices --peak -v found")
    assert shell.names["found"].found == (PEAKS,)
    assert "100 GFLOP/s" in str(shell.shown[0].data["text/plain"])
    assert len(shell.shown) == 1
