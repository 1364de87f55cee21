"""Two processes of one job: what is told of arrays whose parts lie in both."""

import json

from tests.adapters.pair import run_pair

HALF = """
import json, os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax, numpy as np
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(f"localhost:{sys.argv[2]}", 2, int(sys.argv[1]))
import jax.numpy as jnp, ipyjaxbench
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from ipyjaxbench.device.locate import locate
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("data", "model"))
cut = NamedSharding(mesh, P("data", "model"))
x = jax.make_array_from_callback((8, 4), cut, lambda i: np.ones((8, 4), np.float32)[i])
found = locate({"x": x, "mesh": mesh})
sharding = found.arrays[0].sharding
total = jax.jit(jnp.sum, out_shardings=NamedSharding(mesh, P()))
names = dict(jnp=jnp, f=total, x=x, y=jnp.ones(3))

def told(code):
    result = ipyjaxbench.measure_code(code, names, number=3, repeat=2)
    return [note.text for note in result.notes if note.code == "processes"]

print(json.dumps([sharding.rank, [each.rank for each in sharding.shards], found.arrays[1].layout,
                  [nbytes for _, nbytes in found.by_device().values()], str(found),
                  told("f(x)") + told("jnp.sin(y)")]))
"""


def test_parts_in_other_processes_are_told_and_not_read() -> None:
    for rank, printed in enumerate(run_pair(HALF)):
        own, ranks, mesh, nbytes, text, told = json.loads(printed)
        assert (own, ranks) == (rank, [0, 0, 1, 1])
        assert mesh == "a mesh of 4 devices: 'data' (2) × 'model' (2), 2 in other processes"
        assert nbytes == [32] * 4
        assert "over 'model' (2), 64 B in this rank" in " ".join(text.split())
        assert f"64 B in rank {rank} of 2" in text
        assert told == [f"This is the time of process {rank} of 2; the others may differ."]
