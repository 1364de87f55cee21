"""Code that does something outside of the process is known by the names that it uses."""

import io
import itertools
import logging
import queue
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from ipyjaxbench.usercode.side_effects import (
    SIDE_EFFECT_NAMES,
    has_side_effects,
    is_used_up,
    outright_names,
)


@pytest.mark.parametrize(("text", "acts"), [
    ("open('f')", True),
    ("x.write_text('a')", True),
    ("def f():\n    return lambda: time.sleep(1)", True),
    ("jnp.log(x)", False),
    ("f(x).mean()", False),
    ("'open'", False),
])  # fmt: skip
def test_a_name_of_what_acts_is_seen_also_in_functions(text: str, acts: bool) -> None:
    codes = [compile("1", "", "exec"), compile(text, "", "exec")]
    assert has_side_effects(codes) is acts
    assert has_side_effects([]) is False


class Countdown:
    """An iterator of the user's, whose attributes can be put back."""

    left = 3

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        self.left -= 1
        return self.left


class Jobs(queue.Queue[int]):
    """One of the user's, of a library's class."""


@pytest.mark.parametrize("value", [
    iter([1]), (n for n in [1]), itertools.count(), zip([1], strict=True), queue.Queue(),
    queue.SimpleQueue(), Jobs(), logging.NullHandler(), iter([1]).__next__,
    itertools.count().__next__,
])  # fmt: skip
def test_what_is_taken_from_an_iterator_or_a_queue_is_gone(value: Any) -> None:
    assert is_used_up(value)


@pytest.mark.parametrize("value", [
    [1], {}, 3, None, len, [].append, io, io.StringIO("a"), io.BytesIO(), Countdown(), object,
    logging, logging.getLogger(), logging.getLogger("user"),
    range(3),
])  # fmt: skip
def test_what_is_in_memory_can_be_put_back(value: Any) -> None:
    assert not is_used_up(value)


def test_a_weak_proxy_is_what_it_stands_for() -> None:
    kept, numbers = Countdown(), (n for n in [1])
    assert not is_used_up(weakref.proxy(kept))
    assert is_used_up(weakref.proxy(numbers))
    proxy = weakref.proxy(kept)
    del kept
    assert not is_used_up(proxy)


def test_names_of_methods_that_arrays_have_too_are_acts_only_where_it_is_said() -> None:
    assert outright_names(["open", "write", "mean", "remove"]) == {"open"}
    assert has_side_effects([compile("run.log(x)", "", "exec")], SIDE_EFFECT_NAMES)
