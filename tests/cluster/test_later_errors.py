"""A rank whose code raises in a later call ends the measurement of all, and is named."""

import pytest

from ipyjaxbench.cluster import RankError, find_engines, find_members, time_on_engines
from ipyjaxbench.timing import TimeOptions
from tests.cluster.engines import engines

_COUNTING = """
import itertools
import jax.numpy as jnp
calls = itertools.count()
def step(x):
    if next(calls) == 60 and rank == {rank}:
        raise ValueError("the hundredth batch is empty")
    return x + 1
x = jnp.ones(4)
"""


@pytest.mark.parametrize("rank", [0, 1])
def test_the_rank_is_named_and_engines_stay_usable(rank):
    """What raised is said of its own rank alone; a new measurement works."""
    with engines("jax") as client:
        client[:].execute(_COUNTING.format(rank=rank), block=True)
        members = find_members(find_engines("all", {"rc": client}), 30)
        with pytest.raises(RankError, match=rf"^rank {rank} \(engine \d.*raised ValueError: the h"):
            time_on_engines(members, "step(x)", None, TimeOptions(number=10, repeat=20), 30)
        found = time_on_engines(members, "step(x)", None, TimeOptions(number=2, repeat=2), 30)
        assert len(found.ranks) == 2
