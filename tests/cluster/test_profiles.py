"""What profiled calls of a real job tell: who is waited for, and what is exchanged."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.cluster.lockstep import _count_profiled
from tests.cluster.typed import Shells, executed, shown
from tests.results import headline

_MATRIX = 4 * 96 * 96  # bytes
#: Kind, times per call and bytes of each; whether all ranks take part in one after the other.
EXCHANGED = {
    "jax": [("all-gather", 1, _MATRIX, True), ("all-reduce", 1, 4, True)],
    "torch": [("all-reduce", 1, _MATRIX, True)],
}
#: How a user starts and stops the framework's profiler.
PROFILER = {
    "jax": (
        "import jax.profiler, tempfile; own = tempfile.mkdtemp(); jax.profiler.start_trace(own)",
        "jax.profiler.stop_trace(); __import__('shutil').rmtree(own)",
    ),
    "torch": ("import torch.profiler; own = torch.profiler.profile(); own.start()", "own.stop()"),
}
_SHARD_MAP = """
import jax.numpy as jnp
mapped = jax.jit(jax.shard_map(
    lambda a: jax.lax.psum(a @ a.T, "d"),
    mesh=rows.mesh, in_specs=PartitionSpec("d"), out_specs=PartitionSpec(),
))
"""
#: Rank 1 begins when rank 0 has, and later by more than this one takes to reach the collective.
_LAST = """
own, numbers = step, itertools.count(1)
def step(x):
    number = str(next(numbers))
    if rank == 0:
        begun.write_text(number)
    else:
        while begun.read_text() != number:
            time.sleep(0.001)
        time.sleep(0.05)
    return own(x)
"""


@pytest.mark.parametrize("kind", EXCHANGED)
def test_the_rank_that_others_wait_for_is_named(
    kind: str, shell_of: Shells, tmp_path: Path
) -> None:
    shell = shell_of(kind)
    begun = tmp_path / "begun"
    begun.touch()
    shell.names["rc"][:].push({"begun": begun}, block=True)
    shell.names["rc"][:].execute(_LAST, block=True)
    shell.run("%fwtime --engines all --quick -v found step(x)")
    found = shell.names["found"]
    assert found.slowest == 1
    assert found.waits[0] > found.waits[1] == 0
    assert min(each.measurement.median for each in found.ranks) > 0.05  # they wait for rank 1
    exchanged = [(e.kind, e.count, e.nbytes, e.alone) for e in found.ranks[1].exchanged]
    assert exchanged == EXCHANGED[kind]
    assert "slowest rank 1" in shown(shell)


@pytest.mark.parametrize(("kind", "rank"), [("jax", 0), ("torch", 1)])
def test_a_rank_that_is_being_profiled_makes_the_same_calls_all_the_same(
    kind: str, rank: int, shell_of: Shells
) -> None:
    shell = shell_of(kind)
    with executed(shell.names["rc"][rank], *PROFILER[kind]):
        shell.run("%fwtime --engines all -b 0.05 -v found step(x)")
    assert shell.names["found"].waits == ()
    assert f"slowest ? rank {rank}: another profiler is already running" in shown(shell)
    shell.run("%fwtime --engines all -b 0.05 -v found step(x)")
    assert len(shell.names["found"].waits) == 2


def test_a_collective_with_the_name_of_the_users_call_is_one(shell_of: Shells) -> None:
    """In ranks that have other numbers of devices, which is said."""
    shell = shell_of("jax")
    client = shell.names["rc"]
    if not client[0].apply_sync(lambda: hasattr(__import__("jax"), "shard_map")):
        pytest.skip("this version of JAX has no jax.shard_map")
    client[:].execute(_SHARD_MAP, block=True)
    shell.run("%fwtime --engines all -b 0.05 -v found mapped(x)")
    assert len(shell.names["found"].waits) == 2
    assert "exchanged 1 all-reduce" in shown(shell)
    assert "devices differ: 2 in rank 0, 4 in rank 1" in shown(shell)
    shell.run("%fwdevices --engines all x")
    assert "rows sharded over 'd' (6)" in shown(shell)


def test_where_waits_are_not_known_it_is_said_why(shell_of: Shells) -> None:
    shell = shell_of("torch")
    client = shell.names["rc"]
    shell.run("%fwtime --engines all -n 3 -r 2 step(x)")
    client[:].execute("number = next(calls)", block=True)
    assert client[:].pull("number", block=True) == [7, 7]  # three times two calls, and this one
    assert "slowest ? with -n no further calls are made to find out" in shown(shell)
    shell.run("%fwtime --engines all -c -b 0.05 -v found step(x)")
    found = shell.names["found"]
    assert (found.waits, found.slowest, found.lost, found.scores) == ((), None, None, ())
    assert headline(found).detail.startswith("CPU time, ")
    assert headline(found).detail.endswith(" per call, the slowest of 2 ranks")
    assert "slowest ? CPU time does not show what a rank waits for" in shown(shell)


@pytest.mark.parametrize(
    ("per_call", "budget", "number"),
    [(0, 2.0, 50), (10**6, 2.0, 50), (10**7, 2.0, 25), (5 * 10**7, 2.0, 20), (2 * 10**8, 2.0, 10),
     (4 * 10**8, 0.3, 3), (10**10, 2.0, 3)],
)  # fmt: skip
def test_few_calls_are_profiled_where_each_takes_long(
    per_call: int, budget: float, number: int
) -> None:
    samples, options = SimpleNamespace(per_call=per_call), SimpleNamespace(seconds=budget)
    steady: Any = SimpleNamespace(samples=samples, options=options)
    assert _count_profiled(steady) == number
