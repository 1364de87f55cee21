"""What makers state of their chips: dense peaks, without sparsity, memory bandwidth, cache.

Sources: NVIDIA's architecture papers and datasheets of A100, H100, H200, B200, GB200, L4 and RTX
PRO 6000; AMD's of MI300X; Google Cloud's pages "TPU v2" to "TPU7x". Many datasheets head
with figures for 2:4 sparsity, which are twice these. Where JAX takes half a TPU chip for a device
(v2, v3, v7x), figures are those of a device.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_T, _MIB = 1e12, 2**20


@dataclass(frozen=True)
class Datasheet:
    """What is stated of a chip.

    Attributes:
        name: as people call it.
        products: FLOP/s of matrix products by dtype; "tf32" are those of float32 on tensor cores.
        bandwidth: bytes/s of its memory.
        cache: bytes of the last cache before the memory; 0 where it has none, as TPUs.
    """

    name: str
    products: Mapping[str, float]
    bandwidth: float
    cache: int = 0

    def rated(self, dtype: str, measured: float) -> float | None:
        """Return the peak for a dtype; None where none is stated.

        Frameworks multiply float32 in full or on tensor cores. Where more than the full rate was
        measured, it was on tensor cores.

        Example:
            >>> h100 = find_datasheet("NVIDIA H100 80GB HBM3, compute capability 9.0")
            >>> h100.rated("float32", 50e12) / 1e12, h100.rated("float32", 400e12) / 1e12
            (67.0, 495.0)
        """
        return self.products.get("tf32" if self.uses_tf32(dtype, measured) else dtype)

    def uses_tf32(self, dtype: str, measured: float) -> bool:
        """Whether products of float32 were computed on tensor cores, as their rate tells."""
        full = self.products.get(dtype)
        is_above = full is not None and measured > full
        return dtype == "float32" and is_above and "tf32" in self.products


def _gpu(
    half: float, tensor: float, single: float, double: float, eight: float, *, float8: bool = True
) -> dict[str, float]:
    """Return FLOP/s by dtype.

    Args:
        half: TFLOP/s of 16-bit numbers.
        tensor: TFLOP/s of float32 on tensor cores.
        single: TFLOP/s of float32 in full.
        double: TFLOP/s of float64.
        eight: TFLOP/s of 8-bit numbers.
        float8: whether these may have a floating point.
    """
    rates = {"float16": half, "bfloat16": half, "tf32": tensor, "float32": single,
             "float64": double, "int8": eight}  # fmt: skip
    if float8:
        rates |= {"float8_e4m3fn": eight, "float8_e5m2": eight}
    return {dtype: rate * _T for dtype, rate in rates.items()}


def _tpu(bfloat16: float, int8: float | None = None) -> dict[str, float]:
    return {"bfloat16": bfloat16 * _T} | ({"int8": int8 * _T} if int8 else {})


_AMPERE = _gpu(312, 156, 19.5, 19.5, 624, float8=False)
_HOPPER = _gpu(989, 495, 67, 67, 1979)
#: What a device's kind contains -> what is stated of it; the first that fits counts.
_CHIPS: tuple[tuple[str, Datasheet], ...] = (
    (r"A100.*80GB|A100-SXM4-80", Datasheet("A100", _AMPERE, 2.04 * _T, 40 * _MIB)),
    (r"A100", Datasheet("A100 40 GB", _AMPERE, 1.555 * _T, 40 * _MIB)),
    (r"GH200|H100 (80GB HBM3|SXM)", Datasheet("H100", _HOPPER, 3.35 * _T, 50 * _MIB)),
    (r"H100 PCIe", Datasheet("H100 PCIe", _gpu(756, 378, 51, 51, 1513), 2.0 * _T, 50 * _MIB)),
    (r"H200", Datasheet("H200", _HOPPER, 4.8 * _T, 50 * _MIB)),
    (r"GB200", Datasheet("GB200", _gpu(2500, 1250, 80, 40, 5000), 8.0 * _T, 126 * _MIB)),
    (r"B200", Datasheet("B200", _gpu(2250, 1120, 75, 37, 4500), 7.7 * _T, 126 * _MIB)),
    (
        r"RTX PRO 6000",
        Datasheet("RTX PRO 6000", _gpu(504, 252, 125, 1.95, 1007), 1.79 * _T, 128 * _MIB),
    ),
    (r"\bL4\b", Datasheet("L4", _gpu(121, 60.5, 30.3, 0.47, 242), 0.3 * _T, 48 * _MIB)),
    (r"MI300X", Datasheet("MI300X", _gpu(1307, 654, 163, 163, 2615), 5.3 * _T, 256 * _MIB)),
    (r"TPU7x|TPU v7", Datasheet("TPU7x", _tpu(1154), 3.69 * _T)),
    (r"TPU v6", Datasheet("TPU v6e", _tpu(918, 1836), 1.64 * _T)),
    (r"TPU v5 lite|TPU v5e", Datasheet("TPU v5e", _tpu(197, 394), 0.819 * _T)),
    (r"TPU v5", Datasheet("TPU v5p", _tpu(459, 918), 2.765 * _T)),
    (r"TPU v4", Datasheet("TPU v4", _tpu(275), 1.2 * _T)),
    (r"TPU v3", Datasheet("TPU v3", _tpu(61.5), 0.45 * _T)),
    (r"TPU v2", Datasheet("TPU v2", _tpu(23), 0.35 * _T)),
)


def find_datasheet(kind: str) -> Datasheet | None:
    """Return what is stated of a device's kind, such as "NVIDIA H200"; None if it is not known.

    A slice of a GPU (MIG) has no datasheet.

    Example:
        >>> find_datasheet("TPU v5 lite").name, find_datasheet("cpu")
        ('TPU v5e', None)
    """
    if "MIG" in kind:
        return None
    return next((sheet for pattern, sheet in _CHIPS if re.search(pattern, kind)), None)
