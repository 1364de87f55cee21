"""TPUs' own compilers estimate a program, on a machine that has none."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench import Graph
from ipyjaxbench.adapters.jax.chips.tpus import CHIPS
from ipyjaxbench.graphs.compiled import Collective
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source

SHAPES = {
    "x": (3000, 3000), "a": (4096, 4096), "b": (4096, 4096), "y": (4096, 4096), "small": (5, 5),
    "odd": (129, 129, 129), "inputs": (20 * 1024, 1024, 1024), "huge": (60_000, 60_000),
}  # fmt: skip
NAMES = {
    "jax": jax,
    "jnp": jnp,
    **{name: jax.ShapeDtypeStruct(shape, "float32") for name, shape in SHAPES.items()},
    "turns": lambda x: jax.lax.fori_loop(0, 10, lambda _, x: jnp.tanh(x @ x), x),
    "tree": {"w": jnp.ones((4, 2)), "b": jnp.zeros(2)},
    "scaled": lambda tree, x, double: (x @ tree["w"] + tree["b"]) * (2 if double else 1),
}


def graph(code: str, *chips: str, shard: tuple[tuple[str, int], ...] = ()) -> Graph:
    return trace_program(Source.plain(code), dict(NAMES), GraphOptions(on=chips, shard=shard))


def codes(found: Graph) -> list[str]:
    return [note.code for note in found.notes]


def test_the_product_of_the_blog_post_is_estimated() -> None:
    expected = {"tpu:v5e": 474e-6, "tpu:v6e": 158e-6, "tpu:v2": 2.37e-3}
    *chips, _ = graph("jnp.dot(x, x.T)", *expected).estimates
    assert {each.chip: each.seconds for each in chips} == pytest.approx(expected, rel=0.05)
    for each in chips:
        assert each.flops == pytest.approx(54e9, rel=0.01)
        assert 72_000_000 <= each.memory < each.limit


def test_every_chip_that_is_named_has_a_compiler_also_for_several_of_it() -> None:
    together = [f"tpu:{name}:{'x'.join(map(str, chip.smallest))}" for name, chip in CHIPS.items()]
    for code, names, shard in (("jnp.tanh(x)", [f"tpu:{name}" for name in CHIPS], ()),
                               ("y * 2", together, (("y", 0),))):  # fmt: skip
        found = graph(code, *names, shard=shard).estimates
        assert [each.chip for each in found if each.seconds] == names


def test_a_program_too_large_for_a_chip_is_called_so_and_the_others_go_on() -> None:
    found = graph("huge + 1", "tpu:v5e", "tpu:v5p")
    small, large, _ = found.estimates
    assert small.seconds is None
    assert small.memory == pytest.approx(2 * 4 * 60_000**2, rel=0.01)
    assert large.seconds is not None
    assert "tpu:v5e     too large: 15.8 GiB of memory, needs 26.8 GiB" in str(found)


def test_inputs_that_do_not_fit_a_chip_may_fit_sixteen() -> None:
    one, many, _ = graph("inputs.sum()", "tpu:v5e", "tpu:v5e:4x4", shard=(("inputs", 0),)).estimates
    assert (one.seconds, one.memory) == (None, 80 * 2**30)
    assert many.seconds is not None
    assert many.memory == pytest.approx(5 * 2**30, rel=0.01)


@pytest.mark.parametrize(("name", "padding", "is_told"), [
    ("x", 3000 * 3072 - 3000 * 3000, False), ("small", 8 * 128 - 5 * 5, False),
    ("odd", 129 * (136 * 256 - 129 * 129), True),
])  # fmt: skip
def test_padding_is_that_of_tiles(name: str, padding: int, is_told: bool) -> None:
    found = graph(f"{name} + 1", "tpu:v5e")
    assert found.estimates[0].padding == 2 * padding * 4
    assert codes(found) == ["padded"] if is_told else "padded" not in codes(found)


def test_an_axis_that_is_cut_is_computed_by_parts_and_exchanged() -> None:
    # The contracted axis is cut, so that each chip has a sum of its own of the whole result.
    found = graph("a @ b", "tpu:v5e:2x2", shard=(("a", 1), ("b", 0)))
    several, _ = found.estimates
    assert several.flops == pytest.approx(2 * 4096**3 / 4, rel=0.01)
    assert several.collectives == (Collective("all-reduce", 1, 4 * 4096**2),)
    assert several.memory == pytest.approx(4 * 4096**2 * (2 / 4 + 1), rel=0.01)
    assert "communication  tpu:v5e:2x2: 1 all-reduce 64.0 MiB per device" in str(found)


def test_parts_that_belong_together_are_not_exchanged() -> None:
    several, _ = graph("a @ b", "tpu:v5e:2x2", shard=(("a", 0),)).estimates
    assert several.collectives == ()
    assert several.flops == pytest.approx(2 * 4096**3 / 4, rel=0.01)


def test_what_is_not_cut_is_computed_by_each() -> None:
    found = graph("y + 1", "tpu:v5e:2x2")
    assert found.estimates[0].flops == pytest.approx(4096**2)
    assert "nothing-cut" in codes(found)


def test_a_v4_computes_with_both_cores_and_a_v2_with_one() -> None:
    v4, v2, _ = graph("y @ y", "tpu:v4:2x2x1", "tpu:v2:2x2").estimates
    peak = 275e12  # of bfloat16, for both cores
    assert 2 * 4096**3 / peak < (v4.seconds or 0) < 2 * 2 * 4096**3 / peak
    assert v2.seconds is not None
    half = [note.text for note in graph("y @ y", "tpu:v4", "tpu:v2").notes]
    assert half == ["JAX sees a tpu:v2 chip as two devices: figures are for one of them."]


def test_a_loop_counts_once_and_that_is_told() -> None:
    found = graph("turns(x)", "tpu:v5e")
    chip, _ = found.estimates
    assert found.flops > 500e9 > 60e9 > (chip.flops or 0)
    assert "loops-once" in codes(found)


def test_what_has_no_estimate_is_left_out_of_it_and_named() -> None:
    found = graph("jnp.linalg.cholesky(jnp.zeros((256, 256)) + small[0, 0])", "tpu:v5e")
    assert 0 < (found.estimates[0].seconds or 0) < 1e-3
    (text,) = [note.text for note in found.notes if note.code == "no-estimate"]
    assert "Cholesky" in text


def test_arguments_that_lie_in_a_mesh_keep_their_places() -> None:
    code = """
import jax, jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import numpy as np
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.usercode.snippet import Source
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("d", "m"))
place = lambda *axes: NamedSharding(mesh, P(*axes))
names = {"x": jax.device_put(jnp.ones((512, 256)), place("d", "m")),
         "w": jax.device_put(jnp.ones((256, 128)), place("m")),
         "whole": jnp.ones((512, 256)),
         "f": lambda x, w: jax.lax.with_sharding_constraint(x @ w, place("d", "m"))}
def show(code, *on):
    try:
        found = trace_program(Source.plain(code), dict(names), GraphOptions(on=on)).estimates
    except Exception as error:
        print(error)
    else:
        print([(e.chip, e.error, [(c.name, c.times, c.nbytes) for c in e.collectives])
               for e in found if e.chip.startswith("tpu")])
show("x @ w", "tpu:v5e:2x2", "tpu:v5e")
show("x @ w", "tpu:v5e:2x4")
show("f(whole, w)", "tpu:v5e:2x2", "tpu:v5e")
"""
    flags = "--xla_force_host_platform_device_count=4"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "XLA_FLAGS": flags},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    kept, other, inside = done.stdout.splitlines()
    exchanged = [("all-reduce", 1, 4 * 256 * 128)]
    assert kept == str([("tpu:v5e:2x2", "", exchanged), ("tpu:v5e", "", [])])
    assert other == (
        "--on tpu:v5e:2x4: the arguments are sharded over 4 devices, and this has 8;"
        " --shard x:0 shards them differently"
    )
    refused = "the program is sharded over 4 devices, and tpu:v5e has 1; use as many chips"
    assert f"('tpu:v5e', '{refused}', [])" in inside
    assert inside.startswith("[('tpu:v5e:2x2', '', [")


def test_trees_and_static_arguments_are_compiled_too() -> None:
    found, _ = graph("scaled(tree, jnp.ones((3, 4)), True)", "tpu:v5e").estimates
    assert found.seconds


def test_nothing_is_left_behind_and_nothing_is_logged(capfd: pytest.CaptureFixture[str]) -> None:
    before, lock = dict(os.environ), Path("/tmp/libtpu_lockfile")
    was_locked = lock.exists()  # by another program
    graph("jnp.tanh(x)", "tpu:v5e")
    assert dict(os.environ) == before
    assert jax.default_backend() == "cpu"
    assert lock.exists() == was_locked
    assert capfd.readouterr() == ("", "")
