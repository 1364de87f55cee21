"""GPUs that this machine does not have: names, peaks, and descriptions of a user's own."""

from pathlib import Path

import pytest

from ipyjaxbench import OptionError
from ipyjaxbench.adapters.jax.chips.find_chips import find_chips
from ipyjaxbench.adapters.jax.chips.gpus import CHIPS
from ipyjaxbench.adapters.jax.chips.roofline import FULL_FLOAT32, Roof
from ipyjaxbench.device import find_datasheet

OWN = """
gpu_device_info {
  core_count: 10
  fpus_per_core: 128
  clock_rate_ghz: 2
  memory_bandwidth: 1e12
  device_memory_size: 1000000000
  matrix_unit_description {
    rate_infos { key: 16 value { clock_rate_ghz: 1.5 units_per_core: 4 ops_per_clock: 512 } }
  }
}
"""


@pytest.mark.parametrize("chip", CHIPS)
def test_peaks_are_those_of_the_datasheet(chip: str) -> None:
    found, sheet = find_chips(f"gpu:{chip}").roof, find_datasheet(CHIPS[chip].name)
    assert found is not None
    assert sheet is not None
    # XLA's clocks of B200 and GB200 are 1 to 4 % below what the datasheets count with.
    for own, stated in ((found.products["bfloat16"], sheet.products["bfloat16"]),
                        (found.products["float32"], sheet.products["tf32"]),
                        (found.products["float64"], sheet.products["float64"]),
                        (found.products[FULL_FLOAT32], sheet.products["float32"]),
                        (found.products["int8"], sheet.products["int8"]),
                        (found.bandwidth, sheet.bandwidth)):  # fmt: skip
        assert own == pytest.approx(stated, rel=0.05)


@pytest.mark.parametrize(
    ("name", "devices"), [("gpu:h100", 1), ("gpu:h100x4", 4), ("gpu:rtx6000pro", 1),
                          ("gpu:rtx6000prox2", 2)],
)  # fmt: skip
def test_a_number_behind_the_name_is_that_of_gpus(name: str, devices: int) -> None:
    found = find_chips(name)
    assert (found.devices, found.platform) == (devices, "cuda")
    assert found.arguments["topology"] == f"1x1x{devices}"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gpu:h10", "there is no such GPU. Did you mean gpu:h100? Known are gpu:a100, "),
        ("gpu:tpu", "there is no such GPU. Known are gpu:a100, "),
        ("gpu:h100x0", "must be 1 GPU or more, such as gpu:h100x4"),
        ("gpu:mi300", "XLA's compiler for AMD's GPUs is in no wheel that works without ROCm"),
        ("gpu:none.txtpb", "none.txtpb cannot be read: No such file or directory"),
    ],
)
def test_what_is_no_gpu_is_told_in_one_line(name: str, told: str) -> None:
    with pytest.raises(OptionError) as raised:
        find_chips(name)
    assert str(raised.value).startswith(f"--on {name}: {told}")


def test_a_description_of_ones_own_has_its_peaks(tmp_path: Path) -> None:
    (tmp_path / "own.txtpb").write_text(OWN)
    found = find_chips(f"gpu:{tmp_path}/own.txtpb")
    assert found.memory == 10**9
    assert found.arguments["target_config"] == OWN
    assert found.roof == Roof({"bfloat16": 10 * 4 * 512 * 1.5e9 * 2, FULL_FLOAT32: 5.12e12}, 1e12)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"no", "describes no GPU: it has no device_memory_size and no memory_bandwidth"),
        (b"\xff\xfe", "cannot be read: it is no text"),
        (b" " * 1_000_001, "is larger than 1 MB"),
    ],
)
def test_a_file_that_describes_no_gpu_is_told(content: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "own.txtpb").write_bytes(content)
    with pytest.raises(OptionError, match=told):
        find_chips(f"gpu:{tmp_path}/own.txtpb")


def test_the_roofline_is_the_longer_of_products_and_memory() -> None:
    roof = Roof({"bfloat16": 1e12}, 1e9)
    assert roof.seconds({"bfloat16": 2e12}, 1e9) == 2.0
    assert roof.seconds({"bfloat16": 2e12}, 3e9) == 3.0
    assert roof.seconds({"int4": 2e12}, 1e9) == 1.0  # of no known peak
