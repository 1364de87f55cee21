"""GPUs, alone or several of one host, described for XLA's compiler for CUDA.

Figures of chips are those of XLA's own descriptions (openxla/xla, xla/backends/gpu/target_config/
specs); where these have no tensor cores (A100, RTX PRO 6000) or no chip (L4), those of NVIDIA's
architecture papers and datasheets, without sparsity.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ipyjaxbench.adapters.jax.chips.gpu_file import read_description
from ipyjaxbench.adapters.jax.chips.roofline import FULL_FLOAT32, Roof
from ipyjaxbench.adapters.jax.chips.topology import Topology
from ipyjaxbench.errors import OptionError

_SEVERAL = re.compile(r"(.+?)x(\d+)")
_FILE = ".txtpb"
_UNITS = 4  # tensor cores of a multiprocessor
#: Relative to products of 16-bit numbers, by the dtype of what is multiplied. XLA takes TF32 for
#: float32, where no higher precision is asked for.
_RELATIVE = {"bfloat16": 1.0, "float16": 1.0, "float32": 0.5}
_EIGHT_BITS = ("int8", "uint8", "float8_e4m3fn", "float8_e5m2")


@dataclass(frozen=True)
class Gpu:
    """What XLA asks of a GPU.

    Attributes:
        name: as the driver calls it.
        capability: compute capability, such as "9.0".
        cores: multiprocessors.
        clock: the highest clock of these, in GHz.
        tensor_clock: that which tensor cores reach in products, in GHz.
        operations: multiply-adds of 16-bit numbers in a clock of a tensor core.
        memory: bytes.
        bandwidth: bytes/s of the memory.
        cache: bytes of L2.
        shared: bytes of shared memory of a multiprocessor, and of one block.
        threads: of a multiprocessor.
        eight_bits: whether its tensor cores multiply 8-bit floating-point numbers.
        double: FLOP/s of float64 products.
    """

    name: str
    capability: str
    cores: int
    clock: float
    tensor_clock: float
    operations: int
    memory: int
    bandwidth: float
    cache: int
    shared: tuple[int, int]
    threads: int
    eight_bits: bool
    double: float

    @property
    def lanes(self) -> int:
        """FP32 units of a multiprocessor; an A100 has half as many as all others."""
        return 64 if self.capability == "8.0" else 128

    @property
    def roof(self) -> Roof:
        """Peaks: cores x tensor cores of each x operations per clock x clock x 2.

        Of an H100, 132 x 4 x 512 x 1.83 GHz x 2 = 989 TFLOP/s for bfloat16, as its datasheet says.
        """
        dense = self.cores * _UNITS * self.operations * self.tensor_clock * 1e9 * 2
        products = {dtype: dense * factor for dtype, factor in _RELATIVE.items()}
        for dtype in _EIGHT_BITS if self.eight_bits else _EIGHT_BITS[:2]:
            products[dtype] = 2 * dense
        products["float64"] = self.double
        products[FULL_FLOAT32] = self.cores * self.lanes * self.clock * 1e9 * 2
        return Roof(products, self.bandwidth)

    @property
    def description(self) -> str:
        """The text that XLA reads, a GpuTargetConfigProto."""
        major, minor = self.capability.split(".")
        sizes = {
            "threads_per_block_limit": 1024, "threads_per_warp": 32,
            "shared_memory_per_block": 49152, "shared_memory_per_core": self.shared[0],
            "threads_per_core_limit": self.threads, "core_count": self.cores,
            "fpus_per_core": self.lanes, "block_dim_limit_x": 2**31 - 1,
            "block_dim_limit_y": 65535, "block_dim_limit_z": 65535,
            "memory_bandwidth": round(self.bandwidth), "l2_cache_size": self.cache,
            "clock_rate_ghz": self.clock, "device_memory_size": self.memory,
            "shared_memory_per_block_optin": self.shared[1], "registers_per_core_limit": 65536,
            "registers_per_block_limit": 65536, "thread_dim_limit_x": 1024,
            "thread_dim_limit_y": 1024, "thread_dim_limit_z": 64, "device_address_bits": 64,
            "pcie_bandwidth": 2**35,
        }  # fmt: skip
        fields = "\n".join(f"  {name}: {value}" for name, value in sizes.items())
        version = 'driver_version: "12.8.0" runtime_version: "12.8.0"'
        return (
            f"gpu_device_info {{\n{fields}\n"
            f"  cuda_compute_capability {{ major: {major} minor: {minor} }}\n"
            f'  name: "{self.name}" {version} compile_time_toolkit_version: "12.8.0"\n}}\n'
            f'platform_name: "CUDA"\ndnn_version_info {{ major: 9 minor: 10 }}\n'
            f'device_description_str: "{self.name}"\n'
        )


_MIB, _KIB = 2**20, 2**10
_HOPPER = {"capability": "9.0", "cores": 132, "clock": 1.98, "tensor_clock": 1.8295201,
           "operations": 512, "cache": 50 * _MIB, "shared": (228 * _KIB, 227 * _KIB),
           "threads": 2048, "eight_bits": True, "double": 66.9e12}  # fmt: skip
_BLACKWELL = {"capability": "10.0", "operations": 1024, "shared": (228 * _KIB, 227 * _KIB),
              "threads": 2048, "eight_bits": True}  # fmt: skip
CHIPS: Mapping[str, Gpu] = {
    "a100": Gpu("NVIDIA A100-SXM4-80GB", "8.0", 108, 1.41, 1.41, 256, 85_100_068_864,
                2.03904e12, 40 * _MIB, (164 * _KIB, 163 * _KIB), 2048, eight_bits=False,
                double=19.5e12),
    "h100": Gpu("NVIDIA H100 80GB HBM3", memory=84_942_979_072, bandwidth=3.35232e12,
                **_HOPPER),  # type: ignore[arg-type]
    "h200": Gpu("NVIDIA H200 141GB HBM3e", memory=151_397_597_184, bandwidth=4.8e12,
                **_HOPPER),  # type: ignore[arg-type]
    "b200": Gpu("NVIDIA B200", cores=148, clock=1.965, tensor_clock=1.8353101,
                memory=191_514_411_008, bandwidth=7.67232e12, cache=132_644_864,
                double=37.2e12, **_BLACKWELL),  # type: ignore[arg-type]
    "gb200": Gpu("NVIDIA GB200", cores=152, clock=2.062, tensor_clock=1.9259081,
                 memory=197_897_748_480, bandwidth=7.928064e12, cache=135_528_448,
                 double=40.1e12, **_BLACKWELL),  # type: ignore[arg-type]
    "l4": Gpu("NVIDIA L4", "8.9", 58, 2.04, 2.04, 128, 23_650_000_000, 3e11, 48 * _MIB,
              (100 * _KIB, 99 * _KIB), 1536, eight_bits=True, double=0.473e12),
    "rtx6000pro": Gpu("NVIDIA RTX PRO 6000 Blackwell", "12.0", 188, 2.6, 2.6, 128,
                      103_079_215_104, 1.792e12, 128 * _MIB, (128 * _KIB, 99 * _KIB), 1536,
                      eight_bits=True, double=1.955e12),
}  # fmt: skip


def find_gpus(name: str) -> Topology:
    """Return what a name such as "gpu:h100", "gpu:h100x4" or "gpu:my_chip.txtpb" stands for.

    Raises:
        OptionError: there is no such chip, or its description cannot be read.

    Example:
        >>> found = find_gpus("gpu:h100x4")
        >>> found.devices, f"{found.roof.products['bfloat16']:.3g}"
        (4, '9.89e+14')
    """
    chip, number = name.removeprefix("gpu:"), 1
    if chip not in CHIPS and not chip.endswith(_FILE) and (match := _SEVERAL.fullmatch(chip)):
        chip, number = match[1], int(match[2])
    if number < 1:
        raise OptionError(f"--on {name}: must be 1 GPU or more, such as gpu:{chip}x4")
    if chip.endswith(_FILE):
        description, memory, roof = read_description(name, Path(chip))
    elif chip in CHIPS:
        gpu = CHIPS[chip]
        description, memory, roof = gpu.description, gpu.memory, gpu.roof
    else:
        raise OptionError(f"--on {name}: {_explain(chip)}")
    arguments = {"target_config": description, "topology": f"1x1x{number}"}
    return Topology(name, "cuda", chip, number, memory, f"gpu:{chip}x4", arguments, roof=roof)


def _explain(chip: str) -> str:
    if chip.startswith("mi"):
        return "XLA's compiler for AMD's GPUs is in no wheel that works without ROCm"
    near = difflib.get_close_matches(chip, CHIPS, 1, 0.5)
    meant = f" Did you mean gpu:{near[0]}?" if near else ""
    return f"there is no such GPU.{meant} Known are {', '.join(f'gpu:{each}' for each in CHIPS)}"
