"""A user's own description of a GPU: a GpuTargetConfigProto in text, as XLA writes and reads it."""

import re
from collections.abc import Mapping
from pathlib import Path

from ipyjaxbench.adapters.jax.chips.roofline import FULL_FLOAT32, Roof
from ipyjaxbench.errors import OptionError

_MAX_BYTES = 1_000_000
_FIELD = r"\b{}: *([\d.eE+-]+)"
_RATE = re.compile(
    r"key: *(?P<key>\d+)\s*value *\{\s*clock_rate_ghz: *(?P<clock>[\d.]+)\s*"
    r"units_per_core: *(?P<units>\d+)\s*ops_per_clock: *(?P<operations>\d+)"
)
#: Numbers of XLA's PrimitiveType.
_DTYPES = {
    "2": "int8", "6": "uint8", "10": "float16", "11": "float32", "12": "float64",
    "16": "bfloat16", "19": "float8_e5m2", "20": "float8_e4m3fn",
}  # fmt: skip


def read_description(name: str, path: Path) -> tuple[str, int, Roof]:
    """Return the text of a description, the bytes of its memory, and its peaks.

    Where it says nothing of tensor cores, no product has a peak, and the bound is that of memory.

    Args:
        name: as the chip was asked for.
        path: of the file.

    Raises:
        OptionError: it cannot be read, or is no description of a GPU.
    """
    try:
        path = path.expanduser()
        if path.stat().st_size > _MAX_BYTES:
            raise OptionError(f"--on {name}: {path} is larger than {_MAX_BYTES // 10**6} MB")
        text = path.read_text("utf-8")
    except (OSError, RuntimeError, UnicodeDecodeError) as error:  # no such user: ~name
        told = "it is no text" if isinstance(error, UnicodeDecodeError) else str(error)
        why = getattr(error, "strerror", None) or told
        raise OptionError(f"--on {name}: {path} cannot be read: {why}") from None
    fields = {
        each: float(found[1])
        for each in ("device_memory_size", "memory_bandwidth", "core_count", "fpus_per_core",
                     "clock_rate_ghz")
        if (found := re.search(_FIELD.format(each), text))
    }  # fmt: skip
    missing = [each for each in ("device_memory_size", "memory_bandwidth", "core_count")
               if not fields.get(each)]  # fmt: skip
    if missing:
        raise OptionError(
            f"--on {name}: {path} describes no GPU: it has no {' and no '.join(missing)}"
        )
    return text, int(fields["device_memory_size"]), _roof(text, fields)


def _roof(text: str, fields: Mapping[str, float]) -> Roof:
    products = {}
    for rate in _RATE.finditer(text.partition("matrix_unit_description")[2]):
        if dtype := _DTYPES.get(rate["key"]):
            each = int(rate["units"]) * int(rate["operations"]) * float(rate["clock"]) * 2e9
            products[dtype] = fields["core_count"] * each
    lanes = fields.get("fpus_per_core", 0) * fields.get("clock_rate_ghz", 0) * 2e9
    if lanes:
        products[FULL_FLOAT32] = fields["core_count"] * lanes
    return Roof(products, fields["memory_bandwidth"])
