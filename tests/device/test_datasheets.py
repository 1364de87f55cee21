"""What makers state of chips, found by the kinds that frameworks give."""

import pytest

from ipyjaxbench.device import find_datasheet


@pytest.mark.parametrize(
    ("kind", "name", "bfloat16"),
    [
        ("NVIDIA H100 80GB HBM3, compute capability 9.0", "H100", 989),
        ("NVIDIA H100 PCIe, compute capability 9.0", "H100 PCIe", 756),
        ("NVIDIA H200, compute capability 9.0", "H200", 989),
        ("NVIDIA A100-SXM4-80GB, compute capability 8.0", "A100", 312),
        ("NVIDIA A100-PCIE-40GB, compute capability 8.0", "A100 40 GB", 312),
        ("NVIDIA GB200, compute capability 10.0", "GB200", 2500),
        ("NVIDIA B200, compute capability 10.0", "B200", 2250),
        ("NVIDIA L4, compute capability 8.9", "L4", 121), ("AMD Instinct MI300X", "MI300X", 1307),
        ("TPU v4", "TPU v4", 275), ("TPU v5 lite", "TPU v5e", 197), ("TPU v5", "TPU v5p", 459),
        ("TPU v6 lite", "TPU v6e", 918), ("TPU7x", "TPU7x", 1154),
        ("cpu", None, 0), ("", None, 0), ("NVIDIA L40S", None, 0),
        ("NVIDIA GeForce RTX 4090", None, 0), ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", None, 0),
    ],
)  # fmt: skip
def test_a_kind_of_device_has_its_datasheet(kind: str, name: str | None, bfloat16: float) -> None:
    found = find_datasheet(kind)
    assert (found and found.name) == name
    if found is not None:
        assert found.products["bfloat16"] == bfloat16 * 1e12
        assert found.rated("int4", 1.0) is None


@pytest.mark.parametrize(
    ("kind", "mebibytes"),
    [("NVIDIA A100-SXM4-80GB", 40), ("NVIDIA H100 80GB HBM3", 50), ("NVIDIA B200", 126),
     ("NVIDIA L4", 48), ("AMD Instinct MI300X", 256), ("TPU v4", 0)],
)  # fmt: skip
def test_a_datasheet_has_the_size_of_the_last_cache(kind: str, mebibytes: int) -> None:
    found = find_datasheet(kind)
    assert found is not None
    assert found.cache == mebibytes * 1024 * 1024
