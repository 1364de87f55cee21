"""Where values live in real jobs, whose ranks look one after the other: none waits for another."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from ipyjaxbench.cluster import JobWhereabouts, merge_whereabouts

#: By framework: arrays of all kinds as ``looked``; of JAX's devices, two of each rank hold them.
_VALUES = {
    "jax": """
import jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
own = jax.local_devices()[:2]
used = jax.devices()[:4]
line, square = Mesh(np.array(used), ("d",)), Mesh(np.array(used).reshape(2, 2), ("data", "model"))
here, second = Mesh(np.array(own), ("own",)), Mesh(np.array(used[2:]), ("d",))
def cut(mesh, *spec):
    whole = np.arange(32, dtype=np.float32).reshape(8, 4)
    return jax.make_array_from_callback(
        whole.shape, NamedSharding(mesh, P(*spec)), whole.__getitem__, dtype=whole.dtype
    )
looked = {
    "rows": cut(line, "d"),
    "tiles": cut(square, "data", "model"),
    "by_process": cut(square, "data"),
    "by_device": cut(square, None, "model"),
    "second": cut(second, "d"),
    "own": cut(here, "own"),
    "one": jnp.ones((3, 3)),
}
""",
    "torch": """
import numpy as np, torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
mesh = init_device_mesh("cpu", (size,), mesh_dim_names=("dp",))
whole = torch.arange(24.0).reshape(8, 3)
looked = {
    "rows": distribute_tensor(torch.ones(7, 5), mesh, [Shard(0)]),
    "columns": distribute_tensor(whole, mesh, [Shard(1)]),
    "whole": distribute_tensor(whole, mesh, [Replicate()]),
    "partial": DTensor.from_local(torch.ones(4), mesh, [Partial()]),
    "plain": torch.ones(3, 4),
}
""",
}
_MORE = """
looked |= {"host": np.ones(5), "uneven": np.ones(4 + rank)}
if rank == 0:
    looked["lone"] = looked["host"]
"""
Look = Callable[[str, str], JobWhereabouts]


def find(code: str) -> dict[str, Any]:
    """What one rank says; it runs there."""
    import __main__
    from ipyjaxbench.cluster import locate_here

    return locate_here(code, __main__.looked)


@pytest.fixture(scope="module")
def look(started: Callable[[str], Any]) -> Look:
    """Asks one rank after the other: a collective would wait for the one that is not asked yet."""

    @cache
    def made(framework: str) -> Any:
        client = started(framework)
        client[:].execute(_VALUES[framework] + _MORE, block=False).get(60)
        return client

    def ask(framework: str, code: str) -> JobWhereabouts:
        found = {rank: made(framework)[rank].apply_async(find, code).get(60) for rank in (1, 0)}
        job = merge_whereabouts([(f"rank {rank}", found[rank]) for rank in (0, 1)])
        assert JobWhereabouts.from_dict(job.to_dict()) == job
        alone = merge_whereabouts([("rank 1", found[1])])  # tells of the others what it knows
        assert (alone.size, len(alone.held)) == (2, 1)
        return job

    return ask


def holders(job: JobWhereabouts) -> dict[str, dict[tuple[tuple[int, int], ...], list[str]]]:
    """By global array its parts, each with the devices that hold it."""
    placed = [job.placement(each) for each in job.arrays if each.is_global]
    return {each.name: each.sharding.regions for each in placed if each.sharding}


def held(job: JobWhereabouts) -> dict[str, tuple[int, ...]]:
    return {each.array.name: each.held for each in job.arrays}


def test_global_arrays_of_jax_are_one_over_all_ranks(look: Look) -> None:
    job = look("jax", "rows tiles by_process by_device second")
    assert job.differing == ()
    assert all(each.is_global for each in job.arrays)
    one, two, three, four = "cpu:0", "cpu:1", "cpu:2048", "cpu:2049"
    top, bottom, left, right, all_ = (0, 4), (4, 8), (0, 2), (2, 4), (0, 4)
    assert holders(job) == {
        "rows": {((2 * n, 2 * n + 2), all_): [d] for n, d in enumerate((one, two, three, four))},
        "tiles": {(top, left): [one], (top, right): [two],
                  (bottom, left): [three], (bottom, right): [four]},
        "by_process": {(top, all_): [one, two], (bottom, all_): [three, four]},
        "by_device": {((0, 8), left): [one, three], ((0, 8), right): [two, four]},
        "second": {(top, all_): [three], (bottom, all_): [four]},
    }  # fmt: skip
    assert held(job) == {
        "rows": (64, 64), "tiles": (64, 64), "by_process": (128, 128), "by_device": (128, 128),
        "second": (0, 128),
    }  # fmt: skip
    assert job.held == (384, 512)
    assert job.ranks[1].devices == {three: 256, four: 256}
    assert job.imbalance == pytest.approx(512 / 448)
    text = str(job)  # parts are drawn with rank and device
    assert "rows 4-7 │ rank:1 cpu:2048 │ rank:1 cpu:2049 │" in text
    assert "rows 4-7 │ rank:1 │" in text
    assert "rank:0,1 cpu:1,2049" in text
    assert max(map(len, text.splitlines())) <= 80


def test_arrays_of_one_process_are_one_in_each_rank(look: Look) -> None:
    job = look("jax", "own one host uneven")
    assert [(each.array.name, each.is_global, each.ranks) for each in job.arrays] == [
        ("own", False, (0, 1)), ("one", False, (0, 1)), ("host", False, (0, 1)),
        ("uneven", False, (0,)), ("uneven", False, (1,)),
    ]  # fmt: skip
    assert held(job)["own"] == (128, 128)
    [plain] = look("torch", "plain").arrays
    assert (plain.array.name, plain.is_global, plain.ranks) == ("plain", False, (0, 1))
    for framework in _VALUES:  # what one rank lacks is told
        job = look(framework, "host lone")
        assert job.ranks[0].failures == {}
        assert job.ranks[1].failures["lone"].startswith("name 'lone' is not defined.")
        assert job.differing == ()
        every = look(framework, "")
        assert {each.array.name for each in every.differing} == {"lone", "uneven"}
        assert "differs lone: not in rank 1" in " ".join(str(every).split())


def test_dtensors_are_one_over_all_ranks(look: Look) -> None:
    job = look("torch", "rows columns whole partial")
    assert job.differing == ()
    first, second = "rank:0", "rank:1"
    assert holders(job) == {
        "rows": {((0, 4), (0, 5)): [first], ((4, 7), (0, 5)): [second]},
        "columns": {((0, 8), (0, 2)): [first], ((0, 8), (2, 3)): [second]},
        "whole": {((0, 8), (0, 3)): [first, second]},
        "partial": {((0, 4),): [first, second]},
    }
    assert held(job) == {
        "rows": (80, 60), "columns": (64, 32), "whole": (96, 96), "partial": (16, 16),
    }  # fmt: skip
    assert "partial sum over 'dp' (2)" in str(job)
