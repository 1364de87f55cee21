"""A rank whose code raises in a later call ends the measurement of all, and is named."""

from collections.abc import Callable

import pytest

from ipyjaxbench.cluster import RankError, find_engines, find_members, time_on_engines
from ipyjaxbench.timing import TimeOptions
from tests.shell import Shell


@pytest.mark.parametrize("rank", [0, 1])
def test_the_rank_is_named_and_engines_stay_usable(
    rank: int, shell_of: Callable[[str], Shell]
) -> None:
    """What raised is said of its own rank alone; a new measurement works."""
    client = shell_of("jax").names["rc"]
    client[:].push({"fails_at": 60, "failing": rank}, block=True)
    members = find_members(find_engines("all", {"rc": client}), 30)
    with pytest.raises(RankError, match=rf"^rank {rank} \(engine \d.*raised ValueError: no data"):
        time_on_engines(members, "step(x)", None, TimeOptions(number=10, repeat=20), 30)
    client[:].push({"fails_at": 0}, block=True)
    found = time_on_engines(members, "step(x)", None, TimeOptions(number=2, repeat=2), 30)
    assert len(found.ranks) == 2
