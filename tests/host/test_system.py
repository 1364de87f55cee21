"""Small facts that several adapters need."""

import os

import psutil
import pytest

from ipyjaxbench.host import filter_by_type, host_memory, summarize_error, usable_cpus


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_the_cpus_that_may_be_used_are_those_of_this_process() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert usable_cpus() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert usable_cpus() == len(before)


@pytest.mark.parametrize(("count", "usable"), [(8, 8), (None, 1)])
def test_where_nothing_binds_a_process_all_cpus_may_be_used(
    monkeypatch: pytest.MonkeyPatch, count: int | None, usable: int
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: count)
    assert usable_cpus() == usable


def test_the_memory_that_may_be_taken_is_a_part_of_all() -> None:
    memory = host_memory()
    assert type(memory) is int
    assert 0 < memory < psutil.virtual_memory().total


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("no\nmore of it"), "ValueError: no"),
        (KeyError(), "KeyError: "),
        (ValueError("x" * 88), "ValueError: " + "x" * 88),
        (ValueError("x" * 89), "ValueError: " + "x" * 88),
    ],
)
def test_an_error_is_one_line_of_a_hundred_characters(error: Exception, line: str) -> None:
    assert summarize_error(error) == line


class Proxy:
    """It takes itself for a number."""

    @property
    def __class__(self) -> type:  # type: ignore[override]
        return int


def test_values_are_filtered_by_their_real_type() -> None:
    assert filter_by_type([1, "a", True, Proxy(), 2.0], int, str) == [1, "a", True]
    assert filter_by_type([], int) == []
