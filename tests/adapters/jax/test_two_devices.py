"""Arrays on two virtual devices, in a process of its own: what is told of them and asked of XLA."""

import json
import subprocess
import sys
from typing import Any

import pytest

TWO = """
import json
import jax, jax.numpy as jnp, numpy as np
import ipyjaxbench
from jax._src import xla_bridge
with ipyjaxbench.transfers() as t:
    pass
looked = [[*t.transfers.transfers], ipyjaxbench.devices().homes[0].started,
          xla_bridge.backends_are_initialized()]
jax.config.update("jax_num_cpu_devices", 2)
from jax.sharding import Mesh, NamedSharding as NS, PartitionSpec as P
from ipyjaxbench import OptionError
from ipyjaxbench.adapters.jax import Jax, caveats, devices
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.adapters.jax.graphs.compiled_work import Works
from ipyjaxbench.adapters.jax.retracing.leaf import argument_leaf
from ipyjaxbench.adapters.jax.chips import estimate
from ipyjaxbench.adapters.jax.chips.input_sharding import is_named, layout, own_layout
from ipyjaxbench.adapters.jax.chips.find_chips import find_chips
from ipyjaxbench.device.protocol import ArrayInspector
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_call
from ipyjaxbench.usercode.call import Call
from tests.causes import Changed, judge
adapter = next(each for each in loaded()[0] if isinstance(each, Jax))
mesh = Mesh(np.array(jax.devices()), ("d",))
wide = Mesh(np.array(jax.devices()).reshape(2, 1), ("a", "b"))
x = jax.device_put(jnp.ones((4, 6)), NS(mesh, P("d")))
w = jax.device_put(jnp.ones((4, 6)), NS(mesh, P(None, "d")))
both = jax.device_put(jnp.ones((4, 6)), NS(wide, P(("a", "b"), None)))
one = jnp.ones((4, 6))
all_of_it = jax.device_put(one, NS(mesh, P()))
with jax.set_mesh(mesh):  # the first measurement of the process
    m = ipyjaxbench.measure_code("x + 1", {"x": x}, number=1, repeat=2, cold=True)
    within = [m.samples, m.cold.reason,
              jax.sharding.get_abstract_mesh() == mesh.abstract_mesh,
              caveats._multiply("cpu:1", np.eye(2), np.eye(2)).tolist()]

def traced(*args):
    return tracing.trace(Call.from_function(lambda *args: sum(args), *args))

def told(function, *args):
    try:
        return function(*args)
    except OptionError as error:
        return str(error)

def own(*args):
    found = own_layout(traced(*args))
    return found and [found.mesh, found.specs, found.is_cut, found.is_own]

def laid_out(chip, *args):
    found = traced(*args)
    return layout(found, (), find_chips(chip), own_layout(found)).mesh

def work(jitted, *args):
    jax.block_until_ready(jitted(*args))
    return Works(lambda _: None).find_work(jitted, args, {}) is None

def notes(function, *args):
    found = trace_call(Call.from_function(function, *args), GraphOptions(check=True))
    return [note.text for note in found.notes]

def shared():
    rows, columns = (jax.device_put(jnp.ones((64, 64)), each.sharding) for each in (x, w))
    call = Call.from_function(lambda a, b: a @ b, columns, rows)
    found = trace_call(call, GraphOptions(stats=True))
    return [each.name for each in found.compiled.collectives], " ".join(str(found).split())

def inner_mesh(chip):
    held = jax.jit(lambda v: jax.lax.with_sharding_constraint(v, NS(mesh, P("d"))) + 1)
    return layout(tracing.trace(Call.from_function(held, one)), (), find_chips(chip), None).mesh

def exported(is_own, *args):
    return estimate._exported(traced(*args), "tpu", is_own=is_own).nr_devices

inspector = adapter.capability(ArrayInspector)
leaf = lambda value: argument_leaf(value, "?")
print(json.dumps({
    "looked": looked,
    "started": ipyjaxbench.devices(start=True).homes[0].started,
    "virtual": [note.text for note in devices._virtual()],
    "missing": devices.count_missing([*jax.devices(), object()]),
    "own": [told(own, *each) for each in ([one], [x, w, one], [both], [x, both], [all_of_it])],
    "laid out": [told(laid_out, *each)
                 for each in (("tpu:v5e", x), ("tpu:v5e:2x2", x), ("tpu:v2:2x2", one))],
    "named": [is_named(each.sharding) for each in (one, x)],
    "no work": [work(jax.jit(lambda v: v @ v.T), each) for each in (one, x)],
    "resharded": [notes(lambda v: v + 1, x), notes(lambda x, w: x @ w.T, one, one),
                  notes(lambda v, u: jax.lax.with_sharding_constraint(v + u, w.sharding), x, x)],
    "shared": shared(),
    "leaf": [(leaf(x).device, leaf(x).sharding), (leaf(one).device, leaf(one).sharding)],
    "converted": [each is not None for each in map(inspector.conversion, (x, one))],
    "weights": [[len(weight.devices), weight.nbytes, weight.sharding is None]
                for weight in map(inspector.weight, (x, one))],
    "exported": [exported(True, x), exported(False, x), exported(True, one),
                 exported(True, x, one)],
    "causes": judge(Changed(
        "f = jax.jit(lambda x, n: x * n)", "f(jax.device_put(x, NS(mesh, $spec)), $n)",
        {"spec": "P('d')", "n": "1"}, {"spec": "P(None, 'd')", "n": "2"}, "spec",
        "x: P('d',) → P(None, 'd') (sharding)", "RECOMPILED"), {**globals()}),
    "within a mesh": [len(within[0]), *within[1:]],
    "inner": [inner_mesh("tpu:v5e:2x2"), inner_mesh("tpu:v5e")],
}))
"""


@pytest.fixture(scope="module")
def two() -> Any:
    done = subprocess.run(
        [sys.executable, "-c", TWO], capture_output=True, text=True, check=True, timeout=300
    )
    return json.loads(done.stdout)


def test_devices_are_started_where_asked_and_told_with_what_made_them(two: Any) -> None:
    assert two["looked"] == [[], False, False]
    assert two["started"]
    assert two["virtual"] == ["2 virtual devices on one CPU (jax_num_cpu_devices)"]
    assert two["missing"] == 1


def test_arguments_on_several_devices_keep_their_mesh(two: Any) -> None:
    anew = (
        "--on: arguments on several devices need NamedShardings over the same mesh;"
        " --shard args[0]:0 shards them differently"
    )
    d = [["d", 2]]
    assert two["own"] == [
        None,
        [d, [[["d"]], [[], ["d"]], []], True, True],
        [[["a", 2], ["b", 1]], [[["a", "b"], []]], True, True],
        anew,
        [d, [[]], False, True],
    ]
    assert two["named"] == [False, True]


def test_chips_are_laid_out_as_arguments_are_where_they_are_as_many(two: Any) -> None:
    single, several, cut = two["laid out"]
    assert (single, cut) == ([["chips", 1]], [["chips", 8]])
    assert several == (
        "--on tpu:v5e:2x2: the arguments are sharded over 2 devices, and this has 4;"
        " --shard args[0]:0 shards them differently"
    )
    assert two["inner"] == [[["chips", 4]], [["chips", 1]]]
    assert two["exported"] == [2, 1, 1, 2]


def test_a_result_that_is_cut_otherwise_than_the_argument_it_looks_like_is_told(two: Any) -> None:
    same, elsewhere, (told,) = two["resharded"]
    assert same == elsewhere == []
    assert told.startswith(
        "A result with the shape of v is sharded as P(None, 'd'), and v as P('d',). Fed back as v,"
        " it causes a recompilation"
    )


def test_work_is_shared_and_what_devices_exchange_is_told_but_not_the_whole_work(two: Any) -> None:
    exchanged, text = two["shared"]
    assert exchanged == ["all-reduce"]
    assert "Per device, of 2." in text
    assert two["no work"] == [False, True]


def test_of_another_sharding_and_another_number_the_sharding_is_the_cause(two: Any) -> None:
    assert two["causes"] == []


def test_arrays_on_two_devices_are_told_and_weighed_as_a_whole(two: Any) -> None:
    (device, spec), alone = two["leaf"]
    assert device == "cpu:0,1"
    assert "'d'" in spec
    assert alone == ["cpu:0", ""]
    assert two["converted"] == [True, False]
    assert two["weights"] == [[2, 96, False], [1, 96, True]]


def test_what_is_ours_runs_on_a_device_of_its_own_while_a_mesh_is_set(two: Any) -> None:
    assert two["within a mesh"] == [1, "", True, [[1.0, 0.0], [0.0, 1.0]]]
