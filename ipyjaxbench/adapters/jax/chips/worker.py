"""A process of its own that compiles programs for chips that this machine does not have.

The compiler is the TPU's own (libtpu), or XLA's for CUDA. It reads variables of the environment,
logs, and can end the process: none of that is to happen where the user works. It reads a JSON list
from standard input, and writes one line for each chip.
"""

import base64
import dataclasses
import json
import math
import re
import signal
import sys
from collections.abc import Iterator
from typing import Any

import jax
from jax import export
from jax.experimental import mesh_utils, topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ipyjaxbench.adapters.jax.chips.gpu_kernels import kernels_in
from ipyjaxbench.adapters.jax.graphs.compiled_work import cost_analysis
from ipyjaxbench.adapters.jax.graphs.xla_costs import counted_cost, memory_needed
from ipyjaxbench.graphs import collectives_in

_SECONDS = 600  # for each chip
_FUSED = re.compile(r" fusion\(.*?calls=%([\w.\-]+)")
_PART = re.compile(r"(?:ENTRY )?%?([\w.\-]+) \(.*\{$")
_CUSTOM = re.compile(r' custom-call\(.*custom_call_target="([^"]*)"')
#: They move nothing and compute nothing.
_FREE = {"ConcatBitcast", "AllocateBuffer", "PrepareAsyncCallStart", "PrepareAsyncCallDone"}


def main() -> None:
    """Compile for each chip that is asked for."""
    for each in json.load(sys.stdin):
        signal.alarm(_SECONDS)  # ends the process, also inside of the compiler
        try:
            answer = _compiled(each)
        except Exception as error:  # noqa: BLE001  the next chip may be larger
            answer = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


def _compiled(request: dict[str, Any]) -> dict[str, Any]:
    exported = export.deserialize(base64.b64decode(request["program"]))
    whole, *places = _places(request)
    inputs = [
        jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=place)
        for aval, place in zip(exported.in_avals, places, strict=True)
    ]
    # What takes nothing would be compiled for this machine.
    place = {} if inputs else {"out_shardings": whole}
    compiled = jax.jit(exported.call, **place).lower(*inputs).compile()
    cost = cost_analysis(compiled)
    memory = compiled.memory_analysis()
    outputs = zip(exported.out_avals, jax.tree.leaves(compiled.output_shardings), strict=True)
    real = sum(_nbytes(a, a.sharding) for a in inputs) + sum(_nbytes(a, s) for a, s in outputs)
    text = compiled.as_text()
    seconds, unknown = _time(cost.get("optimal_seconds"), text)
    is_gpu = request["platform"] == "cuda"
    kernels, has_unknown_loops = kernels_in(text) if is_gpu else ((), " while(" in text)
    return {
        "seconds": seconds,
        "flops": counted_cost(cost, "flops"),
        "moved": counted_cost(cost, "bytes accessed"),
        "memory": memory_needed(memory),
        "real": real,
        "held": memory.argument_size_in_bytes + memory.output_size_in_bytes,
        "loops": has_unknown_loops,
        "kernels": [dataclasses.asdict(kernel) for kernel in kernels],
        "unknown": unknown,
        "collectives": [(c.name, c.times, c.nbytes) for c in collectives_in(text)],
    }


def _places(request: dict[str, Any]) -> Iterator[Any]:
    """Yield where an array is that is whole on each device, and where each of the inputs is."""
    topology = topologies.get_topology_desc(
        platform=request["platform"],
        topology_name=request["topology"],
        **request["arguments"],
    )
    names, sizes = zip(*request["mesh"], strict=True)
    devices = topology.devices[: math.prod(sizes)]
    if len(devices) < math.prod(sizes):
        raise ValueError(f"the compiler knows {len(devices)} devices of {math.prod(sizes)}")
    grid = mesh_utils.create_device_mesh(sizes, devices, allow_split_physical_axes=True)
    mesh = Mesh(grid, names)
    for spec in ([], *request["specs"]):
        yield NamedSharding(mesh, PartitionSpec(*(tuple(axes) or None for axes in spec)))


def _nbytes(aval: Any, sharding: Any) -> int:
    """Return the bytes of one device's part, without what fills its tiles."""
    shape = sharding.shard_shape(aval.shape)
    return int(math.prod(shape) * getattr(aval.dtype, "itemsize", 0))


def _time(seconds: float | None, text: str) -> tuple[float | None, list[str]]:
    """Return the seconds of what XLA can estimate, and the names of what it cannot."""
    # It adds -1 for each of these; above a second that could not be told from the rest.
    if seconds is None or 0 <= seconds < 1:
        return seconds, []
    if seconds < 0:
        seconds = seconds + math.ceil(-seconds) or None
    return seconds, sorted(set(_unknown(text)))


def _unknown(text: str) -> Iterator[str]:
    """Yield operations whose time the compiler does not know: calls of programs not XLA's."""
    fused, part = set(_FUSED.findall(text)), ""
    for line in text.splitlines():
        header, call = _PART.match(line), _CUSTOM.search(line)
        part = header[1] if header else part
        if call and part not in fused and call[1] not in _FREE:
            yield call[1]


if __name__ == "__main__":
    main()
