"""Where values live in jobs of real processes, each of which looks while the other does nothing."""

import importlib.util
import json
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from ipyjaxbench.cluster import JobWhereabouts, merge_whereabouts

SECONDS = 60


class Rank:
    """A process that looks when it is told to."""

    def __init__(self, framework: str, rank: int, port: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.cluster.look_program", framework,
             *map(str, (rank, 2, port))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line)

    def answer(self, word: str) -> str:
        """The rest of the next line that begins with a word; fails after a while."""
        while True:
            line = self._lines.get(timeout=SECONDS)
            if line.startswith(word):
                return line.removeprefix(word)

    def look(self, code: str) -> dict[str, Any]:
        self.process.stdin.write(f"{code}\n")
        self.process.stdin.flush()
        found: dict[str, Any] = json.loads(self.answer("found"))
        return found

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def start(framework: str) -> Iterator[list[Rank]]:
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [Rank(framework, rank, port) for rank in range(2)]
    try:
        for rank in ranks:
            rank.answer("ready")
        yield ranks
    finally:
        for rank in ranks:
            rank.end()


@pytest.fixture(scope="module")
def in_jax() -> Iterator[list[Rank]]:
    yield from start("jax")


@pytest.fixture(scope="module")
def in_torch() -> Iterator[list[Rank]]:
    yield from start("torch")


def look(ranks: list[Rank], code: str) -> JobWhereabouts:
    """One rank after the other: a collective would wait for the one that is not asked yet."""
    found = {rank: ranks[rank].look(code) for rank in (1, 0)}
    job = merge_whereabouts([(f"rank {rank}", found[rank]) for rank in (0, 1)])
    assert JobWhereabouts.from_dict(job.to_dict()) == job
    return job


def words(job: JobWhereabouts) -> str:
    return " ".join(str(job).split())


def holders(job: JobWhereabouts) -> dict[str, dict[tuple[tuple[int, int], ...], list[str]]]:
    """By global array its parts, each with the devices that hold it."""
    placed = [job.placement(each) for each in job.arrays if each.is_global]
    return {each.name: each.sharding.regions for each in placed if each.sharding}


def held(job: JobWhereabouts) -> dict[str, tuple[int, ...]]:
    return {each.array.name: each.held for each in job.arrays}


def test_global_arrays_of_jax_are_one_over_all_ranks(in_jax: list[Rank]) -> None:
    job = look(in_jax, "rows tiles by_process by_device whole second")
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
        "whole": {((0, 8), all_): [one, two, three, four]},
        "second": {(top, all_): [three], (bottom, all_): [four]},
    }  # fmt: skip
    assert held(job) == {
        "rows": (64, 64), "tiles": (64, 64), "by_process": (128, 128), "by_device": (128, 128),
        "whole": (256, 256), "second": (0, 128),
    }  # fmt: skip
    assert job.held == (640, 768)
    assert job.ranks[1].devices == {three: 384, four: 384}
    assert job.imbalance == pytest.approx(768 / 704)


def test_arrays_of_one_process_are_one_in_each_rank(in_jax: list[Rank]) -> None:
    job = look(in_jax, "own one host uneven")
    assert not any(each.is_global for each in job.arrays)
    assert [(each.array.name, each.ranks) for each in job.arrays] == [
        ("own", (0, 1)), ("one", (0, 1)), ("host", (0, 1)), ("uneven", (0,)), ("uneven", (1,)),
    ]  # fmt: skip
    assert held(job)["own"] == (128, 128)
    text = words(job)
    assert "differs uneven: f64[4] in rank 0; f64[5] in rank 1" in text
    assert "3 arrays have the same shape in each rank; values were not compared" in text


def test_parts_are_drawn_with_rank_and_device(in_jax: list[Rank]) -> None:
    text = str(look(in_jax, "tiles by_process by_device"))
    assert "rows 4-7 │ rank:1 cpu:2048 │ rank:1 cpu:2049 │" in text
    assert "rows 4-7 │ rank:1 │" in text
    assert "rank:0,1 cpu:1,2049" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_what_one_rank_lacks_is_told(framework: str, request: pytest.FixtureRequest) -> None:
    ranks = request.getfixturevalue(f"in_{framework}")
    job = look(ranks, "host lone")
    assert job.ranks[0].failures == {}
    assert job.ranks[1].failures["lone"].startswith("name 'lone' is not defined.")
    assert job.differing == ()
    assert "failed lone in rank 1: name 'lone' is not defined." in words(job)
    job = look(ranks, "")
    assert {each.array.name for each in job.differing} == {"lone", "uneven"}
    assert "differs lone: not in rank 1" in words(job)


def test_dtensors_are_one_over_all_ranks(in_torch: list[Rank]) -> None:
    job = look(in_torch, "rows columns whole partial")
    assert job.differing == ()
    first, second = "rank:0", "rank:1"
    assert holders(job) == {
        "rows": {((0, 4), (0, 3)): [first], ((4, 8), (0, 3)): [second]},
        "columns": {((0, 8), (0, 2)): [first], ((0, 8), (2, 3)): [second]},
        "whole": {((0, 8), (0, 3)): [first, second]},
        "partial": {((0, 4),): [first, second]},
    }
    assert held(job) == {
        "rows": (48, 48), "columns": (64, 32), "whole": (96, 96), "partial": (16, 16),
    }  # fmt: skip
    assert "partial sum over 'dp' (2)" in str(job)


def test_parameters_of_fsdp_and_its_optimizer_are_one_over_all_ranks(in_torch: list[Rank]) -> None:
    job = look(in_torch, "model optimizer")
    assert job.differing == ()
    arrays = {each.array.name: each for each in job.arrays}
    assert arrays["model.0.weight"].is_global
    assert holders(job)["model.0.weight"] == {
        ((0, 4), (0, 5)): ["rank:0"], ((4, 7), (0, 5)): ["rank:1"],
    }  # fmt: skip
    moment = arrays["optimizer.state.0.exp_avg"]
    assert (moment.is_global, moment.held) == (True, (80, 60))
    assert not arrays["optimizer.state.0.step"].is_global  # each rank counts its steps
    # Two moments as large as the parameters, and four counters; the parameters count once.
    first, second = (4 * 5 + 4 + 2 * 7 + 2), (3 * 5 + 3 + 7 + 1)
    assert job.held == (3 * 4 * first + 16, 3 * 4 * second + 16)
    assert job.imbalance == pytest.approx(496 / 412)


def test_tensors_of_one_process_are_one_in_each_rank(in_torch: list[Rank]) -> None:
    job = look(in_torch, "plain host uneven")
    assert [(each.array.name, each.is_global, each.ranks) for each in job.arrays] == [
        ("plain", False, (0, 1)), ("host", False, (0, 1)),
        ("uneven", False, (0,)), ("uneven", False, (1,)),
    ]  # fmt: skip


def test_one_rank_alone_tells_what_the_others_hold_as_far_as_it_knows(in_jax: list[Rank]) -> None:
    job = merge_whereabouts([("rank 1", in_jax[1].look("rows"))])
    assert job.size == 2
    assert job.held == (64,)
    text = str(job)
    assert "64 B in 1 of 2 ranks on 1 host" in text
    assert "rows 0-1 │  rank:0 cpu:0   │" in text
