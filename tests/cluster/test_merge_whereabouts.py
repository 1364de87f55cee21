"""Many ranks in one tree, from what each would say; real jobs are in `test_look_on_engines`."""

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from ipyjaxbench.cluster import JobWhereabouts, RankError, locate_here, merge_whereabouts
from ipyjaxbench.cluster.look_here import RankWhereabouts
from ipyjaxbench.device import ArrayPlacement, Shard, Sharding
from ipyjaxbench.errors import OptionError

RANKS, PER_HOST, ROWS = 64, 8, 4096
Answers = list[tuple[str, Any]]


def cut(rank: int, size: int) -> Sharding:
    """Rows over ranks, as rank ``rank`` of a job of torch's sees it."""
    step = ROWS // size
    shards = tuple(
        Shard(f"cuda:{each % PER_HOST}" if each == rank else f"rank:{each}",
              ((each * step, (each + 1) * step), (0, 4)), each)
        for each in range(size)
    )  # fmt: skip
    return Sharding((ROWS, 4), shards, (("dp", size),), (("dp",), ()), rank=rank)


def say(rank: int, size: int = RANKS, extra: int = 0, arrays: int = 1) -> dict[str, Any]:
    """What a rank says of arrays cut over all ranks, and of one of its own."""
    device = f"cuda:{rank % PER_HOST}"
    share = ROWS * 16 // size
    w = [ArrayPlacement(f"w.{n}", "torch", "float32", (ROWS, 4), ROWS * 16, ())
         for n in range(arrays)]  # fmt: skip
    b = ArrayPlacement("b", "torch", "float32", (2 + extra,), 8 + 4 * extra, (device,))
    own = RankWhereabouts(
        host=f"node-{rank // PER_HOST}", pid=100 + rank, rank=rank, size=size, asked=("w", "b"),
        failures={}, homes=(), arrays=(*w, b), cuts=(*[0] * arrays, None),
        held=(*[share] * arrays, b.nbytes), devices={device: share * arrays + b.nbytes},
        shardings=(cut(rank, size),), unnamed={},
    )  # fmt: skip
    found: dict[str, Any] = msgspec.to_builtins(own)
    return found


def answers(size: int = RANKS, **facts: Any) -> Answers:
    return [(f"rank {rank}", say(rank, size, **facts)) for rank in range(size)]


def words(job: JobWhereabouts) -> str:
    return " ".join(str(job).split())


def test_the_parts_of_all_ranks_are_one_array() -> None:
    job = merge_whereabouts(answers())
    assert {each.array.name: each.is_global for each in job.arrays} == {"w.0": True, "b": False}
    sharding = job.placement(job.arrays[0]).sharding
    assert sharding is not None
    assert [shard.device for shard in sharding.shards] == [f"rank:{n}" for n in range(RANKS)]
    assert job.differing == ()
    assert job.imbalance == 1
    assert job.by_host == {f"node-{n}": PER_HOST * (1024 + 8) for n in range(8)}
    assert JobWhereabouts.from_dict(job.to_dict()) == job
    lines = str(merge_whereabouts(answers(arrays=10))).splitlines()
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 80
    assert "  rank 8-15   node-1  cuda:0-7" in "\n".join(lines)


def test_an_array_that_differs_is_named_with_the_ranks_of_each_kind() -> None:
    others = answers(8)
    others[3] = ("rank 3", say(3, 8, extra=5))
    job = merge_whereabouts(others)
    assert [each.array.name for each in job.differing] == ["b", "b"]
    assert "differs b: f32[2] in rank 0-2,4-7; f32[7] in rank 3" in words(job)
    odd = replace(cut(1, 8), mesh=(("tp", 8),), spec=(("tp",), ()))
    others[1][1]["shardings"] = [msgspec.to_builtins(odd)]  # though type and shape agree
    text = words(merge_whereabouts(others))
    assert "rows sharded over 'dp' (8) in rank 0,2-7" in text
    assert "rows sharded over 'tp' (8) in rank 1" in text


def test_an_array_that_few_or_most_ranks_have_is_told_the_short_way() -> None:
    for having, told, alike in (
        (range(1), "in rank 0 alone", "1 array has"), (range(3), "not in rank 3", "2 arrays have")
    ):  # fmt: skip
        trees = [{"x": np.ones(2)} | ({"z": np.ones(3)} if n in having else {}) for n in range(4)]
        found = [(f"rank {n}", locate_here("tree", {"tree": t})) for n, t in enumerate(trees)]
        text = words(merge_whereabouts(found))
        assert f"differs tree['z']: {told}" in text
        assert f"{alike} the same shape in each rank; values were not compared" in text


def test_a_rank_that_does_not_answer_is_named_and_its_share_is_missing() -> None:
    job = merge_whereabouts([*answers(4)[:3], ("rank 3", "did not answer within 5 s")])
    assert job.answering == (0, 1, 2)
    assert job.differing == ()
    text = words(job)
    assert "no answer rank 3 did not answer within 5 s" in text
    assert "in 3 of 4 ranks" in text


def test_without_any_answer_or_value_there_is_no_report() -> None:
    with pytest.raises(RankError, match=r"engine 0 died\. engine 1 died\."):
        merge_whereabouts([("engine 0", "died"), ("engine 1", "died")])
    nothing = [(f"engine {n}", locate_here("y", {"x": 1})) for n in range(2)]
    with pytest.raises(OptionError, match="y: name 'y' is not defined"):
        merge_whereabouts(nothing)
    found = [(f"rank {n}", locate_here("x/n n", {"x": 1, "n": n})) for n in range(2)]
    job = merge_whereabouts(found)  # what raises in one rank does not hide the others
    assert job.ranks[0].failures == {"x/n": "ZeroDivisionError: division by zero"}
    assert {each.array.name for each in job.arrays} == {"x/n", "n"}
    assert "failed x/n in rank 0: ZeroDivisionError: division by zero" in words(job)
    names = {key: [np.ones(3)] for key in ("In", "Out", "exit", "quit", "get_ipython", "_1")}
    own = locate_here("", {**names, "x": np.ones(2)})  # without what IPython adds
    assert [each["name"] for each in own["arrays"]] == ["x"]


def test_fuller_ranks_are_named_and_those_of_the_same_share_have_one_row() -> None:
    uneven = answers(4)
    uneven[2] = ("rank 2", say(2, 4, extra=4096))
    text = words(merge_whereabouts(uneven))
    assert "balance rank 2 (node-0) holds most: 32.0 KiB, 1.60× the mean" in text
    uneven = [(f"rank {rank}", say(rank, 128, extra=rank * 64)) for rank in range(128)]
    text = str(merge_whereabouts(uneven))
    assert "the 12 fullest of 16 hosts" in text
    assert "rank 120-127  node-15  cuda:0-7" in text


def test_records_that_make_no_sense_are_refused() -> None:
    job = merge_whereabouts(answers(2))
    w, b = job.arrays
    for changed, wrong in (
        (replace(w, held=(1,)), "w.0 has not one size for each rank"),
        (replace(b, ranks=(0, 9)), "b is in a rank that was not asked"),
    ):
        assert replace(job, arrays=(changed,)).check() == wrong
    assert replace(job, shardings=()).check() == "the sharding of w.0 is missing"
