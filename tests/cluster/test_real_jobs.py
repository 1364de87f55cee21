"""Jobs of real processes on this machine: `jax.distributed` and torch.distributed, over gloo."""

import pytest

from tests.cluster.real_job import run_job

FRAMEWORKS = ("jax", "torch")
_MATRIX = 4 * 96 * 96  # bytes
#: Kind, times per call and bytes of each; whether all ranks take part in one after the other.
EXCHANGED = {
    "jax": [["all-gather", 1, _MATRIX, True], ["all-reduce", 1, 4, True]],
    "torch": [["all-reduce", 1, _MATRIX, True]],
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_rank_that_others_wait_for_is_named(framework: str) -> None:
    for found in run_job("rank_program", framework, "slow"):
        assert found["slowest"] == 1
        assert 0.02 < found["waits"][0] < 0.1  # on a busy machine rank 0 itself takes a part of it
        assert found["waits"][1] == 0
        assert found["calls"][0] == found["calls"][1] > 0
        assert min(found["medians"]) > 0.05
        assert found["exchanged"] == EXCHANGED[framework]
        assert "slowest    rank 1" in found["report"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_other_code_in_a_rank_is_refused_before_it_hangs(framework: str) -> None:
    first, second = run_job("rank_program", framework, "differs", size=3)
    assert first["error"].startswith("rank 1 has other code than rank 0: 'step(x) if 1 else 2'")
    assert len(second["medians"]) == 3


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_is_being_profiled_makes_the_same_calls_all_the_same(
    framework: str, rank: int
) -> None:
    first, second = run_job("rank_program", framework, f"profiled {rank}")
    assert first["waits"] == []
    assert f"slowest ? rank {rank}: another profiler is already running" in " ".join(
        first["report"].split()
    )
    assert len(second["waits"]) == 2
