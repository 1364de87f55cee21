"""Uses the store of JAX's coordination service as `measure_rank` does; prints what it gives.

``python -m tests.adapters.jax.store_program KIND PORT``; KIND is "_QuickJob" or "_PlainJob".
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import jax
from jax._src import distributed

from ipyjaxbench.adapters.jax import coordination


def main(kind: str, port: int) -> None:
    """Be the only process of a service, with many threads as if they were ranks."""
    jax.distributed.initialize(f"127.0.0.1:{port}", 1, 0)
    job = getattr(coordination, kind)(distributed.global_state.client, 0, 2)
    found = {
        "before": [job.peek("a/b"), job.get("a/b", 30), job.add("n", 0)],
        "put": job.put("a/b", b"one"),
        "after": [str(job.peek("a/b")), str(job.get("a/b", 30)), job.peek("a")],
    }
    with ThreadPoolExecutor(8) as pool:
        counted = [*pool.map(lambda _: job.add("n"), range(40))]
    found["counted"] = [sorted(counted), job.add("n", 0), job.add("n", 2)]
    print("found", json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
