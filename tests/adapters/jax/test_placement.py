"""Where JAX's arrays live, on eight virtual devices, in a process of its own."""

import gc
import json
import os
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec as P

from ipyjaxbench.adapters.jax import devices
from ipyjaxbench.device.devices import Device
from ipyjaxbench.device.locate import locate, survey

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
print(json.dumps([
    {each.name: [list(each.devices), each.sharding and each.sharding.describe(), each.committed]
     for each in found.arrays},
    {name: list(held) for name, held in found.by_device().items()},
    [str(locate({name: values[name]})) for name in ("rows", "both")],
    str(found),
    {name: list(held) for name, held in surveyed.by_device().items()},
    [[t.line, t.source, t.target, t.copied, t.free] for t in copied.transfers],
    unnamed,
    str(locate(dict.fromkeys("abcdef", values["rows"]))),
]))
"""


@pytest.fixture(scope="module")
def eight() -> Any:
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    done = subprocess.run(
        [sys.executable, "-c", EIGHT], env=environment, capture_output=True, text=True, check=True,
        timeout=300,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_each_array_is_told_with_its_devices_and_how_it_is_cut(eight: Any) -> None:
    everywhere = [f"cpu:{i}" for i in range(8)]
    assert eight[0] == {
        "rows": [everywhere, "rows sharded over 'data' (4), replicated over 'model' (2)", True],
        "both": [everywhere, "rows sharded over 'data' (4), columns over 'model' (2)", True],
        "joined": [everywhere, "columns sharded over 'data' and 'model' (8)", True],
        "all": [everywhere, "replicated over 'data' (4), 'model' (2)", True],
        "one": [["cpu:3"], None, True],
    }


def test_bytes_are_counted_on_each_device_also_of_trees_of_parts(eight: Any) -> None:
    whole, itemsize = 16 * 8 * 4, 4
    each = 4 * 8 * itemsize + 4 * 4 * itemsize + 16 * 1 * itemsize + whole
    assert eight[1]["cpu:0"] == [4, each]
    assert eight[1]["cpu:3"] == [5, each + whole]
    parts = 4 * 8 * 4 + 4 * 4 * 4
    assert eight[4] == {
        "cpu:0": [3, parts + 16 * 8 * 4],
        **{f"cpu:{i}": [2, parts] for i in range(1, 8)},
    }
    assert eight[6] == {}  # parts of arrays with a name are no arrays without one


def test_copies_between_devices_are_told_with_both(eight: Any) -> None:
    size = 16 * 8 * 4
    assert eight[5] == [
        [2, "cpu:0", "cpu:1", size, ""],
        [3, "cpu:0-7", "host", size, ""],
        [4, "cpu:0-7", "host", 0, "reuses an earlier copy"],
        [5, "cpu:0", "cpu:1-7", size * 7 // 8, ""],
    ]


def test_looking_adds_no_array_to_those_that_jax_holds() -> None:
    put = jax.device_put(np.ones(5))
    held = jax.live_arrays()
    before = {id(array) for array in held}
    survey({"put": put})
    locate({"put": put})
    assert {id(array) for array in jax.live_arrays()} <= before
    assert id(put) in before
    del held  # until here no other array takes the number of one that went meanwhile


def test_pictures_show_which_device_has_which_part_of_one_array_or_of_several(eight: Any) -> None:
    rows, both = eight[2]
    assert "rows 0-3   │ cpu:0,1 │" in rows
    assert "each device holds 128 B; every shard is on 2 devices; evenly split" in rows
    assert "rows 12-15 │    cpu:6    │    cpu:7    │" in both
    text = eight[3]
    assert "|       | rows       | both                    | joined   | all       |" in text
    assert "| cpu:7 | rows 12-15 | rows 12-15, columns 4-7 | column 7 | all of it |" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "not drawn" not in text
    assert "sharded alike: b, c, d, e and 1 more" in " ".join(eight[7].split())
    flag = "8 virtual devices on one CPU (--xla_force_host_platform_device_count)"
    assert flag in " ".join(text.split())


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
    assert [(each.framework, each.layout) for each in told] == [
        ("", "a tracer (no values while tracing): f32[3]")
    ]


def test_models_of_flax_nnx_are_told_by_variables_with_their_bytes() -> None:
    import optax
    from flax import nnx

    model = nnx.Linear(300, 200, rngs=nnx.Rngs(0))
    for value in (model, nnx.state(model)):
        found = locate({"m": value})
        assert sum(each.nbytes for each in found.arrays) == 4 * (300 * 200 + 200)
        assert all(each.name.endswith(".value") for each in found.arrays), found.arrays
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


class Lost:
    platform, id = "gpu", 1

    def memory_stats(self) -> None:
        raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS: it is gone\nmore")


def test_a_device_that_is_lost_is_told_in_one_line() -> None:
    device, (note,) = devices._device(Lost(), ())
    assert device == Device("gpu:1")
    assert note.code == "no-answer"
    assert (
        note.text == "gpu:1 does not respond: RuntimeError: CUDA_ERROR_ILLEGAL_ADDRESS: it is gone"
    )
