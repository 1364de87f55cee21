"""Where arrays live: on eight virtual devices in a process of its own, and in two processes."""

import gc
import json
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec as P

from ipyjaxbench.adapters.jax import devices
from ipyjaxbench.device.devices import Device
from ipyjaxbench.device.locate import locate, survey
from tests.adapters.pair import run_pair

EIGHT = """
import json
import jax, jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding as NS, PartitionSpec as P
import numpy as np
from ipyjaxbench.device.locate import locate, survey
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.usercode.snippet import Source
mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
ones = jnp.ones((16, 8))
values = {
    "rows": jax.device_put(ones, NS(mesh, P("data", None))),
    "both": jax.device_put(ones, NS(mesh, P("data", "model"))),
    "joined": jax.device_put(ones, NS(mesh, P(None, ("data", "model")))),
    "all": jax.device_put(ones, NS(mesh, P())),
    "one": jax.device_put(ones, jax.devices()[3]),
}
found = locate(values)
tree = {"tree": [values["rows"], {"both": values["both"]}], "alone": ones}
surveyed = survey(tree)
values["rows"].addressable_shards  # JAX keeps the parts from now on
[shard.data for shard in values["rows"].addressable_shards]
unnamed = survey(tree | values).unnamed
copied, _ = transfer_code(Source.plain('''
a = jax.device_put(ones, jax.devices()[1])
b = np.asarray(rows)
c = np.asarray(rows)
d = jax.device_put(ones, rows.sharding)
'''), globals() | {"rows": jax.device_put(ones, NS(jax.make_mesh((8,), ("x",)), P("x")))})
print(json.dumps({
    "found": {each.name: [list(each.devices), each.sharding and each.sharding.describe(),
                          each.committed] for each in found.arrays},
    "bytes": {name: list(held) for name, held in found.by_device().items()},
    "picture": str(found),
    "of a tree": {name: list(held) for name, held in surveyed.by_device().items()},
    "copied": [[t.line, t.source, t.target, t.copied, t.free] for t in copied.transfers],
    "unnamed": unnamed,
}))
"""


@pytest.fixture(scope="module")
def eight() -> Any:
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    done = subprocess.run(
        [sys.executable, "-c", EIGHT], env=environment, capture_output=True, text=True, check=True,
        timeout=300,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_each_array_is_told_with_its_devices_how_it_is_cut_and_its_bytes(eight: Any) -> None:
    everywhere = [f"cpu:{i}" for i in range(8)]
    assert eight["found"] == {
        "rows": [everywhere, "rows sharded over 'data' (4), replicated over 'model' (2)", True],
        "both": [everywhere, "rows sharded over 'data' (4), columns over 'model' (2)", True],
        "joined": [everywhere, "columns sharded over 'data' and 'model' (8)", True],
        "all": [everywhere, "replicated over 'data' (4), 'model' (2)", True],
        "one": [["cpu:3"], None, True],
    }
    whole, parts = 16 * 8 * 4, 4 * 8 * 4 + 4 * 4 * 4
    each = parts + 16 * 1 * 4 + whole
    assert eight["bytes"]["cpu:0"] == [4, each]
    assert eight["bytes"]["cpu:3"] == [5, each + whole]
    assert eight["of a tree"] == {
        "cpu:0": [3, parts + whole], **{f"cpu:{i}": [2, parts] for i in range(1, 8)},
    }  # fmt: skip
    assert eight["unnamed"] == {}  # parts of arrays with a name are no arrays without one


def test_copies_between_devices_are_told_with_both_and_pictures_show_the_parts(eight: Any) -> None:
    size = 16 * 8 * 4
    assert eight["copied"] == [
        [2, "cpu:0", "cpu:1", size, ""],
        [3, "cpu:0-7", "host", size, ""],
        [4, "cpu:0-7", "host", 0, "reuses an earlier copy"],
        [5, "cpu:0", "cpu:1-7", size * 7 // 8, ""],
    ]
    text = eight["picture"]
    assert "| cpu:7 | rows 12-15 | rows 12-15, columns 4-7 | column 7 | all of it |" in text
    flag = "8 virtual devices on one CPU (--xla_force_host_platform_device_count)"
    assert flag in " ".join(text.split())


def test_looking_adds_no_array_to_those_that_jax_holds() -> None:
    put = jax.device_put(np.ones(5))
    held = jax.live_arrays()
    before = {id(array) for array in held}
    survey({"put": put}), locate({"put": put})
    assert {id(put)} <= {id(array) for array in jax.live_arrays()} <= before
    del held  # until here no other array takes the number of one that went meanwhile


def test_values_without_arrays_and_tracers_are_told_for_what_they_are() -> None:
    try:
        mesh = AbstractMesh((64,), ("x",))
    except TypeError:  # before JAX 0.6
        mesh = AbstractMesh((("x", 64),))  # type: ignore[call-arg, arg-type]
    shape = jax.ShapeDtypeStruct((4, 2), jnp.float32, sharding=NamedSharding(mesh, P("x")))
    values = {"mesh": mesh, "shape": shape, "one": Mesh(np.array(jax.devices()[:1]), ("x",))}
    told = [each.layout for each in locate(values).arrays]
    abstract = f"an abstract mesh of 64 devices: 'x' (64); JAX has {jax.device_count()}"
    empty = "shape only: f32[4,2], would take 32 B"
    assert told == [
        abstract,
        f"{empty}, with a sharding {P('x')} over {abstract}",
        "a mesh of 1 device: 'x' (1)",
    ]
    told = []
    jax.make_jaxpr(lambda x: told.extend(locate({"x": x}).arrays) or x)(jnp.ones(3))
    assert [each.layout for each in told] == ["a tracer (no values while tracing): f32[3]"]


def test_models_of_flax_nnx_are_told_by_variables_with_their_bytes() -> None:
    import optax
    from flax import nnx

    model = nnx.Linear(300, 200, rngs=nnx.Rngs(0))
    for value in (model, nnx.state(model)):
        found = locate({"m": value}).arrays
        assert sum(each.nbytes for each in found) == 4 * (300 * 200 + 200)
        assert all(each.name.endswith(".value") for each in found), found
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    held = locate({"o": optimizer}).arrays
    assert sum(each.nbytes for each in held) == 2 * 4 * (300 * 200 + 200) + 8


def test_a_key_of_random_numbers_is_one_array() -> None:
    gc.collect()  # arrays of other tests
    before = survey({}).unnamed.get("jax", (0, 0))
    key = jax.random.key(3)
    found = survey({"key": key})
    assert [(each.name, each.dtype, each.nbytes) for each in found.arrays] == [
        ("key", "key<fry>", 8)
    ]
    assert found.unnamed.get("jax", (0, 0)) == before


def test_a_device_that_is_lost_is_told_in_one_line() -> None:
    def memory_stats() -> None:
        raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS: it is gone\nmore")

    lost = SimpleNamespace(platform="gpu", id=1, memory_stats=memory_stats)
    device, (note,) = devices._device(lost, ())
    assert (device, note.code) == (Device("gpu:1"), "no-answer")
    words = "gpu:1 does not respond: RuntimeError: CUDA_ERROR_ILLEGAL_ADDRESS: it is gone"
    assert note.text == words


# Parts in other processes

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
