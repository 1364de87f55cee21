"""Records what a GPU's frameworks and driver answer: ``python -m tests.hardware.record FOLDER``.

`tests/recordings` replays the files through the parsers that read them. They hold no name of a
host or a user. A part that fails is written as its error, and the others are made all the same.
"""

import gzip
import json
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

_EVENT_FIELDS = ("id", "name", "thread", "device_index", "device_resource_id", "is_user_annotation")
_OWN = re.compile(r"/[\w./-]+/(?=[\w.-]+)")  # folders of this machine


def record_jax() -> dict[str, Any]:
    """Timelines of a product, a scan and copies, as `adapters.shared.xplane` reads them."""
    import jax
    import numpy as np

    from ipyjaxbench.adapters.jax import profiler

    n = np.ones((1024, 1024), np.float32)
    x = jax.device_put(n)
    product = jax.jit(lambda x: x @ x)
    scan = jax.jit(lambda x: jax.lax.scan(lambda c, _: (c @ x / 1024, None), x, None, 8)[0])
    runs: dict[str, Callable[[], Any]] = {
        "product": lambda: [product(x).block_until_ready() for _ in range(3)],
        "scan": lambda: scan(x).block_until_ready(),
        "copies": lambda: np.asarray(product(jax.device_put(n + 1))),
    }
    found: dict[str, Any] = {"version": jax.__version__}
    for name, run in runs.items():
        run()
        with tempfile.TemporaryDirectory() as folder:
            profiler._start(folder)
            run()
            profiler._stop()
            found[name] = [
                [plane.name, [_line(line) for line in plane.lines]]
                for path in Path(folder).rglob("*.xplane.pb")
                for plane in jax.profiler.ProfileData.from_file(str(path)).planes
            ]
    device = jax.devices()[0]
    found["memory_stats"] = device.memory_stats()
    found["device"] = [device.platform, device.device_kind, str(device),
                       getattr(device, "compute_capability", None)]  # fmt: skip
    return found


def _line(line: Any) -> list[Any]:
    events = [[e.name, e.start_ns, e.duration_ns, {k: _plain(v) for k, v in e.stats}]
              for e in list(line.events)[:200]]  # fmt: skip
    return [line.name, events]


def record_torch() -> dict[str, Any]:
    """Kineto's events of eager and compiled code, a CUDA graph and a side stream."""
    import torch

    a = torch.randn(1024, 1024, device="cuda")
    side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    compiled = torch.compile(lambda a: torch.relu(a @ a) + 1)
    torch.cuda.synchronize()
    compiled(a)
    with torch.cuda.graph(graph):
        torch.relu(a @ a)

    def on_side_stream() -> None:
        with torch.cuda.stream(side):
            torch.relu(a @ a)

    runs: dict[str, Callable[[], Any]] = {
        "eager": lambda: torch.relu(a @ a),
        "compiled": lambda: compiled(a),
        "graph": graph.replay,
        "side stream": on_side_stream,
        "copies": lambda: a.cpu().pin_memory().to("cuda", non_blocking=True),
    }
    found: dict[str, Any] = {"version": torch.__version__}
    for name, run in runs.items():
        run()
        torch.cuda.synchronize()
        with torch.autograd.profiler.profile(use_kineto=True, use_device="cuda") as seen:
            run()
            torch.cuda.synchronize()
        found[name] = [_event(event) for event in seen.function_events]
    found["memory_stats"] = dict(torch.cuda.memory_stats())
    properties = torch.cuda.get_device_properties(0)
    found["device"] = [properties.name, properties.major, properties.minor,
                       properties.multi_processor_count, properties.total_memory]  # fmt: skip
    return found


def _event(event: Any) -> dict[str, Any]:
    fields = {name: _plain(getattr(event, name)) for name in _EVENT_FIELDS}
    time_range = [event.time_range.start, event.time_range.end]
    return {**fields, "time_range": time_range, "device_type": event.device_type.name}


def record_tensorflow() -> dict[str, Any]:
    """What its allocator holds after some products."""
    import tensorflow as tf

    (gpu, *_) = tf.config.list_physical_devices("GPU")
    with tf.device("GPU:0"):
        a = tf.random.normal((1024, 1024))
        kept = [tf.matmul(a, a) for _ in range(3)]
    return {
        "version": tf.__version__,
        "memory_info": _plain(tf.config.experimental.get_memory_info("GPU:0")),
        "device": _plain(tf.config.experimental.get_device_details(gpu)),
        "kept": len(kept),
    }


def record_nvml() -> dict[str, Any]:
    """Each answer of the driver, or the error in its place, idle and at work."""
    import pynvml
    import torch

    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    a = torch.randn(8192, 8192, device="cuda")

    def ask(name: str, *args: Any) -> Any:
        try:
            return _plain(getattr(pynvml, name)(*args))
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def answers() -> dict[str, Any]:
        return {
            **{name: ask(name) for name in ("nvmlSystemGetDriverVersion", "nvmlDeviceGetCount")},
            **{
                name: ask(name, handle)
                for name in (
                    "nvmlDeviceGetName", "nvmlDeviceGetCurrentClocksEventReasons",
                    "nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetMemoryInfo",
                    "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetPowerUsage",
                    "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetMigMode",
                    "nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetUtilizationRates",
                    "nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetPersistenceMode",
                    "nvmlDeviceGetComputeMode", "nvmlDeviceGetPerformanceState",
                )
            },
            "nvmlDeviceGetTemperature": ask("nvmlDeviceGetTemperature", handle, 0),
            "nvmlDeviceGetMigDeviceHandleByIndex": ask(
                "nvmlDeviceGetMigDeviceHandleByIndex", handle, 0
            ),
            **{f"{name} {kind}": ask(name, handle, kind) for kind in (0, 1, 2)
               for name in ("nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo")},
        }  # fmt: skip

    idle = answers()
    for _ in range(100):
        a @ a
    working = answers()
    torch.cuda.synchronize()
    half = a.to(torch.bfloat16)
    for _ in range(1500):  # two seconds: then power and heat limit the clocks
        half @ half
    time.sleep(1.0)
    hot = answers()
    torch.cuda.synchronize()
    energies = []
    for _ in range(20):  # how often the counter is brought up to date
        for _ in range(4):
            a @ a
        torch.cuda.synchronize()
        energies.append([time.perf_counter(), ask("nvmlDeviceGetTotalEnergyConsumption", handle)])
    return {"idle": idle, "working": working, "hot": hot, "energies": energies}


_FAILURES = {
    "torch out of memory": "import torch\ntorch.ones(2**40, device='cuda')",
    "jax out of memory": "import jax\njax.numpy.ones((2**20, 2**20)).block_until_ready()",
    "torch illegal access": (
        "import torch\ndevice = torch.device('cuda:0')\ntorch.ones(1, device=device)\n"
        "wild = torch._C._construct_storage_from_data_pointer(4096, device, 64)\n"
        "torch.empty(0, device=device).set_(wild).add_(1)\ntorch.cuda.synchronize()"
    ),
    "jax preallocation taken": (
        "import torch, jax\nfree = torch.cuda.mem_get_info()[0]\n"
        "x = torch.empty(int(free * 0.995), dtype=torch.uint8, device='cuda')\n"
        "jax.numpy.ones((2**14, 2**14)).block_until_ready()"
    ),
}


def record_errors() -> dict[str, Any]:
    """What frameworks raise, each in a process of its own, which it may spoil."""
    found = {}
    for name, code in _FAILURES.items():
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
        )
        found[name] = _OWN.sub("", done.stderr)[-6000:]
    return found


def record_target() -> dict[str, Any]:
    """The description of the chip that XLA compiles for."""
    import jax
    from jax._src.lib import xla_client

    topology = xla_client.get_topology_for_devices(jax.devices())
    return {"target_config": str(getattr(topology, "target_config", None)),
            "attributes": _plain(dict(topology.get_attributes()))
            if hasattr(topology, "get_attributes") else None}  # fmt: skip


def _plain(value: Any) -> Any:
    """Return what JSON can hold."""
    if isinstance(value, int | float | str | bool | None):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    fields = getattr(value, "_fields_", None)  # a structure of ctypes
    return {n: _plain(getattr(value, n)) for n, *_ in fields} if fields else str(value)


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "torch": record_torch,
    "jax": record_jax,
    "tensorflow": record_tensorflow,
    "nvml": record_nvml,
    "errors": record_errors,
    "target": record_target,
}


def record(name: str, folder: Path) -> None:
    """Write the file of one part."""
    begun = time.perf_counter()
    try:
        found, state = PARTS[name](), "recorded"
    except Exception:
        found, state = {"failed": _OWN.sub("", traceback.format_exc())}, "FAILED"
        traceback.print_exc()
    text = json.dumps(found, separators=(",", ":"), default=str)
    path = folder / f"{name}.json.gz"
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    spent = time.perf_counter() - begun
    print(f"{name:12} {state} {path.stat().st_size:,} bytes in {spent:.1f} s", flush=True)


def main(folder: Path) -> None:
    """Write a file for each part, in a process of its own: profilers and memory are not shared."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PARTS:
        code = "import sys, pathlib; from tests.hardware.record import record; "
        code += "record(sys.argv[1], pathlib.Path(sys.argv[2]))"
        subprocess.run([sys.executable, "-c", code, name, str(folder)], check=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
