"""Uses the store of JAX's coordination service as `measure_rank` does; prints what it gives.

``python -m tests.adapters.jax.store_program PORT KIND...``; KIND is "_QuickJob" or "_PlainJob".
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import jax
from jax._src import distributed

from ipyjaxbench.adapters.jax import coordination


def main(port: int, kinds: list[str]) -> None:
    """Be the only process of a service, with many threads as if they were ranks."""
    jax.distributed.initialize(f"127.0.0.1:{port}", 1, 0)
    for kind in kinds:
        print("found", json.dumps(use(kind)))


def use(kind: str) -> dict[str, object]:
    """Write, look and count under keys of its own."""
    job = getattr(coordination, kind)(distributed.global_state.client, 0, 2)
    folder, key, number = f"{kind}/a", f"{kind}/a/b", f"{kind}/n"
    found = {
        "before": [job.peek(key), job.get(key, 30), job.add(number, 0)],
        "put": job.put(key, b"one"),
        "after": [str(job.peek(key)), str(job.get(key, 30)), job.peek(folder)],
    }
    with ThreadPoolExecutor(8) as pool:
        counted = [*pool.map(lambda _: job.add(number), range(40))]
    return {**found, "counted": [sorted(counted), job.add(number, 0), job.add(number, 2)]}


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
