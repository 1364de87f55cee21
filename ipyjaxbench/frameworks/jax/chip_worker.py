"""A process of its own that compiles a program for chips that this machine does not have.

The compiler is the TPU's own (libtpu). It reads variables of the environment, logs, and can end
the process: none of that is to happen where the user works. It reads one JSON object from standard
input, and writes one line for each chip.
"""

import base64
import json
import os
import sys
from typing import Any

_SETTINGS = {
    "JAX_PLATFORMS": "cpu",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # no lock on chips that are not there
    "TPU_SKIP_MDS_QUERY": "1",  # no question to a server that only Google's machines have
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_LOG_DIR": "disabled",
    "TPU_STDERR_LOG_LEVEL": "3",
    "TPU_MIN_LOG_LEVEL": "3",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}


def main() -> None:
    """Compile for each chip that is asked for."""
    os.environ.update(_SETTINGS)
    asked = json.load(sys.stdin)
    from jax import export

    exported = export.deserialize(base64.b64decode(asked["program"]))
    for topology in asked["topologies"]:
        try:
            told = _compiled(exported, topology)
        except Exception as error:  # noqa: BLE001  the next chip may be larger
            told = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(f"{json.dumps(told)}\n")
        sys.stdout.flush()


def _compiled(exported: Any, topology: str) -> dict[str, Any]:
    import jax
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    single = {"chips_per_host_bounds": (1, 1, 1)} if topology.endswith(":1x1") else {}
    chips = topologies.get_topology_desc(platform="tpu", topology_name=topology, **single)
    device = chips.devices[0]
    place = SingleDeviceSharding(device)
    given = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=place) for a in exported.in_avals]
    compiled = jax.jit(exported.call).lower(*given).compile()
    cost = compiled.cost_analysis() or {}
    cost = cost[0] if isinstance(cost, list) else cost
    memory = compiled.memory_analysis()
    parts = ("temp_size_in_bytes", "argument_size_in_bytes", "output_size_in_bytes")
    return {
        "device": device.device_kind,
        "seconds": cost.get("optimal_seconds"),
        "flops": cost.get("flops"),
        "moved": cost.get("bytes accessed"),
        "memory": sum(getattr(memory, part) for part in parts) - memory.alias_size_in_bytes,
    }


if __name__ == "__main__":
    main()
